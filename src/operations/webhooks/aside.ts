/** What is set aside of one endpoint: put there, taken in turn, tried again later, given up. */
import type { EventStore, StoredEvent } from '../../domain/foundation/events/store.ts'
import { causeOf } from '../../platform/failure.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Reports } from './reports.ts'
import type { AsideRow, DueRetry, WebhookStore } from './store.ts'
import { accountOf } from './window.ts'

interface Needs extends Pick<Ground, 'clock'> {
  holder: string
  stores: { webhooks: WebhookStore; events: Pick<EventStore, 'follow'> }
  reports: Pick<Reports, 'databaseAway' | 'givenUp'>
  /** The process ends. */
  ending: AbortSignal
}

export interface FailedTry {
  reason: string
  retryAfterSeconds: number | null
}

/** An event that was set aside, with what is known of its attempts. */
export interface Retry extends DueRetry {
  event: StoredEvent
}

/** The accounts that had their turn are passed over until the others had theirs. */
const MOST_SERVED = 100
const AWAY_RETRY_MS = 500

export type Aside = ReturnType<typeof createAside>

export function createAside(name: string, { holder, stores, clock, reports, ending }: Needs) {
  const { webhooks: store, events } = stores
  const served = new Set<string>()
  let mayBeDue = false

  /** Writes until it is written; false where this process ends before. */
  async function insist(write: () => Promise<unknown>): Promise<boolean> {
    while (!ending.aborted) {
      try {
        await write()
        return true
      } catch (error) {
        reports.databaseAway(causeOf(error))
        await Bun.sleep(AWAY_RETRY_MS)
      }
    }
    return false
  }

  const unsentRow = ({ id }: StoredEvent): AsideRow => ({
    ...{ eventId: id, attempts: 0, lastFailure: null },
    dueAt: clock.now(),
  })

  function failedRow({ id }: StoredEvent, { reason, retryAfterSeconds }: FailedTry): AsideRow {
    const dueAt = new Date(clock.now().getTime() + delayMs(1, retryAfterSeconds))
    return { eventId: id, attempts: 1, dueAt, lastFailure: reason }
  }

  /** It is null where the event is no longer kept: then nothing is left to tell. */
  async function eventOf(due: DueRetry): Promise<Retry | null> {
    const [event] = await events.follow({}, due.eventId - 1, due.eventId, 1)
    if (event === undefined) await store.finish(name, holder, due.eventId)
    return event === undefined ? null : { ...due, event }
  }

  /** The ones due longest, an account after the other: nobody's many events keep those of the others waiting. */
  async function findDue(busy: ReadonlySet<string>, limit: number): Promise<DueRetry[]> {
    if (served.size >= MOST_SERVED) served.clear()
    const now = clock.now()
    const due = await store.nextDue(name, now, [...busy, ...served], limit)
    if (due.length > 0 || served.size === 0) return due
    served.clear()
    return store.nextDue(name, now, [...busy], limit)
  }

  return {
    /** `failed`: why it did; the others go unsent. It returns false where this process ends before it is written. */
    async put(unsent: StoredEvent[], failed?: { event: StoredEvent; failure: FailedTry }): Promise<boolean> {
      const rows = [...(failed ? [failedRow(failed.event, failed.failure)] : []), ...unsent.map(unsentRow)]
      const isPut = await insist(() => store.setAside(name, holder, rows, clock.now()))
      mayBeDue ||= isPut
      return isPut
    },
    /** False where a look found nothing, and nothing has changed since. */
    mayBeDue: () => mayBeDue,
    lookAgain(): void {
      mayBeDue = true
    },
    /** Of the accounts of these events those about which something is set aside. */
    accountsAmong: async (found: StoredEvent[]): Promise<Set<string>> =>
      found.length === 0 ? new Set() : store.findAside(name, [...new Set(found.map(accountOf))]),
    /** The next ones that are due, each about another account. */
    async takeDue(busy: ReadonlySet<string>, limit: number): Promise<Retry[]> {
      const due = await findDue(busy, limit)
      const retries: Retry[] = []
      for (const each of due) {
        if (retries.some(({ account }) => account === each.account)) continue
        served.add(each.account)
        const retry = await eventOf(each)
        if (retry !== null) retries.push(retry)
      }
      mayBeDue = due.length > 0
      return retries
    },
    /** The one set aside longest; each in its turn, where so many were tried before. */
    async longest(tried: number): Promise<Retry | null> {
      const due = await store.longestAside(name, tried)
      return due && eventOf(due)
    },
    finish: ({ eventId }: Retry) => insist(() => store.finish(name, holder, eventId)),
    async postpone({ eventId, event, attempts: before }: Retry, { reason, retryAfterSeconds }: FailedTry) {
      const attempts = before + 1
      const now = clock.now()
      const isOver = isGivenUp(attempts, event.createdAt, now)
      const dueAt = isOver ? null : new Date(now.getTime() + delayMs(attempts, retryAfterSeconds))
      await insist(() => store.postpone(name, holder, { eventId, attempts, dueAt, lastFailure: reason }))
      if (isOver) reports.givenUp({ event: eventId, type: event.type, last_failure: reason })
    },
    async makeAllDue(): Promise<void> {
      await insist(() => store.makeAllDue(name, holder, clock.now()))
      mayBeDue = true
    },
  }
}

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const DELAYS_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2, 5, 10, 14, 20].map((hours) => hours * HOUR_MS),
]

const ATTEMPTS = 10
const TRIED_MS = 4 * DAY_MS

/** The time after the failure with this number, from 1 on: up to a tenth later, so that not all come at once. */
export function delayMs(failures: number, retryAfterSeconds: number | null, random = Math.random()): number {
  const delay = (DELAYS_MS[failures - 1] ?? DAY_MS) * (1 + random / 10)
  return Math.max(delay, (retryAfterSeconds ?? 0) * SECOND_MS)
}

export const isGivenUp = (failures: number, happenedAt: Date, now: Date): boolean =>
  failures >= ATTEMPTS && now.getTime() - happenedAt.getTime() >= TRIED_MS
