/**
 * SMS pumping: somebody asks for codes at numbers whose operator pays them a share, and never enters one. A prefix of
 * numbers where that happens is closed to whoever pays the counter of strangers by prefix; its wait is the closure's.
 */
import type { Clock } from '../../platform/clock.ts'
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
