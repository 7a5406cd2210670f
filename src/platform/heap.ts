/**
 * Collects garbage that had grown old (docs/decisions/forced-collections.md; needed with Bun 1.4.5). The engine mostly
 * collects young objects and goes over its whole heap only once that has doubled. A login that waits for its hash is old
 * by the time it is answered, so a flood of logins would leave tens of megabytes behind.
 */
import { fullGC, heapSize } from 'bun:jsc'

/**
 * Collect once the heap has grown by this many bytes since the last whole collection, and at least by this share; check
 * this often.
 */
const SLACK_BYTES = 6e6
const SLACK_SHARE = 0.25
const LOOK_EVERY_MS = 250

/** Runs until the process ends. A collection takes about 10 ms with the 20 MB that a busy service has in use. */
export function keepHeapTidy(): void {
  let usedBytes = heapSize()
  setInterval(() => {
    if (heapSize() - usedBytes < Math.max(SLACK_BYTES, usedBytes * SLACK_SHARE)) return
    fullGC()
    usedBytes = heapSize()
  }, LOOK_EVERY_MS).unref()
}
