/**
 * Tokens of administration, for scripts and back ends. Each is read from the database with each request, so that a
 * revocation holds at once and everywhere.
 */

import { randomUUID } from 'node:crypto'
import type { GatheredEvents } from '../../domain/foundation/events/gathered-events.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../domain/foundation/events/page.ts'
import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import type { TellOperator } from '../../domain/messages/outbox/operator-notices.ts'
import { readBearerToken } from '../../domain/sessions/core/authentication.ts'
import type { Clock } from '../../platform/clock.ts'
import { parseDuration } from '../../platform/duration.ts'
import {
  createAddressMatcher,
  isAddressWithin,
  parseAddressRange,
} from '../../platform/http/address-ranges.ts'
import { AppError } from '../../texts/errors.ts'
import { type AdminCaller, type Scope, scopesOf, type TokenCaller } from '../access/access.ts'
import type { StoredToken, TokenStore } from './store.ts'
import { createToken, hashOfApiToken, isToken } from './token.ts'

interface TokenWish {
  name: string
  scopes: readonly Scope[]
  /** A duration, `90d`, of a year at most. */
  expiresIn: string
  /** Addresses and ranges from which it is taken; absent: those of the token that makes it, else all. */
  addresses?: readonly string[] | null | undefined
}

interface Needs {
  limits: LimitService
  events: GatheredEvents
  clock: Clock
  tellOperator: TellOperator
  stores: { administrationTokens: TokenStore }
}

const LONGEST_MS = 365 * 86_400_000
const SHORTEST_MS = 60_000
/** A use is written down once in a minute. */
const USE_MS = 60_000

export type TokenService = ReturnType<typeof createTokenService>

export function createTokenService({ limits, events, clock, stores, tellOperator }: Needs) {
  const store = stores.administrationTokens

  /** It returns null where it may be used now, from there. */
  function refusalOf(token: StoredToken | null, address: string): AppError | null {
    if (token === null || token.revokedAt !== null) return new AppError('invalid_token')
    if (token.expiresAt <= clock.now()) return new AppError('token_expired')
    if (token.addresses.length === 0 || createAddressMatcher(token.addresses)(address)) return null
    return new AppError('invalid_token', { cause: 'address' })
  }

  async function get(id: string): Promise<StoredToken> {
    const found = isUuid(id) ? await store.find(id) : null
    if (found === null || found.revokedAt !== null) throw new AppError('token_not_found')
    return found
  }

  return {
    /** Reads an Authorization header. Too many refused tokens are refused without a look. */
    async authenticate(
      authorization: string,
      { address, addressBucket }: { address: string; addressBucket: string },
    ): Promise<TokenCaller> {
      const typed = readBearerToken(authorization)
      const token = typed !== null && isToken(typed) ? await store.findByHash(hashOfApiToken(typed)) : null
      const refusal = refusalOf(token, address)
      if (refusal !== null || token === null) {
        events.addRefusedToken(token && { id: token.uuid, name: token.name })
        await limits.charge(limits.counters.refusedTokens(addressBucket))
        throw refusal ?? new AppError('invalid_token')
      }
      const now = clock.now()
      const { uuid, name, scopes, addresses, expiresAt, lastUsedAt } = token
      if (now.getTime() - (lastUsedAt?.getTime() ?? 0) > USE_MS) await store.noteUse(uuid, now)
      return { type: 'token', id: uuid, name, scopes, addresses, expiresAt }
    },
    /**
     * The only time that the token is shown. `id`: the uuid that it is to have. A token makes none that is more than
     * itself.
     */
    async create(
      caller: AdminCaller,
      wish: TokenWish,
      id: string = randomUUID(),
    ): Promise<{ token: string; stored: StoredToken }> {
      if (caller.type === 'nobody') throw new AppError('insufficient_scope')
      const now = clock.now()
      const wanted = readWish(wish, caller, now)
      requirePart(caller, wanted)
      const token = createToken()
      const added = {
        ...wanted,
        uuid: id,
        hash: hashOfApiToken(token),
        createdAt: now,
        creator: { type: caller.type, id: caller.id, name: caller.name },
      }
      if (!(await store.add(added))) throw new AppError('invalid_token', { cause: 'revoked' })
      tellOperator('operator_access_granted')
      return { token, stored: await get(id) }
    },
    get,
    async list(query: PageQuery): Promise<Page<StoredToken>> {
      const { limit, after } = readPage(query)
      return toPage(await store.list(after, limit + 1), limit, (row) => row)
    },
    /** The things that were made with it are revoked too. A token revokes none that may more than itself. */
    async revoke(id: string, caller?: AdminCaller): Promise<void> {
      if (caller?.type === 'token') {
        const { scopes } = await get(id)
        const held = scopesOf(caller)
        if (!scopes.every((scope) => held.includes(scope))) throw new AppError('insufficient_scope')
      }
      if (!isUuid(id) || !(await store.revoke(id, clock.now()))) throw new AppError('token_not_found')
    },
  }
}

function readWish({ name, scopes, expiresIn, addresses }: TokenWish, caller: AdminCaller, now: Date) {
  const lifetimeMs = parseDuration(expiresIn)
  const ranges = (addresses ?? (caller.type === 'token' ? caller.addresses : [])).map(parseAddressRange)
  const wrong = [
    ...(name.trim() === '' ? ['name'] : []),
    ...(scopes.length === 0 ? ['scopes'] : []),
    ...(lifetimeMs === null || lifetimeMs < SHORTEST_MS || lifetimeMs > LONGEST_MS ? ['expires_in'] : []),
    ...(ranges.includes(null) ? ['addresses'] : []),
  ]
  if (wrong.length > 0)
    throw new AppError('validation_failed', {
      fields: wrong.map((field) => ({ field, code: 'invalid_value' as const })),
    })
  return {
    name: name.trim(),
    scopes: [...new Set(scopes)],
    addresses: [...new Set(ranges.filter((range) => range !== null))],
    expiresAt: new Date(now.getTime() + (lifetimeMs ?? 0)),
  }
}

/** A token makes only what reaches no further, comes from nowhere else and lives no longer than itself. */
function requirePart(
  caller: AdminCaller,
  { scopes, addresses, expiresAt }: ReturnType<typeof readWish>,
): void {
  const held = scopesOf(caller)
  const reachesNoFurther = scopes.every((scope) => held.includes(scope))
  const livesNoLonger = caller.type !== 'token' || expiresAt <= caller.expiresAt
  const comesFromThere =
    caller.type !== 'token' ||
    caller.addresses.length === 0 ||
    (addresses.length > 0 &&
      addresses.every((inner) => caller.addresses.some((outer) => isAddressWithin(inner, outer))))
  if (!reachesNoFurther || !livesNoLonger || !comesFromThere) throw new AppError('insufficient_scope')
}
