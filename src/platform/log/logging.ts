/**
 * The log: one JSON object for each line on standard output. Lines are read by machines and in terminals, so nothing in
 * them can end a line or control a terminal. The calling thread writes them (no worker), so that it works compiled.
 */
import pino from 'pino'
import type { Clock } from '../clock.ts'
import { createLogWriter } from './log-writer.ts'

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

/** Shown by place and not by name. */
const PLACED = new Set(['level', 'time', 'msg', 'method', 'route', 'status', 'duration_ms'])

/**
 * One line for people: the time, the level, what happened, then everything else as `name=value`. `line` is a line of JSON;
 * the result can neither end a line early nor steer a terminal.
 */
function toPrettyLine(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>
  const { level, time, msg, method, route, status, duration_ms: duration } = entry
  const request = method && [method, route ?? '(no route)', status, `${duration} ms`].join(' ')
  const rest = Object.entries(entry)
    .filter(([name, value]) => !PLACED.has(name) && value !== null)
    .map(([name, value]) => `${name}=${shown(value)}`)
  const parts = [String(time).slice(11, 19), String(level).padEnd(5), request, msg, ...rest]
  return `${parts
    .filter(Boolean)
    .join(' ')
    .replace(/\p{Cc}/gu, ' ')}\n`
}

/** Addresses stay without quotes, so that a terminal makes links of them. */
function shown(value: unknown): string {
  return typeof value === 'string' && /^[\w.,:/@+#?&=%()-]+$/.test(value) ? value : JSON.stringify(value)
}
