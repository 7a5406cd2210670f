/**
 * SMS pumping: somebody requests codes at numbers whose operator shares the price with them, and never enters one. A
 * range of numbers where that happens is closed to the networks that asked for more than a few SMS there; for all
 * others a trickle stays open.
 */
import type { Charge, LimitStore } from './store.ts'

export function withPumpingGuard(
  store: LimitStore,
  { closedUntil }: { closedUntil(range: string): Date | null },
): LimitStore {
  /** The counters admit less in a closed range, and what has passed since is counted over all networks. */
  const guarded = (charges: Charge[]): Charge[] =>
    charges.flatMap((charge) => {
      const { range, rule } = charge
      if (range === undefined || rule.kind !== 'window') return charge
      if (closedUntil(range.name) === null) return range.countsOnlyClosed ? [] : charge
      return { ...charge, rule: { ...rule, count: Math.min(rule.count, range.closedCount) } }
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
