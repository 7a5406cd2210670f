/** A bar for long work: on a terminal it shows how far the work is, in a pipe nothing. */
import { CommandFailure } from './failure.ts'

const WIDTH = 30
const INTERVAL_MS = 100
/** Back to the beginning of the line, and removes what stands there. */
const CLEAR = '\r\x1b[K'

const INTERRUPTED = 'interrupted: nothing was changed'

export function createProgressBar(out: NodeJS.WriteStream = process.stderr) {
  let shownAt = Number.NEGATIVE_INFINITY
  let shown = ''
  return {
    show(what: string, done: number): void {
      if (!out.isTTY || (what === shown && performance.now() - shownAt < INTERVAL_MS)) return
      shownAt = performance.now()
      shown = what
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

/** Runs `work`; the first signal aborts its `signal`, undoes what it began, and ends the process; the second one ends it. */
export async function interruptible<T>(
  undo: () => void | Promise<void>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController()
  const onSignal = async () => {
    if (ending.signal.aborted) process.exit(130)
    // The reason is printed below.
    ending.abort(new CommandFailure(1, ''))
    await undo()
    process.stderr.write(`${INTERRUPTED}\n`)
    process.exit(130)
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    return await work(ending.signal)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}

/** Runs `work`, which gives up and undoes what it did at the first signal; the second one ends the process at once. */
export async function abortable<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const ending = new AbortController()
  const onSignal = () => {
    if (ending.signal.aborted) process.exit(130)
    ending.abort(new CommandFailure(1, INTERRUPTED))
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  try {
    return await work(ending.signal)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
}
