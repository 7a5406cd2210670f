/**
 * The lines of the log and the counts for each sending. The log lines contain the request and the account that the
 * message belongs to, but neither destination, text nor code.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { FinalOutcome, QueuedMessage } from '../outbox/store.ts'
import type { Refusal, SendOutcome } from '../senders/sender.ts'
import type { Funnel } from '../sms-funnel/funnel.ts'

/** The part of a pino logger that is used. */
export interface DeliveryLogger {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

interface Options {
  clock: Clock
  logger: DeliveryLogger
  metrics: Pick<Metrics, 'count' | 'observe'>
  funnel: Pick<Funnel, 'count' | 'codeSent'> | undefined
}

export function createSendingLog({ clock, logger, metrics, funnel }: Options) {
  const ageMs = ({ createdAt }: QueuedMessage) => clock.now().getTime() - createdAt.getTime()

  /**
   * It is logged even if another gateway took the message afterwards: otherwise the operator would not learn of the
   * refusal.
   */
  function logRefusal(message: QueuedMessage, refusal: Refusal): void {
    logger.warn({ ...namesOf(message), ...refusal }, 'a gateway did not take a message')
  }

  /** Each gateway that was asked counts, also one whose message another one took. */
  function countSending(message: QueuedMessage, { outcome, detail, refusals = [] }: SendOutcome): void {
    const { channel, codeSeed, codePurpose } = message
    for (const refusal of refusals)
      metrics.count('messages_total', { channel, gateway: refusal.gateway, outcome: refusal.outcome })
    // The server that took it is in `detail`. A mail server that is alone lists no refusals of its own.
    const alone = channel === 'email' && detail !== 'no_smtp' ? 'smtp' : ''
    const gateway = outcome === 'sent' ? detail : alone
    if (outcome === 'sent' || refusals.length === 0)
      metrics.count('messages_total', { channel, gateway, outcome })
    if (outcome !== 'sent') return
    metrics.observe('message_delay_seconds', Math.max(0, ageMs(message)) / 1000)
    if (codeSeed !== null && codePurpose !== null)
      metrics.count('codes_total', { purpose: codePurpose, channel, stage: 'sent' })
  }

  function countSms({ destination, detail, codeSeed }: QueuedMessage, result: SendOutcome): void {
    const { gateway, refusals = [] } = result
    if (detail === null) funnel?.count('asked', destination)
    if (result.outcome === 'refused') funnel?.count('given_up', destination)
    for (const { gateway: name, outcome } of refusals) {
      funnel?.count('handed_over', destination, name)
      if (outcome === 'unknown') funnel?.count('unknown', destination, name)
    }
    if (gateway === undefined) return
    funnel?.count('handed_over', destination, gateway)
    funnel?.count('accepted', destination, gateway)
    if (codeSeed !== null) funnel?.codeSent(destination)
  }

  return {
    /** Logs what became of the message. */
    note(message: QueuedMessage, outcome: FinalOutcome | 'failed', detail: string | null, reason?: string) {
      const { channel, purpose, attempts } = message
      const fields = {
        ...namesOf(message),
        ...{ channel, purpose, outcome, attempts, detail, delay_ms: ageMs(message) },
        ...(reason === undefined ? {} : { reason }),
      }
      if (outcome === 'sent' || outcome === 'replaced') logger.info(fields, 'message')
      else logger.warn(fields, 'message')
    },
    /** Counts the answers of the gateways, and logs their refusals. */
    count(message: QueuedMessage, result: SendOutcome): void {
      for (const refusal of result.refusals ?? []) logRefusal(message, refusal)
      countSending(message, result)
      if (message.channel === 'sms') countSms(message, result)
    },
    /** Counts a message that ends without a last answer; `wasTried`: this attempt had one that failed. */
    countEnd({ channel, destination, detail }: QueuedMessage, outcome: FinalOutcome, wasTried: boolean) {
      metrics.count('messages_total', { channel, gateway: '', outcome })
      if (channel !== 'sms' || outcome === 'replaced') return
      // A code that no gateway was asked to send was asked for all the same.
      if (!wasTried && detail === null) funnel?.count('asked', destination)
      funnel?.count('given_up', destination)
    },
  }
}

/** The fields by which a log line about a message is found: the request that caused it, and its account. */
const namesOf = ({ id, requestId, accountUuid, codeSubject }: QueuedMessage) => ({
  message_id: id,
  request_id: requestId,
  account: accountUuid ?? codeSubject,
})
