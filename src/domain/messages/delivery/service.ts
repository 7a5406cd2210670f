/** Decides which way a message leaves: by SMTP, by an SMS gateway, or with --dev into the built-in mailbox. */
import { systemClock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { MessageSender } from '../senders/sender.ts'
import { createSmsSender, type SmsSenderOptions } from '../sms-gateways/gateways.ts'
import { createEmailSender } from '../smtp/mail-servers.ts'

/** With a mailbox nothing goes outside. A channel without configuration refuses its messages. */
export function createSender(
  { smtp, sms, server }: Pick<Config, 'smtp' | 'sms' | 'server'>,
  mailbox: MessageSender | null,
  options: SmsSenderOptions = {},
): MessageSender {
  if (mailbox) return mailbox
  const email = createEmailSender({ smtp, server }, options.clock ?? systemClock)
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
