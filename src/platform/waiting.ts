/** The ways to wait that several places have in common: for what others wait for too, not for ever, and not too many at once. */
import { AppError } from '../texts/errors.ts'
import type { Clock } from './clock.ts'

/** Returns a function whose callers share one call of `work`: those who call while it is under way get its promise. */
export function together<Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) {
  let underWay: Promise<Result> | null = null
  const call = (...args: Args): Promise<Result> => {
    underWay ??= work(...args).finally(() => {
      underWay = null
    })
    return underWay
  }
  return Object.assign(call, { underWay: () => underWay })
}

/** Gives `late` where the work takes longer; the work goes on. */
export async function within<Result, Late>(ms: number, work: Promise<Result>, late: Late) {
  let timer: Timer | undefined
  const end = new Promise<Late>((resolve) => {
    timer = setTimeout(resolve, ms, late)
  })
  try {
    return await Promise.race([work, end])
  } finally {
    clearTimeout(timer)
  }
}

/** Refuses, with 429, whoever waits in so many places of this process already. */
export function createPlaces(maximum: number) {
  const taken = new Map<string, number>()
  return {
    async hold<T>(key: string, wait: () => Promise<T>): Promise<T> {
      const before = taken.get(key) ?? 0
      if (before >= maximum)
        throw new AppError('too_many_requests', { retryAfterSeconds: 1, cause: 'callers_waiting' })
      taken.set(key, before + 1)
      try {
        return await wait()
      } finally {
        const left = (taken.get(key) ?? 1) - 1
        if (left > 0) taken.set(key, left)
        else taken.delete(key)
      }
    },
  }
}

/** A program that does not take what it is told is away after so many failures in a row: it gets one request at a time. */
export const FAILURES_UNTIL_AWAY = 5

const DELAYS_WHILE_AWAY_MS = [1000, 2000, 5000, 10_000, 15_000]

export const delayWhileAwayMs = (tries: number): number =>
  DELAYS_WHILE_AWAY_MS[Math.min(tries, DELAYS_WHILE_AWAY_MS.length - 1)] as number

/** Reads at most once in that time, however many ask. A failure is not kept, and neither is what a clock that was set back read. */
export function keepFor<T>(clock: Clock, keptMs: number, read: () => Promise<T>): () => Promise<T> {
  let kept: { until: number; value: Promise<T> } | null = null
  return () => {
    const nowMs = clock.now().getTime()
    if (kept === null || nowMs >= kept.until || nowMs < kept.until - keptMs) {
      const value = read()
      kept = { until: nowMs + keptMs, value }
      value.catch(() => {
        kept = null
      })
    }
    return kept.value
  }
}
