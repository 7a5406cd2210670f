/**
 * The log: one JSON object for each line on standard output. Lines are read by machines and in terminals, so nothing in
 * them can end a line or control a terminal. The calling thread writes them (no worker), so that it works compiled.
 */
import pino from 'pino'
import type { Clock } from '../clock.ts'
import { createLogWriter } from './log-writer.ts'
import { toPrettyLine } from './pretty-line.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export type Logger = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error'>

/** `flush` resolves when every line is written, or nobody has read for this time. */
export type ProcessLogger = Logger & { flush(patienceMs: number): Promise<void> }

interface LoggerOptions {
  clock: Clock
  level?: LogLevel
  /** Lines for people instead of JSON. */
  pretty?: boolean
  /** Writes one whole line, including its line feed; the default is standard output. */
  write?: (line: string) => void
}

/** DEL, the C1 controls (0x9B starts an ANSI sequence) and the line separators, none of which JSON escapes. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g

export function createLogger({ clock, level = 'info', pretty = false, write }: LoggerOptions): ProcessLogger {
  const writer = write
    ? { write, flush: async () => {} }
    : createLogWriter((lost) =>
        lines.warn({ lost }, 'lines of the log were lost: nobody read standard output, or its disk was full'),
      )
  const lines = pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${clock.now().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => writer.write((pretty ? toPrettyLine(line) : line).replace(UNSAFE, escapeCharacter)) },
  )
  return {
    debug: lines.debug.bind(lines),
    info: lines.info.bind(lines),
    warn: lines.warn.bind(lines),
    error: lines.error.bind(lines),
    flush: writer.flush,
  }
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
