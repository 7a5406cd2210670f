/** Where messages land with --dev: in memory, the newest ones, for people and tests to read. Never outside --dev. */
import type { Clock } from '../../platform/clock.ts'
import type { Language } from '../../texts/languages.ts'
import type { Channel, MessagePurpose, MessageSender } from './message.ts'

/** Field names as in `GET /dev/mailbox.json`. */
export interface MailboxEntry {
  id: number
  channel: Channel
  to: string
  purpose: MessagePurpose
  language: Language
  subject: string
  text: string
  code: string | null
  /** ISO 8601, UTC: when it landed here. */
  created_at: string
}

export interface Mailbox extends MessageSender {
  /** Newest first. */
  list(): MailboxEntry[]
}

const CAPACITY = 200

export function createMailbox(clock: Clock): Mailbox {
  const entries: MailboxEntry[] = []
  return {
    async send({ id, channel, to, purpose, language, subject, text, code }) {
      const created_at = clock.now().toISOString()
      entries.unshift({ id, channel, to, purpose, language, subject, text, code, created_at })
      entries.splice(CAPACITY)
      return { outcome: 'sent', detail: 'mailbox' }
    },
    list: () => [...entries],
    async close() {},
  }
}
