/** Says when a pool of messages is used up: in the log and to the operator, at most once a minute for each pool. */
import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/log/logging.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Charge, LimitStore, SendingPool } from './store.ts'

interface Options {
  store: Pick<LimitStore, 'findRefusing'>
  clock: Clock
  logger: Pick<Logger, 'warn'>
  metrics: Pick<Metrics, 'count'>
  onDry?: ((pool: SendingPool) => void) | undefined
}

const SAID_AGAIN_MS = 60_000
/** A caller who is refused again and again costs one more question to the store in this time. */
const LOOKED_AGAIN_MS = 1000

export function createDryPools({ store, clock, logger, metrics, onDry }: Options) {
  const saidAt = new Map<SendingPool, number>()
  let lookedAt = Number.NEGATIVE_INFINITY

  async function look(charges: Charge[]): Promise<void> {
    const pool = (await store.findRefusing(charges, clock.now()))?.pool
    if (pool === undefined) return
    metrics.count('dry_pools_total', { pool })
    const nowMs = clock.now().getTime()
    if (nowMs - (saidAt.get(pool) ?? Number.NEGATIVE_INFINITY) < SAID_AGAIN_MS) return
    saidAt.set(pool, nowMs)
    logger.warn(
      { pool },
      'a pool of messages is used up: what it is for waits or is refused until it refills',
    )
    onDry?.(pool)
  }

  return {
    /** These charges were refused. Returns at once and never throws. */
    note(charges: Charge[]): void {
      const ofPools = charges.filter(({ pool }) => pool !== undefined)
      const nowMs = clock.now().getTime()
      if (ofPools.length === 0 || Math.abs(nowMs - lookedAt) < LOOKED_AGAIN_MS) return
      lookedAt = nowMs
      void look(ofPools).catch(() => {})
    },
  }
}
