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
  giveBackWhenIdle()
  let usedBytes = heapSize()
  setInterval(() => {
    if (heapSize() - usedBytes < Math.max(SLACK_BYTES, usedBytes * SLACK_SHARE)) return
    fullGC()
    usedBytes = heapSize()
  }, LOOK_EVERY_MS).unref()
}

/** In a window of this length in which the process used less of a processor than this share, it was idle. */
const IDLE_LOOK_EVERY_MS = 2000
const IDLE_SHARE = 0.05
/** So many such windows in a row are a pause; after the start one of them is enough. */
const PAUSE = 30

/**
 * Gives back what the start, or a busy time, left behind: the machine code and byte code of what ran, and garbage. Code
 * that runs again is compiled again, which makes the first requests after a pause a little slower.
 */
function giveBackWhenIdle(): void {
  let before = process.cpuUsage()
  let idleWindows = PAUSE - 1
  let isDue = true
  setInterval(() => {
    const { user, system } = process.cpuUsage(before)
    before = process.cpuUsage()
    const isIdle = (user + system) / 1000 < IDLE_LOOK_EVERY_MS * IDLE_SHARE
    // A start that takes longer than a window is still one.
    if (!isIdle && isDue && idleWindows === PAUSE - 1) return
    idleWindows = isIdle ? idleWindows + 1 : 0
    if (!isIdle) isDue = true
    if (!isDue || idleWindows < PAUSE) return
    isDue = false
    Bun.shrink()
  }, IDLE_LOOK_EVERY_MS).unref()
}
