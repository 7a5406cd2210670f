/** What is slow to read and may be a little old. */
import type { Clock } from './clock.ts'

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
