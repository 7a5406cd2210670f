/**
 * Writes lines to standard output without waiting for their reader: a pipe that nobody reads must not stop the service.
 * One write is under way at a time, on another thread; what comes meanwhile is kept up to a bound, and what does not
 * fit is counted.
 */
import { write, writeSync } from 'node:fs'

const STANDARD_OUTPUT = 1
const MOST_BYTES = 1_048_576
const AGAIN_MS = 50
/** A write that takes longer is not waited for when the process ends. */
const STALLED_MS = 1000
const LAST_WAIT_MS = 50

let lost = 0

/** Lines that did not fit since the process began. */
export const linesLost = (): number => lost

/** `onFree` is called with the number of lines that did not fit, once lines fit again. */
export function createLogWriter(onFree: (lost: number) => void) {
  /** The lines of one turn of the event loop: under load, a system call for each would cost as much as a request. */
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let underWay: { rest: Buffer; sinceMs: number } | null = null
  let isPlanned = false
  let lostUntold = 0

  function plan(): void {
    if (isPlanned || underWay !== null) return
    isPlanned = true
    setImmediate(begin)
  }

  function begin(): void {
    isPlanned = false
    if (underWay !== null || waiting.length === 0) return
    underWay = { rest: takeWaiting(), sinceMs: performance.now() }
    proceed()
  }

  function takeWaiting(): Buffer {
    const together = Buffer.concat(waiting)
    waiting = []
    waitingBytes = 0
    return together
  }

  function proceed(): void {
    if (underWay === null) return
    write(STANDARD_OUTPUT, underWay.rest, (error, bytes = 0) => {
      if (underWay === null) return
      if (error?.code === 'EAGAIN') return void setTimeout(proceed, AGAIN_MS)
      // Nobody will read a closed pipe any more, which must not end the service either.
      const rest = error ? Buffer.alloc(0) : underWay.rest.subarray(bytes)
      underWay = rest.length > 0 ? { rest, sinceMs: performance.now() } : null
      if (underWay !== null) return proceed()
      begin()
      // The lines that waited are taken first, so that the line that tells of it fits.
      if (lostUntold > 0) {
        const told = lostUntold
        lostUntold = 0
        onFree(told)
      }
    })
  }

  /** Nothing asynchronous happens any more. */
  function atExit(): void {
    if (underWay !== null) {
      if (performance.now() - underWay.sinceMs > STALLED_MS) return
      Bun.sleepSync(LAST_WAIT_MS)
    }
    const last = takeWaiting()
    try {
      for (let done = 0; done < last.length; ) done += writeSync(STANDARD_OUTPUT, last, done)
    } catch {
      // Nobody reads.
    }
  }
  process.on('exit', atExit)

  return {
    /** One whole line, including its line feed. Returns at once. */
    write(line: string): void {
      const bytes = Buffer.from(line)
      if (waitingBytes + bytes.length > MOST_BYTES) {
        lost++
        lostUntold++
        return
      }
      waiting.push(bytes)
      waitingBytes += bytes.length
      plan()
    },
    /** Resolves when everything is written, or nobody has read for `patienceMs`. */
    async flush(patienceMs: number): Promise<void> {
      const end = performance.now() + patienceMs
      while ((underWay !== null || waiting.length > 0) && performance.now() < end) await Bun.sleep(5)
    },
  }
}
