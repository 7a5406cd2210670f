/** Which way a message leaves: by SMTP, by an SMS gateway, or with --dev into the built-in mailbox. */
import { readFileSync } from 'node:fs'
import type { Config } from '../../platform/config/types.ts'
import type { MessageSender } from './message.ts'
import { createSmsSender, type SmsSenderOptions } from './sms.ts'
import { createSmtpSender } from './smtp.ts'

/** With a mailbox nothing goes outside. A channel without configuration refuses its messages. */
export function createSender(
  { smtp, sms, server }: Pick<Config, 'smtp' | 'sms' | 'server'>,
  mailbox: MessageSender | null,
  options: SmsSenderOptions = {},
): MessageSender {
  if (mailbox) return mailbox
  const ca = smtp?.caFile ? { ca: readFileSync(smtp.caFile, 'utf8') } : {}
  const email = smtp && createSmtpSender({ smtp, baseUrl: server.baseUrl, ...ca })
  const text = createSmsSender(sms.gateways, options)
  return {
    async send(message) {
      if (message.channel === 'sms') return text.send(message)
      return email ? email.send(message) : { outcome: 'refused', detail: 'no_smtp' }
    },
    async close() {
      await Promise.all([email?.close(), text.close()])
    },
  }
}
