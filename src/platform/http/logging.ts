/**
 * The log: one JSON object for each line on standard output. Lines are read by machines and in terminals, so nothing in
 * them can end a line or control a terminal. The calling thread writes them (no worker), so that it works compiled.
 */
import pino from 'pino'
import type { Clock } from '../clock.ts'
import { toPrettyLine } from './pretty-line.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

export type Logger = Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error'>

export interface LoggerOptions {
  clock: Clock
  level?: LogLevel
  /** Lines for people instead of JSON. */
  pretty?: boolean
  /** Writes one whole line, including its line feed; the default is standard output. */
  write?: (line: string) => void
}

/** DEL, the C1 controls (0x9B starts an ANSI sequence) and the line separators, none of which JSON escapes. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]/g

export function createLogger({
  clock,
  level = 'info',
  pretty = false,
  write = writeToStandardOutput(),
}: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"time":"${clock.now().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => write((pretty ? toPrettyLine(line) : line).replace(UNSAFE, escapeCharacter)) },
  )
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * The lines of one turn of the event loop are written together: under load, a system call for each line would cost as
 * much as rotating a token. A closed standard output (a broken pipe) must not end the service.
 */
function writeToStandardOutput(): (line: string) => void {
  const destination = pino.destination({ fd: 1, sync: true })
  destination.on('error', () => {})
  let lines = ''
  const flush = () => {
    if (lines === '') return
    const together = lines
    lines = ''
    destination.write(together)
  }
  process.on('exit', flush)
  return (line) => {
    if (lines === '') setImmediate(flush)
    lines += line
  }
}
