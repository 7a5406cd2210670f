/**
 * SMS pumping: somebody requests codes at numbers whose operator shares the price with them, and never enters one. A
 * range of numbers where that happens is closed to the networks that asked for more than a few SMS there; for all
 * others a trickle stays open. A range that somebody of the team closed by hand is closed to all.
 */
import type { Charge, LimitStore } from './store.ts'

export function withPumpingGuard(
  store: LimitStore,
  { closedBy }: { closedBy(range: string): 'hand' | 'guard' | null },
): LimitStore {
  /** The counters admit less in a closed range, and what has passed since is counted over all networks. */
  const guarded = (charges: Charge[]): Charge[] =>
    charges.flatMap((charge) => {
      const { range, rule } = charge
      if (range === undefined || rule.kind !== 'window') return charge
      const by = closedBy(range.name)
      if (by === null) return range.countsOnlyClosed ? [] : charge
      const most = by === 'hand' ? 0 : range.closedCount
      return { ...charge, rule: { ...rule, count: Math.min(rule.count, most) } }
    })
  return {
    ...store,
    charge: (charges, now) => store.charge(guarded(charges), now),
    chargeAndForesee: async (charges, now) => {
      const { waitMs, nextMs } = await store.chargeAndForesee(guarded(charges), now)
      return { waitMs, nextMs: (next, later) => nextMs(guarded(next), later) }
    },
    findRefusing: (charges, now) => store.findRefusing(guarded(charges), now),
  }
}
