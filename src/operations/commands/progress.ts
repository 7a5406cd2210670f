/** A bar for long work: on a terminal it shows how far the work is, in a pipe nothing. */
import { CommandFailure } from './failure.ts'

const WIDTH = 30
const INTERVAL_MS = 100
/** Back to the beginning of the line, and removes what stands there. */
const CLEAR = '\r\x1b[K'

/** The answer to SIGHUP, which a terminal that closes sends, too. */
export const READ_AT_START = 'the configuration is read at the start only'

const INTERRUPTED = 'interrupted: nothing was changed'

export function createProgressBar(out: NodeJS.WriteStream = process.stderr) {
  let shownAt = Number.NEGATIVE_INFINITY
  let shown = ''
  return {
    /** `done`: null where nobody knows how much there is; then only the words are shown. */
    show(what: string, done: number | null): void {
      if (!out.isTTY || (what === shown && performance.now() - shownAt < INTERVAL_MS)) return
      shownAt = performance.now()
      shown = what
      if (done === null) return void out.write(`${CLEAR}${what}`)
      const filled = Math.round(Math.min(1, Math.max(0, done)) * WIDTH)
      const percent = `${Math.floor(Math.min(1, done) * 100)} %`.padStart(5)
      out.write(`${CLEAR}[${'#'.repeat(filled)}${' '.repeat(WIDTH - filled)}] ${percent}  ${what}`)
    },
    /** Removes the bar. */
    end(): void {
      if (out.isTTY && shown !== '') out.write(CLEAR)
      shown = ''
    },
  }
}

/** Runs `work`; `interrupt` is called at the first signal, and the second one ends the process at once. */
async function withSignals<T>(
  interrupt: (ending: AbortController) => void,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const onSignal = () => {
    if (ending.signal.aborted) process.exit(130)
    interrupt(ending)
  }
  const onHangUp = () => process.stderr.write(`SIGHUP: ${READ_AT_START}, and this goes on\n`)
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onHangUp)
  try {
    return await work(ending.signal)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal).off('SIGHUP', onHangUp)
  }
}

/** Runs `work`; the first signal aborts its `signal`, undoes what it began, and ends the process. */
export const interruptible = <T>(undo: () => Promise<void>, work: (signal: AbortSignal) => Promise<T>) =>
  withSignals(async (ending) => {
    // The reason is printed below.
    ending.abort(new CommandFailure(1, ''))
    await undo()
    process.stderr.write(`${INTERRUPTED}\n`)
    process.exit(130)
  }, work)

/** Runs `work`, which gives up and undoes what it did at the first signal. */
export const abortable = <T>(work: (signal: AbortSignal) => Promise<T>) =>
  withSignals((ending) => ending.abort(new CommandFailure(1, INTERRUPTED)), work)
