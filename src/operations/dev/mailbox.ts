/**
 * Messages land here with --dev: the newest ones, for people and tests to read. They are kept in a file, so that a
 * restart does not lose a code that somebody is about to type. Never used outside --dev.
 */
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { RenderedMessage, SendOutcome } from '../../domain/messages/senders/sender.ts'
import type { Clock } from '../../platform/clock.ts'

/** Field names as in `GET /dev/mailbox.json`. */
export interface MailboxEntry extends Omit<RenderedMessage, 'html' | 'minutes'> {
  /** ISO 8601, UTC: when it landed here. */
  created_at: string
}

/** What somebody looks for; null where anything will do. */
export interface MailboxWish {
  /** In lower case. */
  to: string | null
  purpose: string | null
  /** The number of the last message that they know. */
  after: number
  /** How long they wait for one where there is none. */
  waitMs: number
}

interface KeptEntry {
  entry: MailboxEntry
  /** The HTML part; null for an SMS. */
  html: string | null
}

export type Mailbox = ReturnType<typeof createMailbox>

const CAPACITY = 200

/** `file` null: in memory only. A line of the file is one message; a line that cannot be read is skipped. */
export function createMailbox(clock: Clock, file: string | null = null) {
  let kept: KeptEntry[] = file !== null && existsSync(file) ? readKept(file) : []
  let linesInFile = 0
  let arrival = Promise.withResolvers<void>()
  // A line that a crash cut short would otherwise swallow the next one.
  if (file !== null) writeAll(file)

  function append(one: KeptEntry): void {
    if (file === null) return
    linesInFile += 1
    if (linesInFile <= 2 * CAPACITY) appendFileSync(file, `${JSON.stringify(one)}\n`, { mode: 0o600 })
    else writeAll(file)
  }

  function writeAll(to: string): void {
    const lines = kept.toReversed().map((one) => `${JSON.stringify(one)}\n`)
    writeFileSync(to, lines.join(''), { mode: 0o600 })
    linesInFile = lines.length
  }

  const fitting = ({ to, purpose, after }: MailboxWish) =>
    kept
      .map(({ entry }) => entry)
      .filter(
        (entry) =>
          entry.id > after &&
          (to === null || entry.to.toLowerCase() === to) &&
          (purpose === null || entry.purpose === purpose),
      )

  return {
    async send(message: RenderedMessage): Promise<SendOutcome> {
      const { id, channel, to, purpose, language, subject, text, html, code } = message
      const created_at = clock.now().toISOString()
      const one = { entry: { id, channel, to, purpose, language, subject, text, code, created_at }, html }
      kept = [one, ...kept].slice(0, CAPACITY)
      append(one)
      arrival.resolve()
      arrival = Promise.withResolvers()
      return { outcome: 'sent', detail: 'mailbox' }
    },
    /** Newest first. */
    list: (): MailboxEntry[] => kept.map(({ entry }) => entry),
    /** The same of those that fit; waits where there are none yet. */
    async find(wish: MailboxWish): Promise<MailboxEntry[]> {
      const late = Bun.sleep(wish.waitMs).then(() => 'late' as const)
      for (;;) {
        const found = fitting(wish)
        if (found.length > 0 || (await Promise.race([arrival.promise, late])) === 'late') return found
      }
    },
    /** The HTML part of a message; null where there is no such message, or it has none. */
    findHtml: (id: number): string | null => kept.find(({ entry }) => entry.id === id)?.html ?? null,
    clear(): void {
      kept = []
      if (file !== null) writeAll(file)
    },
    async close(): Promise<void> {},
  }
}

function readKept(file: string): KeptEntry[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .map(parseLine)
    .filter((one) => one !== null)
    .slice(-CAPACITY)
    .reverse()
}

/** It returns null for a line that a crash cut short. */
function parseLine(line: string): KeptEntry | null {
  try {
    const one: unknown = JSON.parse(line)
    return typeof one === 'object' && one !== null && 'entry' in one ? (one as KeptEntry) : null
  } catch {
    return null
  }
}
