/**
 * Collects what became garbage after it had grown old. The engine mostly looks at what is young, and goes over all of
 * its memory only once that has doubled: but a login that waits for its hash has grown old when it is answered, so
 * that a flood of them would leave tens of megabytes.
 */
import { fullGC, heapSize } from 'bun:jsc'

/** Bytes beyond what was in use after the last whole collection, at the least; as a share of that; how often to look. */
const SLACK_BYTES = 6e6
const SLACK_SHARE = 0.25
const LOOK_EVERY_MS = 250

/** Until the process ends. A collection takes some 10 ms with all that a busy service has in use, 20 MB. */
export function keepHeapTidy(): void {
  let usedBytes = heapSize()
  setInterval(() => {
    if (heapSize() - usedBytes < Math.max(SLACK_BYTES, usedBytes * SLACK_SHARE)) return
    fullGC()
    usedBytes = heapSize()
  }, LOOK_EVERY_MS).unref()
}
