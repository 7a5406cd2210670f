/**
 * A document that somebody else publishes (a provider's description, its keys). It is loaded when it is first needed,
 * refreshed in the background once it is old, and kept for as long as the publisher does not answer.
 */
import type { Clock } from '../../../platform/clock.ts'

import { together } from '../../../platform/waiting.ts'

export type CachedDocument<T> = ReturnType<typeof createCachedDocument<T>>

interface Options<T> {
  load: () => Promise<T>
  clock: Clock
  /** The age up to which a value is used without renewing it. */
  freshMs: number
  /** The time between two tries to renew. */
  pauseMs: number
}

export function createCachedDocument<T>({ load, clock, freshMs, pauseMs }: Options<T>) {
  let kept: { value: T; loadedAt: number } | null = null
  let triedAt = Number.NEGATIVE_INFINITY

  /** It is over also once a clock that was set back has passed it. */
  const isOver = (since: number, ms: number) => Math.abs(clock.now().getTime() - since) > ms

  const loadOnce = together(async () => {
    triedAt = clock.now().getTime()
    const value = await load()
    kept = { value, loadedAt: clock.now().getTime() }
    return value
  })

  return {
    /** Waits, and fails, only as long as there is no value at all. */
    async get() {
      if (kept === null) return loadOnce()
      if (isOver(kept.loadedAt, freshMs) && isOver(triedAt, pauseMs)) void loadOnce().catch(() => {})
      return kept.value
    },
    /** The current value, loaded anew unless that was done a moment ago or fails. */
    async renewed() {
      if (kept === null || loadOnce.underWay() !== null || isOver(triedAt, pauseMs)) {
        const before = kept
        return loadOnce().catch((error: unknown) => {
          if (before === null) throw error
          return before.value
        })
      }
      return kept.value
    },
  }
}
