/** The numbers of the first screen: the last 48 hours, hour by hour. Counted at most once a minute. */

import type { EventType } from '../../domain/foundation/events/event.ts'
import type { Clock } from '../../platform/clock.ts'
import { keepFor } from '../../platform/waiting.ts'
import type { Refusals } from '../limit-lifts/refusals.ts'
import { meaningOfCause } from '../message-log/meaning.ts'
import type { EventsOfHour, MessagesOfHour, OverviewStore } from './store.ts'

interface Needs {
  clock: Clock
  refusals: Pick<Refusals, 'limitedAmong'>
  stores: { overview: OverviewStore }
}

const HOUR_MS = 3_600_000
const HOURS = 48
const KEPT_MS = 60_000

const countedTypes = {
  /** Registered, or made by an administrator. */
  accounts: ['account.registered', 'account.created'],
  confirmations: ['account.confirmed'],
  logins: ['login.succeeded'],
  /** Wrong passwords, codes and tokens. */
  refusals: ['login.failed', 'login.locked_out', 'two_factor.failed', 'token.refused'],
} as const satisfies Record<string, EventType[]>

export type Overview = ReturnType<typeof createOverview>

export function createOverview({ stores, clock, refusals }: Needs) {
  const { overview } = stores

  /** `hours`: oldest first. */
  async function count() {
    const nowMs = clock.now().getTime()
    const firstMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS
    const since = new Date(firstMs)
    const [accounts, events, messages, waiting, errors, removals, limited] = await Promise.all([
      overview.countAccounts(),
      overview.countEvents(Object.values(countedTypes).flat(), since),
      overview.countMessages(since),
      overview.readWaiting(),
      overview.lastErrors(since),
      overview.listRemovals(),
      refusals.limitedAmong(null),
    ])
    const hours = Array.from({ length: HOURS }, (_, index) =>
      hourRecord(new Date(firstMs + index * HOUR_MS), events, messages),
    )
    return {
      accounts,
      hours,
      waiting: { count: waiting.count, oldest_seconds: ageOf(waiting.oldestAt, nowMs) },
      errors,
      limited: limited.size,
      removals: removals.map(({ account, dueAt }) => ({ account, due_at: dueAt.toISOString() })),
    }
  }

  const statistics = keepFor(clock, KEPT_MS, count)

  return {
    /** `language`: that of the sentences about errors. */
    async statistics(language: string) {
      const { errors, ...counted } = await statistics()
      return {
        ...counted,
        errors: errors.map(({ at, channel, gateway, cause, reply }) => ({
          ...{ channel, gateway, cause, reply, at: at.toISOString() },
          meaning: meaningOfCause({ channel, detail: cause }, language),
        })),
      }
    },
  }
}

const ageOf = (at: Date | null, nowMs: number): number | null =>
  at && Math.max(0, Math.round((nowMs - at.getTime()) / 1000))

function hourRecord(at: Date, events: EventsOfHour[], messages: MessagesOfHour[]) {
  const isThen = ({ hour }: { hour: Date }) => hour.getTime() === at.getTime()
  const then = events.filter(isThen)
  const sum = (types: readonly EventType[]) =>
    then.filter(({ type }) => types.includes(type)).reduce((total, { count }) => total + count, 0)
  return {
    at: at.toISOString(),
    accounts: sum(countedTypes.accounts),
    confirmations: sum(countedTypes.confirmations),
    logins: sum(countedTypes.logins),
    refusals: sum(countedTypes.refusals),
    messages: messages.filter(isThen).map(({ hour, ...counted }) => counted),
  }
}
