/** The purpose of a message that arrived, as its reader tells it from its words. */

import type { MessagePurpose } from '../../src/domain/messages/outbox/message.ts'
import { serviceName } from '../../src/platform/config/service-name.ts'
import { fr } from '../../src/texts/fr.ts'
import { createTemplates, type MessageTemplate } from '../../src/texts/messages.ts'

const DIGITS = '000000'
const facts = {
  // The name stands in quotation marks; no subject names a passkey.
  passkey: '"Passkey"',
  service: serviceName({
    smtp: null,
    texts: { serviceName: null },
    server: { baseUrl: 'http://poterne' },
  } as never),
  minutes: 0,
}

/** Messages are sent with typographic apostrophes and spaces, which their templates do not have. */
const typed = (text: string) => text.replaceAll('’', "'").replace(/[\u00a0\u202f]/g, ' ')

/** The first sentence, without what differs from one message to the next. */
const plain = (text: string) =>
  typed(text)
    .replace(/(?<!\d)\d{6}(?!\d)/, DIGITS)
    .split('. ')[0]
    ?.trim() ?? ''

const templates = Object.entries(createTemplates(fr.messages, 'fr').messages) as [
  MessagePurpose,
  MessageTemplate,
][]
const bySubject = new Map(templates.map(([purpose, { subject }]) => [typed(subject(facts)), purpose]))
const bySms = new Map(templates.map(([purpose, { sms }]) => [plain(sms(facts, DIGITS)), purpose]))

/** It returns null for a message of no known form; only of those in French. */
export function purposeOf({ subject, text }: { subject: string; text: string }): MessagePurpose | null {
  return (subject === '' ? bySms.get(plain(text)) : bySubject.get(typed(subject))) ?? null
}
