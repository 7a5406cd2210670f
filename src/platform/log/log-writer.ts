/**
 * Writes lines to standard output without waiting for their reader: a pipe that nobody reads must not stop the service.
 * One write is under way at a time, on another thread; what comes meanwhile is kept up to a bound. What does not fit,
 * and what the system refuses to write, is counted.
 */
import { write, writeSync } from 'node:fs'

const STANDARD_OUTPUT = 1
const MOST_BYTES = 1_048_576
const AGAIN_MS = 50
/** A write that takes longer is not waited for when the process ends. */
const STALLED_MS = 1000
const LAST_WAIT_MS = 50

const NOTHING = Buffer.alloc(0)
const LINE_FEED = 10

let lost = 0

/** Lines that were not written since the process began, for whatever reason. */
export const linesLost = (): number => lost

/** The line that was cut counts, too, unless it lacks its line feed alone. */
const linesIn = (rest: Buffer) =>
  rest.subarray(1).reduce((lines, byte) => lines + (byte === LINE_FEED ? 1 : 0), 0)

/** `onFree` is called with the number of lines that were lost, once lines are written again. */
export function createLogWriter(onFree: (lost: number) => void) {
  /** The lines of one turn of the event loop: under load, a system call for each would cost as much as a request. */
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let underWay: { rest: Buffer; sinceMs: number } | null = null
  let isPlanned = false
  let lostUntold = 0
  /** The last byte that was written. */
  let lastByte = LINE_FEED

  function plan(): void {
    if (isPlanned || underWay !== null) return
    isPlanned = true
    setImmediate(begin)
  }

  function begin(): void {
    isPlanned = false
    if (underWay !== null || waiting.length === 0) return
    // What stands behind a line that was cut would be unreadable with it.
    if (lastByte !== LINE_FEED) waiting.unshift(Buffer.of(LINE_FEED))
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
      const rest = restAfter(underWay.rest, error, bytes)
      underWay = rest.length > 0 ? { rest, sinceMs: performance.now() } : null
      if (underWay !== null) return proceed()
      begin()
      tell(error)
    })
  }

  /** A closed pipe or a full disk must not end the service. */
  function restAfter(rest: Buffer, error: unknown, bytes: number): Buffer {
    if (error) {
      lose(linesIn(rest))
      return NOTHING
    }
    if (bytes > 0) lastByte = rest[bytes - 1]!
    return rest.subarray(bytes)
  }

  /** The lines that waited are taken first, so that the line that tells of it fits. */
  function tell(error: unknown): void {
    if (lostUntold === 0 || error) return
    const told = lostUntold
    lostUntold = 0
    onFree(told)
  }

  function lose(lines: number): void {
    lost += lines
    lostUntold += lines
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
        lose(1)
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
