/**
 * Which access tokens are refused though they have not expired: read from the log of events by those who verify tokens
 * themselves. An entry lives as long as a token that was signed just before its event, and a minute more.
 */
import type { EventTail } from '../../domain/foundation/events/event-tail.ts'
import type { EventStore, StoredEvent } from '../../domain/foundation/events/store.ts'
import type { Ground } from '../../platform/ground.ts'
import { readNumber } from '../../platform/http/read-values.ts'
import { createPlaces } from '../../platform/waiting.ts'
import type { EventType } from '../../texts/event-types.ts'
import { requireAccess, type TokenCaller } from '../access/access.ts'

/** One of the first three; `before` beside `account`, or alone: only tokens that were issued before that second. */
export interface EndedTokens {
  session?: string
  account?: string
  key?: string
  before?: number
  /** In seconds since 1970, like `before`. */
  until: number
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  eventTail: EventTail
  administrationTokens: {
    authenticate(authorization: string, client: Client): Promise<TokenCaller>
  }
  stores: { events: Pick<EventStore, 'lastId'> }
}

interface Client {
  address: string
  addressBucket: string
}

interface EndedQuery {
  after?: string | undefined
  wait?: string | undefined
}

/** Beyond the life of a token: clocks differ, and an answer takes a while. */
const LEEWAY_SECONDS = 60
const LIMIT = 1000
const LONGEST_WAIT_SECONDS = 25
/** The most calls with one token that wait at the same time: each holds a connection. */
const MAXIMUM_FOLLOWERS = 16
/** It is mounted on the public listener, so the table of administration does not have it. */
const ROUTE = { method: 'GET', path: '/api/v1/auth/sessions/ended', access: 'sessions:watch' } as const
const TYPES: EventType[] = [
  'session.ended',
  'account.erased',
  'account.updated',
  'backup.restored',
  'key.revoked',
]

export type EndedTokensFeed = ReturnType<typeof createEndedTokensFeed>

export function createEndedTokensFeed({ eventTail, administrationTokens, clock, config, stores }: Needs) {
  const livesSeconds = config.tokens.accessLifetimeSeconds + LEEWAY_SECONDS
  const followers = createPlaces(MAXIMUM_FOLLOWERS)

  async function recognize(authorization: string | undefined, client: Client): Promise<TokenCaller> {
    const caller = await administrationTokens.authenticate(authorization ?? '', client)
    requireAccess(caller, ROUTE, null)
    return caller
  }

  function entryOf({ type, account, sessionId, data, createdAt }: StoredEvent): EndedTokens | null {
    const until = secondsOf(createdAt) + livesSeconds
    if (type === 'session.ended') return sessionId === null ? null : { session: sessionId, until }
    if (type === 'account.erased') return account === null ? null : { account, until }
    if (type === 'key.revoked') return data.kid === undefined ? null : { key: data.kid, until }
    if (type === 'backup.restored') return { before: secondsOf(createdAt), until }
    if (data.tokens_before === undefined || account === null) return null
    return { account, before: secondsOf(new Date(data.tokens_before)), until }
  }

  /** A position of another log, or none: everything that lives is told again. */
  async function positionOf(after: string | undefined): Promise<number> {
    const id = /^\d{1,15}$/.test(after ?? '') ? Number(after) : 0
    return id <= (await stores.events.lastId()) ? id : 0
  }

  async function read(position: number, seconds: number, signal: AbortSignal | undefined) {
    const since = new Date(clock.now().getTime() - livesSeconds * 1000)
    const settled = await eventTail.settledId()
    const found = await eventTail.follow({ types: TYPES, since }, position, LIMIT, { seconds, signal })
    const ended = found.map(entryOf).filter((entry) => entry !== null)
    const last = found.at(-1)?.id ?? position
    // A full page may have more behind it that is settled.
    return { ended, cursor: found.length === LIMIT ? last : Math.max(last, settled) }
  }

  /** Changes of accounts that end no token are passed over, as long as there is time. */
  async function follow(position: number, seconds: number, signal: AbortSignal | undefined) {
    const endsAtMs = performance.now() + seconds * 1000
    for (let at = position; ; ) {
      const { ended, cursor } = await read(at, left(endsAtMs), signal)
      if (ended.length > 0 || left(endsAtMs) === 0 || signal?.aborted) return { ended, cursor }
      at = cursor
    }
  }

  return {
    /** Oldest first, at most a thousand. `cursor`: from where the next call goes on. */
    async list(
      { after, wait }: EndedQuery,
      {
        authorization,
        client,
        signal,
      }: { authorization: string | undefined; client: Client; signal: AbortSignal },
    ): Promise<{ cursor: string; ended: EndedTokens[] }> {
      const caller = await recognize(authorization, client)
      const seconds = readNumber('wait', wait ?? '0', { maximum: LONGEST_WAIT_SECONDS })
      const position = await positionOf(after)
      const look = () => follow(position, seconds, signal)
      const { ended, cursor } = await (seconds === 0 ? look() : followers.hold(caller.id, look))
      // Whoever waited may have been shut out meanwhile.
      if (seconds > 0 && ended.length > 0) await recognize(authorization, client)
      return { cursor: String(cursor), ended }
    },
  }
}

const secondsOf = (time: Date) => Math.floor(time.getTime() / 1000)
const left = (endsAtMs: number) => Math.max(0, (endsAtMs - performance.now()) / 1000)
