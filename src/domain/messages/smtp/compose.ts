/**
 * Writes an e-mail as it goes over the wire (RFC 5322, 2045, 2047), with the encoders of nodemailer. Its own composer writes the
 * same, through a dozen streams for each message.
 */

import { parseMailbox } from '../../../platform/config/service-name.ts'
import type { SmtpConfig } from '../../../platform/config/types.ts'
import type { RenderedMessage } from '../senders/sender.ts'

const LINE = 76

/** `to`: one plain address, its domain in ASCII. `messageId` is in angle brackets. */
export type Compose = (message: RenderedMessage, to: string, messageId: string, date?: Date) => Buffer

export function createComposer({ from, replyTo }: Pick<SmtpConfig, 'from' | 'replyTo'>): Compose {
  // They come with the first message, as nodemailer does.
  const { foldLines, hasLongerLines, isPlainText } =
    require('nodemailer/lib/mime-funcs') as typeof import('nodemailer/lib/mime-funcs')
  const MimeNode = require('nodemailer/lib/mime-node') as typeof import('nodemailer/lib/mime-node').default
  const qp = require('nodemailer/lib/qp') as typeof import('nodemailer/lib/qp')
  const base64 = require('nodemailer/lib/base64') as typeof import('nodemailer/lib/base64')

  const header = (name: string, value: unknown) =>
    foldLines(`${name}: ${MimeNode.encodeHeaderValue(name, value as string)}`, LINE)
  const sender = header('From', parseMailbox(from))
  const repliesTo = replyTo === null ? [] : [header('Reply-To', parseMailbox(replyTo))]

  /** Its last two headers and its body. */
  function part(type: 'plain' | 'html', content: string): string[] {
    const [encoding, body] =
      isPlainText(content) && !hasLongerLines(content, LINE)
        ? ['7bit', content]
        : isMostlyLatin(content)
          ? ['quoted-printable', qp.wrap(qp.encode(content), LINE)]
          : ['base64', base64.wrap(base64.encode(content), LINE)]
    return [`Content-Type: text/${type}; charset=utf-8`, `Content-Transfer-Encoding: ${encoding}`, '', body]
  }

  return ({ language, subject, text, html }, to, messageId, date = new Date()) => {
    const headers = [
      // RFC 3834: no vacation replies, please.
      'Auto-Submitted: auto-generated',
      `Content-Language: ${language}`,
      sender,
      header('To', { name: '', address: to }),
      ...repliesTo,
      header('Subject', subject),
      header('Message-ID', messageId),
      header('Date', date),
      'MIME-Version: 1.0',
    ]
    if (html === null) return Buffer.from(endLine([...headers, ...part('plain', text)].join('\r\n')))
    const boundary = `--_${crypto.randomUUID()}`
    const parts = [part('plain', text), part('html', html)]
    const body = parts.map((lines) => `--${boundary}\r\n${lines.join('\r\n')}`).join('\r\n')
    headers.push('Content-Type: multipart/alternative;', ` boundary="${boundary}"`)
    return Buffer.from(`${headers.join('\r\n')}\r\n\r\n${body}\r\n--${boundary}--\r\n`)
  }
}

const endLine = (text: string) => (text.endsWith('\n') ? text : `${text}\r\n`)

/** Whether it has more Latin letters than other ones, each of which takes six bytes or more as quoted-printable. */
function isMostlyLatin(text: string): boolean {
  let [latin, others] = [0, 0]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code >= 0x80) others += 1
    else if ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) latin += 1
  }
  return others < latin
}
