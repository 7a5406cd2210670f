/** When what failed is tried again. */

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

const DELAYS_MS = [
  ...[5 * SECOND_MS, 5 * MINUTE_MS, 30 * MINUTE_MS],
  ...[2, 5, 10, 14, 20].map((hours) => hours * HOUR_MS),
]

const ATTEMPTS = 10
const TRIED_MS = 4 * DAY_MS

/** The time after the failure with this number, from 1 on: up to a tenth later, so that not all come at once. */
export function delayMs(failures: number, retryAfterSeconds: number | null, random = Math.random()): number {
  const delay = (DELAYS_MS[failures - 1] ?? DAY_MS) * (1 + random / 10)
  return Math.max(delay, (retryAfterSeconds ?? 0) * SECOND_MS)
}

export const isGivenUp = (failures: number, happenedAt: Date, now: Date): boolean =>
  failures >= ATTEMPTS && now.getTime() - happenedAt.getTime() >= TRIED_MS
