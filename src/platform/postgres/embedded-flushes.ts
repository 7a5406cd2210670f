/**
 * Nobody sees what is not on the disk: no answer leaves before a flush that began after its statement, unless nothing
 * that must last was waiting for one. Flushes that wait at the same moment are done as one.
 */
export interface Flushes {
  /** A statement wrote something: `mustLast`, or what a crash may forget. */
  noteWrite(options: { mustLast: boolean }): void
  /**
   * To be awaited after a statement, whether or not it succeeded. It returns null where nothing has to be waited for.
   */
  settle(): Promise<void> | null
  /** To be called within a turn: flushes at once if anything waits for it. */
  now(): void
}

/** `flush` throws where it fails; then everybody who waits is told. `inTurn` waits for an open transaction. */
export function createFlushes(flush: () => void, inTurn: (work: () => void) => Promise<void>): Flushes {
  let mustFlush = false
  let mayFlush = false
  let shared: Promise<void> | null = null

  function now(): void {
    if (!mustFlush && !mayFlush) return
    flush()
    mustFlush = false
    mayFlush = false
  }

  async function flushTogether(): Promise<void> {
    // Work that has arrived already runs first, and shares this flush.
    await new Promise((resolve) => setImmediate(resolve))
    await inTurn(() => {
      shared = null
      now()
    })
  }

  return {
    noteWrite({ mustLast }) {
      if (mustLast) mustFlush = true
      else mayFlush = true
    },
    settle() {
      if (!mustFlush) return null
      shared ??= flushTogether()
      return shared
    },
    now,
  }
}
