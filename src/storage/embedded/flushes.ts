/**
 * Nobody sees what is not on the disk: no answer leaves before a flush that began after its statement, unless nothing
 * that must last was waiting for one. Flushes that wait at the same moment are done as one.
 */
import type { Turns } from './turns.ts'

export type Flushes = ReturnType<typeof createFlushes>

/** A disk that takes 5 ms to flush then spends a third of its time on readers, at most. */
const READER_WAITS_MS = 10

interface SharedFlush extends PromiseWithResolvers<void> {
  hasReader: boolean
}

/** `flush` throws where it fails; then everybody who waits is told. `inTurn` waits for an open transaction. */
export function createFlushes(flush: () => void, inTurn: Turns) {
  let mustFlush = false
  let mayFlush = false
  let shared: SharedFlush | null = null

  /** To be called within a turn: flushes at once if anything waits for it. */
  function now(): void {
    if (!mustFlush && !mayFlush) return
    flush()
    mustFlush = false
    mayFlush = false
  }

  async function flushFor(own: SharedFlush, isUrgent: boolean): Promise<void> {
    await inTurn(async () => {
      if (shared !== own) return
      shared = null
      now()
    }, isUrgent).then(own.resolve, own.reject)
  }

  function share(): SharedFlush {
    const own = { ...Promise.withResolvers<void>(), hasReader: false }
    // Work that has arrived already runs first, and shares this flush.
    setImmediate(() => flushFor(own, false))
    return own
  }

  return {
    /** A statement wrote something: `mustLast`, or what a crash may forget. */
    noteWrite({ mustLast }: { mustLast: boolean }): void {
      if (mustLast) mustFlush = true
      else mayFlush = true
    },
    /**
     * To be awaited after a statement, whether or not it succeeded. It returns null where nothing has to be waited for. The
     * flush waits for all work that was there before it, but for a reader no longer than READER_WAITS_MS.
     */
    settle({ isReader }: { isReader: boolean }): Promise<void> | null {
      if (!mustFlush) return null
      shared ??= share()
      if (isReader && !shared.hasReader) {
        shared.hasReader = true
        setTimeout(flushFor, READER_WAITS_MS, shared, true)
      }
      return shared.promise
    },
    /** Tells whether an answer has to wait for a flush now. */
    isAwaited: () => mustFlush,
    now,
  }
}
