/** The e-mails that strangers cause, over the whole service and all replicas. Those of owners are not counted. */
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { LimitStore, Rule } from './store.ts'

interface Options {
  store: Pick<LimitStore, 'charge'>
  clock: Clock
  config: Pick<Config, 'limits' | 'smtp'>
}

const HOUR_MS = 3_600_000

/** Counts one, and gives the milliseconds to wait; 0 when it may be sent. */
export function createStrangersTurn({ store, clock, config }: Options): () => Promise<number> {
  const { limits, smtp } = config
  if (!limits.enabled || smtp === null) return async () => 0
  // Half of the hour at once and the other half during it: never more than the number in any hour.
  const burst = Math.ceil(smtp.strangersPerHour / 2)
  const rule: Rule = {
    kind: 'bucket',
    burst,
    intervalMs: HOUR_MS / Math.max(1, smtp.strangersPerHour - burst),
  }
  return () => store.charge([{ key: 'email-strangers', rule }], clock.now())
}
