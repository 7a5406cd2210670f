/** Reads a query for accounts: the search by what was typed, and the filter beside it. */

import type { Roles } from '../../domain/accounts/core/roles.ts'
import { parseEmail } from '../../domain/foundation/identifiers/email.ts'
import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import { parsePhone, parsePhonePrefix, toPlain } from '../../domain/foundation/identifiers/phone.ts'
import { invalid, parseWholeNumber, readOneOf, readTime } from '../../platform/http/read-values.ts'
import type { AccountQuery } from './directory-schema.ts'
import type { AccountFilter, AccountSearch } from './store.ts'

type DefaultCountry = Parameters<typeof parsePhone>[1]

/** `among`: the uuids of the only accounts that are listed; null: all may be. */
export function readSearch(
  { query, ...typed }: AccountQuery,
  among: string[] | null,
  defaultCountry: DefaultCountry,
  roles: Pick<Roles, 'read'>,
): { searches: AccountSearch[]; filter: AccountFilter } {
  const filter = readFilter(typed, among, roles)
  const text = query?.trim() ?? ''
  return { searches: text === '' ? [listOf(filter)] : searchesFor(text, defaultCountry), filter }
}

/** The index that a list without a query is read by. */
function listOf({ among, locked, roleId, createdAfter, createdBefore }: AccountFilter): AccountSearch {
  if (among !== null) return { by: 'among' }
  if (roleId !== null) return { by: 'role', value: roleId }
  if (locked) return { by: 'locked' }
  return createdAfter || createdBefore ? { by: 'creation' } : { by: 'all' }
}

/** The next one is tried where the one before finds nothing: what looks complete may be the beginning of more. */
function searchesFor(typed: string, defaultCountry: DefaultCountry): AccountSearch[] {
  if (isUuid(typed)) return [{ by: 'uuid', value: typed }]
  const id = parseWholeNumber(typed)
  if (typed.length < 3) {
    if (id === null) throw invalid('query')
    return [{ by: 'id', value: id }]
  }
  const email = parseEmail(typed)
  const phone = parsePhone(typed, defaultCountry)
  const phonePrefix = parsePhonePrefix(typed, defaultCountry)
  const uuidPrefix = /^[0-9a-f-]{3,36}$/i.test(typed) ? typed : null
  const plain = toPlain(typed)
  const digits = /^\+?\d+$/.test(plain) ? plain : typed
  return [
    ...(email ? [{ by: 'email', value: email.key } as const] : []),
    ...(phone ? [{ by: 'phone', value: phone.key } as const] : []),
    // Four digits are more often the end of a phone number than an id.
    ...(id !== null && typed.length < 4 ? [{ by: 'id', value: id } as const] : []),
    ...(phonePrefix ? [{ by: 'part', part: phonePrefix, id, uuidPrefix } as const] : []),
    { by: 'part', part: (digits.length < 3 ? typed : digits).toLowerCase(), id, uuidPrefix },
  ]
}

function readFilter(query: AccountQuery, among: string[] | null, roles: Pick<Roles, 'read'>): AccountFilter {
  const flag = (field: 'locked' | 'confirmed') => {
    const text = readOneOf(field, query[field], ['true', 'false'])
    return text === undefined ? null : text === 'true'
  }
  return {
    among: among && JSON.stringify(among),
    locked: flag('locked'),
    confirmed: flag('confirmed'),
    roleId: query.role_id === undefined ? null : roles.read('role_id', query.role_id),
    createdAfter: readTime('created_after', query.created_after) ?? null,
    createdBefore: readTime('created_before', query.created_before) ?? null,
  }
}
