/**
 * SMS pumping: somebody requests codes at numbers whose operator shares the price with them, and never enters one. A
 * prefix of numbers where that happens is closed to every caller who is charged the counter of strangers by prefix;
 * the wait is the rest of the closure.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { LimitStore } from './store.ts'

interface Options {
  closedUntil(prefix: string): Date | null
  clock: Clock
}

export function withPumpingGuard(store: LimitStore, { closedUntil, clock }: Options): LimitStore {
  return {
    ...store,
    async charge(charges, now) {
      for (const { prefix } of charges) {
        const until = prefix === undefined ? null : closedUntil(prefix)
        if (until) return Math.max(1, until.getTime() - clock.now().getTime())
      }
      return store.charge(charges, now)
    },
  }
}
