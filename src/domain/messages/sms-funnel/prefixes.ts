/**
 * The guard against SMS pumping: a range of numbers (`prefix`: what they begin with) whose codes are hardly ever verified
 * is closed for a day, but for a trickle. What somebody of the team closed by hand is closed to all. Every replica counts into the same rows and reads again which prefixes are closed.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import { rangeOf } from '../../foundation/limits/sending-pools.ts'
import type { TellOperator } from '../outbox/operator-notices.ts'
import type { SmsClosingStore } from './closing-store.ts'
import type { PrefixCount, SmsFunnelStore } from './store.ts'

interface Options {
  store: SmsFunnelStore
  closings: Pick<SmsClosingStore, 'list'>
  clock: Clock
  logger: { warn(fields: object, message: string): void }
  config: Pick<Config, 'sms' | 'codes'>
  tellOperator?: TellOperator | undefined
}

/** To look at the messages of a prefix takes long. */
const EVALUATED_AGAIN_MS = 60_000
export function createPrefixes({ store, closings, clock, logger, config, tellOperator }: Options) {
  const { pumpingGuard } = config.sms
  /** A prefix that was looked at closely is not looked at again until then. */
  const evaluatedAgainAt = new Map<string, Date>()
  let counts = new Map<string, PrefixCount>()
  let closed = new Map<string, Date>()
  let closedByHand: { prefix: string; closedUntil: Date }[] = []

  function add({ prefix, codes, verified }: PrefixCount): void {
    const before = counts.get(prefix) ?? { prefix, codes: 0, verified: 0 }
    counts.set(prefix, { prefix, codes: before.codes + codes, verified: before.verified + verified })
  }

  async function evaluate(prefixes: string[], now: Date): Promise<void> {
    const due = prefixes.filter((prefix) => !(evaluatedAgainAt.get(prefix)! > now))
    if (due.length === 0) return
    const evaluated = await store.closePrefixes(due, config.codes.lifetimeSeconds, now)
    for (const prefix of due) evaluatedAgainAt.delete(prefix)
    for (const { prefix } of evaluated)
      evaluatedAgainAt.set(prefix, new Date(now.getTime() + EVALUATED_AGAIN_MS))
    const newlyClosed = evaluated.filter(({ isClosed }) => isClosed)
    for (const { prefix, codes, verified } of newlyClosed) {
      logger.warn(
        { prefix, codes, verified },
        'a range of numbers is closed for a day to the networks that asked there: hardly any code is verified',
      )
      tellOperator?.('operator_prefix_closed', prefix)
    }
    if (newlyClosed.length > 0) await refresh()
  }

  async function refresh(): Promise<void> {
    const rows = await closings.list(clock.now())
    closedByHand = rows.filter(({ reason }) => reason !== null)
    const guarded = pumpingGuard ? rows.filter(({ reason }) => reason === null) : []
    closed = new Map(guarded.map(({ prefix, closedUntil }) => [prefix, closedUntil]))
  }

  return {
    /** `codes`: a gateway took one; `verified`: one was right. */
    count: (to: string, what: 'codes' | 'verified'): void =>
      add({ prefix: rangeOf(to), codes: 0, verified: 0, [what]: 1 }),
    /**
     * By hand a range is closed to all, by the guard to networks that asked there; null if it is open. A prefix that is
     * longer than a range closes all of it.
     */
    closedBy(range: string): 'hand' | 'guard' | null {
      const now = clock.now()
      const isMeant = ({ prefix, closedUntil }: { prefix: string; closedUntil: Date }) =>
        closedUntil > now && (range.startsWith(prefix) || prefix.startsWith(range))
      if (closedByHand.some(isMeant)) return 'hand'
      return closed.get(range)! > now ? 'guard' : null
    },
    /**
     * Adds what was counted since the last time, and closes prefixes. Counts that could not be added are added the next
     * time.
     */
    async flush(now: Date): Promise<void> {
      const taken = [...counts.values()]
      counts = new Map()
      if (taken.length === 0) return
      try {
        await store.addPrefixes(taken, now)
      } catch (error) {
        for (const each of taken) add(each)
        throw error
      }
      const prefixes = taken.map(({ prefix }) => prefix)
      if (pumpingGuard) await evaluate(prefixes, now)
    },
    /** Reads which prefixes are closed. */
    refresh,
    /** How many are closed, as it was read last. */
    countClosed(): Record<'hand' | 'guard', number> {
      const now = clock.now()
      const count = (ends: Date[]) => ends.filter((end) => end > now).length
      return {
        hand: count(closedByHand.map(({ closedUntil }) => closedUntil)),
        guard: count([...closed.values()]),
      }
    },
  }
}
