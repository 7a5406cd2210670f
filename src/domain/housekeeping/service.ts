/**
 * Removes, in the background, what nobody needs any more: in small batches, by one replica at a time, and never in the
 * way of a request. What fails is tried again in the next round.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/http/logging.ts'
import { causeOf } from '../delivery/attempt.ts'
import type { HousekeepingStore } from './store.ts'

/** As the stores of codes, limits, tickets and budgets have it: those know by themselves what is over. */
interface Expiring {
  sweep(now: Date, limit: number): Promise<number>
}

export interface Housekeeping {
  /** One round, if it is this process's turn; runs by itself every minute. Never throws. */
  run(): Promise<void>
  /** Waits for the batch under way. */
  close(): Promise<void>
}

export interface HousekeepingOptions {
  store: HousekeepingStore
  messages: { sweep(finishedBefore: Date, limit: number): Promise<number> }
  codes: Expiring
  limits: Expiring
  tickets: Expiring
  budgets: Expiring
  spentTokens: Expiring
  clock: Clock
  logger: Logger
  intervalMs?: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long each thing is kept after its end, and why so long. */
const KEPT_MS = {
  /** Time enough to find the message; then the identifier is nobody's claim again. */
  registrations: 7 * DAY_MS,
  /** After this a device counts as unknown, and an old refresh token as any text. */
  sessions: 30 * DAY_MS,
  /** "Did it go out?" is asked within weeks. */
  messages: 30 * DAY_MS,
  /** Their codes live ten minutes; a day covers every configuration that makes sense. */
  contactChanges: DAY_MS,
  totpEnrolments: DAY_MS,
}

/** A batch of rows is gone within milliseconds. */
const BATCH = 500
/** Of each kind in one round, so that none keeps the others waiting: 30,000 a minute. */
const BATCHES = 60
const INTERVAL_MS = 60_000
/** Less than the interval, so that timers which drift apart lose no round; no batch begins in its last ten seconds. */
const TURN_MS = 50_000
const LAST_BATCH_MS = 40_000

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, messages, codes, limits, tickets, budgets, spentTokens, clock, logger } = options
  let ending = false
  let endsAtMs = 0
  let running: Promise<void> | null = null
  let lastSession: string | null = null

  const isOver = () => ending || clock.now().getTime() >= endsAtMs
  const olderThan = (kept: keyof typeof KEPT_MS) => new Date(clock.now().getTime() - KEPT_MS[kept])
  const expiring = ({ sweep }: Expiring) => whileFull((limit) => sweep(clock.now(), limit))

  /** Each says how many rows it removed. */
  const chores: Record<string, () => Promise<number>> = {
    registrations: () => whileFull((limit) => store.sweepRegistrations(olderThan('registrations'), limit)),
    registration_claims: () =>
      whileFull((limit) => store.sweepRegistrationClaims(olderThan('registrations'), limit)),
    sessions: sweepSessions,
    messages: () => whileFull((limit) => messages.sweep(olderThan('messages'), limit)),
    contact_changes: () =>
      whileFull((limit) => store.sweepContactChanges(olderThan('contactChanges'), limit)),
    totp_enrolments: () =>
      whileFull((limit) => store.sweepTotpEnrolments(olderThan('totpEnrolments'), limit)),
    codes: () => expiring(codes),
    limits: () => expiring(limits),
    tickets: () => expiring(tickets),
    budgets: () => expiring(budgets),
    spent_id_tokens: () => expiring(spentTokens),
  }

  async function whileFull(sweep: (limit: number) => Promise<number>): Promise<number> {
    let total = 0
    for (let batch = 0; batch < BATCHES && !isOver(); batch++) {
      const removed = await sweep(BATCH)
      total += removed
      if (removed < BATCH) break
    }
    return total
  }

  /** Goes on in the next round where this one stopped. */
  async function sweepSessions(): Promise<number> {
    let total = 0
    for (let batch = 0; batch < BATCHES && !isOver(); batch++) {
      const { removed, last } = await store.sweepSessions(lastSession, olderThan('sessions'), BATCH)
      total += removed
      lastSession = last
      if (last === null) break
    }
    return total
  }

  async function round(): Promise<void> {
    const now = clock.now()
    const claimed = await attempt('turn', () => store.claimRound(now, new Date(now.getTime() + TURN_MS)))
    if (!claimed) return
    endsAtMs = now.getTime() + LAST_BATCH_MS
    const removed: Record<string, number> = {}
    for (const [chore, work] of Object.entries(chores)) {
      const count = isOver() ? 0 : await attempt(chore, work)
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

  const timer = setInterval(run, options.intervalMs ?? INTERVAL_MS)
  timer.unref()

  return {
    run,
    async close() {
      ending = true
      clearInterval(timer)
      await running
    },
  }
}
