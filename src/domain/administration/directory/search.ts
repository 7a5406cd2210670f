/** What a query for accounts means: the search by what was typed, and the filter beside it. */

import { invalid, parseWholeNumber, readTime } from '../../../platform/http/read-values.ts'
import type { Roles } from '../../accounts/accounts/roles.ts'
import type { PageQuery } from '../../foundation/events/page.ts'
import { parseEmail } from '../../foundation/identifiers/email.ts'
import { parsePhone, parsePhonePrefix } from '../../foundation/identifiers/phone.ts'
import { isUuid } from '../../foundation/identifiers/uuid.ts'
import type { AccountFilter, AccountSearch } from './store.ts'

export interface AccountQuery extends PageQuery {
  /** An e-mail address, a phone number in any spelling, a uuid, an id, or at least three characters to begin with. */
  query?: string | undefined
  locked?: string | undefined
  confirmed?: string | undefined
  role_id?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}

type DefaultCountry = Parameters<typeof parsePhone>[1]

export function readSearch(
  { query, ...typed }: AccountQuery,
  defaultCountry: DefaultCountry,
  roles: Pick<Roles, 'read'>,
): { search: AccountSearch; filter: AccountFilter } {
  const filter = readFilter(typed, roles)
  return { search: searchOf(query, filter, defaultCountry), filter }
}

/** The index that a list without a query is read by. */
function listOf({ locked, roleId, createdAfter, createdBefore }: AccountFilter): AccountSearch {
  if (roleId !== undefined) return { by: 'role', roleId }
  if (locked) return { by: 'locked' }
  return createdAfter || createdBefore ? { by: 'creation' } : { by: 'all' }
}

function searchOf(
  query: string | undefined,
  filter: AccountFilter,
  defaultCountry: DefaultCountry,
): AccountSearch {
  if (query === undefined || query.trim() === '') return listOf(filter)
  const typed = query.trim()
  const email = parseEmail(typed)
  if (email) return { by: 'email', key: email.key }
  const phone = parsePhone(typed, defaultCountry)
  if (phone) return { by: 'phone', key: phone.key }
  if (isUuid(typed)) return { by: 'uuid', uuid: typed }
  const phonePrefix = parsePhonePrefix(typed, defaultCountry)
  if (phonePrefix !== null) return { by: 'prefix', prefix: phonePrefix }
  const id = parseWholeNumber(typed)
  if (id !== null) return { by: 'id', id }
  if (typed.length < 3) throw invalid('query')
  return { by: 'prefix', prefix: typed.toLowerCase() }
}

function readFilter(query: Omit<AccountQuery, 'query'>, roles: Pick<Roles, 'read'>): AccountFilter {
  const flag = (field: 'locked' | 'confirmed') => {
    const text = query[field]
    if (text !== undefined && text !== 'true' && text !== 'false') throw invalid(field)
    return text === undefined ? undefined : text === 'true'
  }
  const roleId = query.role_id === undefined ? undefined : roles.read('role_id', query.role_id)
  return {
    locked: flag('locked'),
    confirmed: flag('confirmed'),
    roleId,
    createdAfter: readTime('created_after', query.created_after),
    createdBefore: readTime('created_before', query.created_before),
  }
}
