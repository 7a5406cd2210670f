/**
 * Removes expired rows in the background: in small batches, by one replica at a time, and without blocking requests. A
 * task that fails is tried again in the next round.
 */

import { causeOf } from '../../platform/failure.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Sweep } from '../../platform/postgres/sweep.ts'
import { together } from '../../platform/waiting.ts'
import type { HousekeepingStore } from './store.ts'

interface HousekeepingOptions extends Pick<Ground, 'clock' | 'logger'> {
  store: HousekeepingStore
  /** The keys are their names in the log. Each store decides which of its rows have expired. */
  sweeps: Record<string, Sweep>
  intervalMs?: number
  /** Called at the end of a round in which every task succeeded. */
  onSuccess?: () => void
}

/** Small enough that a batch takes milliseconds. */
const BATCH = 500
const INTERVAL_MS = 60_000
/** Shorter than the interval, so that no round is lost when timers drift; no batch begins in its last ten seconds. */
const CLAIM_MS = 50_000
const LAST_BATCH_MS = 40_000

export function createHousekeeping(options: HousekeepingOptions) {
  const { store, sweeps, clock, logger, onSuccess } = options
  let ending = false
  let endsAtMs = 0
  let failures = 0
  let timer: Timer | undefined

  const isOver = () => ending || clock.now().getTime() >= endsAtMs

  /** One batch; `more` where there may be more to remove. */
  async function removeBatch(task: string, sweep: Sweep): Promise<{ removed: number; more: boolean }> {
    const swept = (await runLogged(task, () => sweep(clock.now(), BATCH))) ?? 0
    return typeof swept === 'number' ? { removed: swept, more: swept === BATCH } : swept
  }

  /** Batch by batch in turn, so that no kind of rows keeps the others waiting, until there is nothing left to remove. */
  async function round(): Promise<void> {
    const now = clock.now()
    const claimed = await runLogged('round', () => store.claimRound(now, new Date(now.getTime() + CLAIM_MS)))
    if (!claimed) return
    endsAtMs = now.getTime() + LAST_BATCH_MS
    failures = 0
    const total: Record<string, number> = {}
    const left = Object.entries(sweeps)
    for (let next = left.shift(); next !== undefined && !isOver(); next = left.shift()) {
      const [task, sweep] = next
      const { removed, more } = await removeBatch(task, sweep)
      if (removed > 0) total[task] = (total[task] ?? 0) + removed
      if (more) left.push(next)
    }
    if (failures === 0) onSuccess?.()
    if (Object.keys(total).length > 0) logger.info({ removed: total }, 'housekeeping')
  }

  async function runLogged<T>(task: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      failures++
      logger.warn({ task, cause: causeOf(error) }, 'housekeeping could not be done')
      return null
    }
  }

  const run = together(round)

  return {
    /** Runs one round if it is this process's turn. Never throws. */
    run,
    /** Starts the timer: a round runs every minute from now on. */
    start(): void {
      timer = setInterval(run, options.intervalMs ?? INTERVAL_MS)
      timer.unref()
    },
    /** Waits for the batch under way. */
    async close(): Promise<void> {
      ending = true
      clearInterval(timer)
      await run.underWay()
    },
  }
}
