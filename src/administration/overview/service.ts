/** The numbers of the first screen: the last 48 hours, hour by hour. Counted at most once a minute. */

import type { EventType } from '../../domain/foundation/events/event.ts'
import type { Clock } from '../../platform/clock.ts'
import type { EventsOfHour, MessagesOfHour, OverviewStore } from './store.ts'

interface Needs {
  clock: Clock
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

export function createOverview({ stores, clock }: Needs) {
  const { overview } = stores
  let kept: { until: number; statistics: ReturnType<typeof count> } | null = null

  /** `hours`: oldest first. */
  async function count(nowMs: number) {
    const firstMs = Math.floor(nowMs / HOUR_MS) * HOUR_MS - (HOURS - 1) * HOUR_MS
    const since = new Date(firstMs)
    const [accounts, events, messages] = await Promise.all([
      overview.countAccounts(),
      overview.countEvents(Object.values(countedTypes).flat(), since),
      overview.countMessages(since),
    ])
    const hours = Array.from({ length: HOURS }, (_, index) =>
      hourRecord(new Date(firstMs + index * HOUR_MS), events, messages),
    )
    return { accounts, hours }
  }

  return {
    statistics(): ReturnType<typeof count> {
      const nowMs = clock.now().getTime()
      if (kept === null || nowMs >= kept.until || nowMs < kept.until - KEPT_MS) {
        const statistics = count(nowMs)
        kept = { until: nowMs + KEPT_MS, statistics }
        // A failure is not kept.
        statistics.catch(() => {
          kept = null
        })
      }
      return kept.statistics
    },
  }
}

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
