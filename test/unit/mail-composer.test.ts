/** What is written of an e-mail is what nodemailer's own composer writes of it. */
import { expect, test } from 'bun:test'
import MailComposer from 'nodemailer/lib/mail-composer'
import { messagePurposes } from '../../src/domain/messages/outbox/message.ts'
import { createSamples } from '../../src/domain/messages/rendering/sample-messages.ts'
import type { RenderedMessage } from '../../src/domain/messages/senders/sender.ts'
import { createComposer } from '../../src/domain/messages/smtp/compose.ts'
import { parseMailbox } from '../../src/platform/config/service-name.ts'
import { createCatalog } from '../../src/texts/catalog.ts'
import { builtInTags } from '../../src/texts/languages.ts'

const TO = 'ada@xn--bcher-kva.example'
const ID = '<a-7@auth.example.com>'
const DATE = new Date('2026-02-03T04:05:06Z')

const withoutBoundary = (mail: string) => mail.replaceAll(/--_[\w-]+?(?:-Part_1)?(?=--\r|\r|")/g, 'BOUNDARY')

async function expectSame(
  message: RenderedMessage,
  from = 'Acme <no-reply@example.com>',
  replyTo = null as string | null,
) {
  const { subject, text, html, language } = message
  const theirs = await new MailComposer({
    from: parseMailbox(from),
    ...(replyTo === null ? {} : { replyTo: parseMailbox(replyTo) }),
    to: { name: '', address: TO },
    subject,
    text,
    ...(html === null ? {} : { html }),
    messageId: ID,
    date: DATE,
    headers: { 'Auto-Submitted': 'auto-generated', 'Content-Language': language },
  })
    .compile()
    .build()
  const ours = createComposer({ from, replyTo })(message, TO, ID, DATE)
  const linesOf = (mail: Buffer) => {
    const lines = withoutBoundary(mail.toString('latin1')).split('\n')
    // A message of one part has the headers of that part in another order.
    return html === null ? lines.sort() : lines
  }
  expect(linesOf(ours)).toEqual(linesOf(theirs))
}

const config = {
  server: { baseUrl: 'https://auth.example.com' },
  smtp: null,
  sms: { autofillDomain: null },
  codes: { lifetimeSeconds: 600 },
  texts: { serviceName: 'Acme & Sons', logoUrl: null, support: null, colour: '#0f5f6b', layoutHtml: null },
} as never
const sample = createSamples(config, createCatalog({ language: 'en' }))

test.each(builtInTags)('every message in the language %s', async (language) => {
  for (const purpose of messagePurposes) await expectSame(sample(language, purpose, 'email'))
})

const plain = sample('en', 'confirmation', 'email')

test.each([
  ['é'],
  ['x'.repeat(200)],
  [`${'long words '.repeat(20)}é`],
  ['a line\r\nBcc: mallory@example.com'],
  ['=?UTF-8?Q?already?= "quoted" <angle> \u0007'],
  ['🔑'.repeat(60)],
  ['تأكيد حسابك لدى خدمة طويلة الاسم جدًا لا تنتهي في سطر واحد'],
])('the subject %p', (subject) => expectSame({ ...plain, subject }))

test.each([
  ['Acmé & Söhne <a@b.example>', 'Élan <reply@b.example>'],
  ['"Acme, Inc." <a@b.example>', 'help@b.example'],
  ['a@b.example', null],
  ['خدمة <a@bücher.example>', null],
])('from %p, answers to %p', (from, replyTo) => expectSame(plain, from, replyTo))

test.each([
  ['short\n', null],
  ['no end of its line', '<p>short</p>'],
  [`${'ends in blanks   \n'.repeat(3)}\té `, `<p>${'=é'.repeat(80)}</p>\n\n`],
  [`.\n..\nFrom me\n${'y'.repeat(1200)}`, `<p>${'y'.repeat(1200)}</p>`],
  ['🔑 '.repeat(50), `<p>${'مفتاح '.repeat(400)}</p>`],
])('the text %p with the page %p', (text, html) => expectSame({ ...plain, text, html }))
