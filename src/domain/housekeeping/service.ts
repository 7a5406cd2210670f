/**
 * Removes expired rows in the background: in small batches, by one replica at a time, and without blocking requests. What
 * fails is tried again in the next round.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/http/logging.ts'
import type { Sweep } from '../../platform/postgres/sweep.ts'
import { causeOf } from '../delivery/attempt.ts'
import type { HousekeepingStore } from './store.ts'

export interface Housekeeping {
  /** Runs one round if it is this process's turn. Never throws. */
  run(): Promise<void>
  /** Starts the timer: a round runs every minute from now on. */
  start(): void
  /** Waits for the batch under way. */
  close(): Promise<void>
}

export interface HousekeepingOptions {
  store: HousekeepingStore
  /** By their names in the log. Each store decides which of its rows have expired. */
  chores: Record<string, Sweep>
  clock: Clock
  logger: Logger
  intervalMs?: number
}

/** Small enough that a batch takes milliseconds. */
const BATCH = 500
/** For each kind of rows in one round (30,000 a minute), so that none keeps the others waiting. */
const BATCHES = 60
const INTERVAL_MS = 60_000
/** Shorter than the interval, so that no round is lost when timers drift; no batch begins in its last ten seconds. */
const TURN_MS = 50_000
const LAST_BATCH_MS = 40_000

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, chores, clock, logger } = options
  let ending = false
  let endsAtMs = 0
  let running: Promise<void> | null = null
  let timer: Timer | undefined

  const isOver = () => ending || clock.now().getTime() >= endsAtMs

  /** Returns the number of removed rows. */
  async function whileMore(sweep: Sweep): Promise<number> {
    let total = 0
    for (let batch = 0; batch < BATCHES && !isOver(); batch++) {
      const swept = await sweep(clock.now(), BATCH)
      const { removed, more } = typeof swept === 'number' ? { removed: swept, more: swept === BATCH } : swept
      total += removed
      if (!more) break
    }
    return total
  }

  async function round(): Promise<void> {
    const now = clock.now()
    const claimed = await attempt('turn', () => store.claimRound(now, new Date(now.getTime() + TURN_MS)))
    if (!claimed) return
    endsAtMs = now.getTime() + LAST_BATCH_MS
    const removed: Record<string, number> = {}
    for (const [chore, sweep] of Object.entries(chores)) {
      const count = isOver() ? 0 : await attempt(chore, () => whileMore(sweep))
      if (count) removed[chore] = count
    }
    if (Object.keys(removed).length > 0) logger.info({ removed }, 'housekeeping')
  }

  async function attempt<T>(chore: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work()
    } catch (error) {
      logger.warn({ chore, cause: causeOf(error) }, 'housekeeping could not be done')
      return null
    }
  }

  function run(): Promise<void> {
    running ??= round().finally(() => {
      running = null
    })
    return running
  }

  return {
    run,
    start() {
      timer = setInterval(run, options.intervalMs ?? INTERVAL_MS)
      timer.unref()
    },
    async close() {
      ending = true
      clearInterval(timer)
      await running
    },
  }
}
