/** Decides which way a message leaves: by SMTP, by an SMS gateway, or with --dev into the built-in mailbox. */
import { systemClock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { MessageSender, RenderedMessage, SendOutcome } from '../senders/sender.ts'
import { createSmsSender, type SmsSenderOptions } from '../sms-gateways/gateways.ts'
import { createEmailSender } from '../smtp/mail-servers.ts'

/** A failure counts for a minute, within which the message is tried again. */
const LATE_MS = 60_000
/** A mail server that answers may have something against one recipient alone. */
const REPLY = /^smtp_\d/

/** With a mailbox nothing goes outside. A channel without configuration refuses its messages. */
export function createSender(
  { smtp, sms, server }: Pick<Config, 'smtp' | 'sms' | 'server'>,
  mailbox: MessageSender | null,
  options: SmsSenderOptions = {},
): MessageSender {
  if (mailbox) return mailbox
  const clock = options.clock ?? systemClock
  const email = createEmailSender({ smtp, server }, clock)
  const text = createSmsSender(sms.gateways, options)
  const lateUntilMs = { email: 0, sms: 0 }
  const nowMs = () => clock.now().getTime()

  async function send(message: RenderedMessage): Promise<SendOutcome> {
    if (message.channel === 'sms') return text.send(message)
    return email ? email.send(message) : { outcome: 'refused', detail: 'no_smtp' }
  }

  return {
    async send(message) {
      const result = await send(message)
      if (result.outcome !== 'failed') lateUntilMs[message.channel] = 0
      else if (!REPLY.test(result.detail)) lateUntilMs[message.channel] = nowMs() + LATE_MS
      return result
    },
    isLate: (channel) => nowMs() < lateUntilMs[channel],
    async close() {
      await Promise.all([email?.close(), text.close()])
    },
  }
}
