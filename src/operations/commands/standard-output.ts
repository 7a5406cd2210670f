/** Standard output that takes no more, such as a file on a full disk: one line says so, and the command ends with 1. */
import { closeSync, openSync, readFileSync } from 'node:fs'

let isWatched = false
let wasRefused = false
const { promise: ended, resolve: end } = Promise.withResolvers<void>()

/** Resolves once nothing that is printed arrives any more: a command that prints for ever ends then. */
export const outputEnded = ended

/** Tells whether the command has failed because its output is lost. */
export const outputWasRefused = (): boolean => wasRefused

/** A process that does not read on, as in `poterne config example | head -3`, is no failure of the command. */
export const isClosedPipe = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EPIPE'

/** A write fails some time after it was asked for, at the latest when nothing else is left to do. */
export function watchStandardOutput(): void {
  if (isWatched) return
  isWatched = true
  if (wasClosed()) refuseWrites()
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    end()
    if (isClosedPipe(error) || wasRefused) return
    wasRefused = true
    process.exitCode = 1
    process.stderr.write(`standard output takes no more: ${REASONS[error.code ?? ''] ?? error.message}\n`)
  })
}

const CLOSES_ON_EXEC = 0o2000000

/** Bun opens /dev/null where it finds none (`>&-`). A descriptor that closes on exec was never inherited. */
function wasClosed(): boolean {
  try {
    const [, flags = ''] = /^flags:\s*([0-7]+)$/m.exec(readFileSync('/proc/self/fdinfo/1', 'utf8')) ?? []
    return (Number.parseInt(flags, 8) & CLOSES_ON_EXEC) !== 0
  } catch {
    return false
  }
}

/** The lowest number that is free is 1; who writes there hears EBADF, as from one that is closed. */
function refuseWrites(): void {
  closeSync(1)
  openSync('/dev/null', 'r')
}

const REASONS: Record<string, string> = {
  ENOSPC: 'no space left on its disk',
  EDQUOT: 'the quota of its disk is used up',
  EFBIG: 'its file may not grow further',
  EBADF: 'it is closed',
}
