/** One attempt to send one claimed message: it starts the lifetime of the code, sends, and decides what follows. */

import type { Clock } from '../../../platform/clock.ts'
import { causeOf } from '../../../platform/failure.ts'
import { within } from '../../../platform/waiting.ts'
import { decoyDestination } from '../../foundation/decoys/decoys.ts'
import { type Metrics, noMetrics } from '../../foundation/metrics/metrics.ts'
import { type CodeBinding, SEED_BYTES } from '../codes/service.ts'
import type { SentCodePurpose } from '../codes/store.ts'
import { isCausedByStranger } from '../outbox/message.ts'
import type { FinalOutcome, MessageStore, PersonMessage, QueuedMessage } from '../outbox/store.ts'
import type { MessageSender, RenderedMessage, SendOutcome } from '../senders/sender.ts'
import type { Funnel } from '../sms-funnel/funnel.ts'
import type { RefusedAddresses } from './refused-addresses.ts'
import { createSendingLog, type DeliveryLogger } from './sending-log.ts'

type SentCodeBinding = Omit<CodeBinding, 'purpose'> & { purpose: SentCodePurpose }

/** The part of the codes that sending needs. */
export interface SendingCodes {
  /**
   * Starts the lifetime of the code: called before the first sending, and again if that was never recorded. It returns
   * false if this code was replaced or used and must not be sent. Throws if its store is away.
   */
  start(binding: SentCodeBinding, seed: Uint8Array): Promise<boolean>
  /** The six digits, or the 16 letters. */
  reveal(binding: SentCodeBinding, seed: Uint8Array): string
}

export interface DeliveryAttemptOptions {
  store: MessageStore
  codes: SendingCodes
  /**
   * Counts a message that a stranger caused, and gives the milliseconds that it must wait; 0 when it may go. Throws when
   * its store is away.
   */
  strangersWaitMs?(message: Pick<PersonMessage, 'channel' | 'codePurpose'>): Promise<number>
  /** config.codes.lifetimeSeconds: counted from the first attempt, it also ends the tries. */
  codeLifetimeSeconds: number
  /** Tells whether nothing is ever sent there. Throws when its store is away. */
  isForNobody?(destination: string): Promise<boolean>
  /** Remembers the addresses that a mail server refused. */
  refusedAddresses?: RefusedAddresses
  /** Counts what becomes of SMS. */
  funnel?: Pick<Funnel, 'count' | 'codeSent'>
  metrics?: Pick<Metrics, 'count' | 'observe'>
  /** Throws for a message that this version does not know. `minutes`: the remaining lifetime of its code. */
  render(message: PersonMessage, code: string | null, minutes: number): RenderedMessage
  sender: MessageSender
  /** Tells an application that a session of it ended. Absent: none is to be told. */
  tellApplication?(message: QueuedMessage): Promise<SendOutcome>
  clock: Clock
  logger: DeliveryLogger
  /** A sender that has not answered by then goes on, so that its outcome is unknown. */
  sendTimeoutMs?: number
  /** 0 to 1: spreads the retries. */
  random?: () => number
}

/** The delays after the 1st, 2nd, … failure; the last one repeats until the message ends. */
const RETRY_SECONDS = [2, 10, 30, 90, 240, 600, 1800, 3600]
/** Somebody waits for six digits. */
const LONGEST_DELAY_OF_DIGITS = 240
/** What carries neither code nor link is tried on for this long. */
const NOTICE_TRIES_MS = { email: 86_400_000, sms: 21_600_000, application: 86_400_000 }
/** A retry comes up to this share later. */
const JITTER = 0.2
const CODES_RETRY_MS = 1000
/** The messages that wait for their turn are spread over this time. */
const STRANGERS_RETRY_MS = 10_000
/**
 * A message is committed slightly before its code is stored. While the message is this young, "another code is stored" may
 * mean "ours is not stored yet" (retry); later it means "superseded".
 */
const YOUNG_MS = 5000
const YOUNG_RETRY_MS = 200

const isToPerson = (message: QueuedMessage): message is PersonMessage => message.channel !== 'application'

interface DeliveryAttemptResult {
  /** Records the result in the outbox; may throw, and is safe to repeat. */
  note(): Promise<void>
  /** It is null if it is never due, because it is finished. */
  dueAgainAt: Date | null
}

/** Never throws. */
type DeliveryAttempt = (message: QueuedMessage) => Promise<DeliveryAttemptResult>

export function createDeliveryAttempt(options: DeliveryAttemptOptions): DeliveryAttempt {
  const { store, codes, codeLifetimeSeconds, render, sender, clock, logger } = options
  const { strangersWaitMs, refusedAddresses } = options
  const { sendTimeoutMs = 90_000, random = Math.random } = options
  const nowMs = () => clock.now().getTime()
  const metrics = options.metrics ?? noMetrics
  const log = createSendingLog({ clock, logger, funnel: options.funnel, metrics })
  let codesAreAway = false

  return (message) => (isToPerson(message) ? attemptToPerson(message) : attemptToApplication(message))

  async function attemptToPerson(message: PersonMessage): Promise<DeliveryAttemptResult> {
    // Queued by an older version, which knew no lane for these.
    if (message.destination === decoyDestination)
      return { note: () => store.remove(message.id), dueAgainAt: null }
    const isForNobody = await options.isForNobody?.(message.destination).catch(() => null)
    if (isForNobody === null) return postpone(message, CODES_RETRY_MS)
    if (isForNobody) return { note: () => store.remove(message.id), dueAgainAt: null }
    const code = codeOf(message)
    const endsAtMs = endOf(message, code, codeLifetimeSeconds)
    const hindrance = code && endsAtMs !== null && (await reasonNotToSend(message, code, endsAtMs))
    if (hindrance) return hindrance
    if (await isRefusedToStranger(message)) return end(message, 'refused', 'address_refused')
    const wait = await waitOfStranger(message)
    if (wait) return wait
    const result = await send(message, code, endsAtMs)
    if (result.isAddressRefused) await refusedAddresses?.note(message.destination).catch(() => {})
    return conclude(message, result, endsAtMs)
  }

  /** Whether the application took it is known, or it takes it twice without harm. */
  async function attemptToApplication(message: QueuedMessage): Promise<DeliveryAttemptResult> {
    const untold: SendOutcome = { outcome: 'refused', detail: 'no_back_channel' }
    const told = options.tellApplication?.(message).catch((error): SendOutcome => {
      logger.error({ message_id: message.id, cause: causeOf(error) }, 'a message could not be sent')
      return { outcome: 'failed', detail: 'internal_error' }
    })
    return conclude(message, (await told) ?? untold, null)
  }

  function conclude(
    message: QueuedMessage,
    result: SendOutcome,
    endsAtMs: number | null,
  ): DeliveryAttemptResult {
    const { outcome, detail, reason } = result
    log.count(message, result)
    if (outcome !== 'failed') return finish(message, outcome, detail, result)
    const nextAttemptAt = nextAttempt(message, endsAtMs, nowMs(), random())
    if (nextAttemptAt === null) return end(message, 'expired', detail, result)
    log.note(message, outcome, detail, reason)
    const failure = { detail, reply: replyOf(result) }
    return { note: () => store.retry(message.id, nextAttemptAt, failure), dueAgainAt: nextAttemptAt }
  }

  function isForgotten(message: QueuedMessage, ageMs: number, endsAtMs: number): boolean {
    if (hasOwnEnd(message)) return endsAtMs <= nowMs()
    return message.attempts > 1 && ageMs >= codeLifetimeSeconds * 1000
  }

  /** Begins the life of the code before its first sending; not null where it must not go out (now). */
  async function reasonNotToSend(message: QueuedMessage, code: Code, endsAtMs: number) {
    if (code.seed.length !== SEED_BYTES) return endUnreadable(message)
    if (message.detail !== null) return endsAtMs > nowMs() ? null : end(message, 'expired', message.detail)
    // A process died while sending it, so it may have been sent and used; by now the store may have forgotten that.
    const ageMs = nowMs() - message.createdAt.getTime()
    if (isForgotten(message, ageMs, endsAtMs)) return end(message, 'expired', null)
    try {
      const isTheOne = await codes.start(code.binding, code.seed)
      if (codesAreAway) logger.info({}, 'the codes answer again')
      codesAreAway = false
      if (isTheOne) return null
    } catch (error) {
      // Logged once, and not for each of the messages that wait.
      if (!codesAreAway) logger.warn({ cause: causeOf(error) }, 'the codes do not answer')
      codesAreAway = true
      return postpone(message, CODES_RETRY_MS)
    }
    return ageMs < YOUNG_MS ? postpone(message, YOUNG_RETRY_MS) : end(message, 'replaced', null)
  }

  /** Its code would be another one than the one that was stored, and nobody could enter it. */
  function endUnreadable(message: QueuedMessage): DeliveryAttemptResult {
    metrics.count('unreadable_rows_total', { kind: 'code' })
    logger.error({ message_id: message.id }, UNREADABLE)
    return end(message, 'expired', 'code_unreadable')
  }

  async function isRefusedToStranger(message: QueuedMessage): Promise<boolean> {
    if (!isCausedByStranger(message) || message.channel !== 'email') return false
    return (await refusedAddresses?.isRefused(message.destination).catch(() => false)) ?? false
  }

  /** Messages that strangers cause are counted over the whole service, each of them once. It is null if it may go. */
  async function waitOfStranger(message: PersonMessage): Promise<DeliveryAttemptResult | null> {
    if (!isCausedByStranger(message) || message.detail !== null) return null
    const waitMs = (await strangersWaitMs?.(message).catch(() => CODES_RETRY_MS)) ?? 0
    if (waitMs === 0) return null
    const ageMs = nowMs() - message.createdAt.getTime()
    if (ageMs >= codeLifetimeSeconds * 1000) return end(message, 'expired', 'strangers_per_hour')
    return postpone(message, waitMs + random() * STRANGERS_RETRY_MS)
  }

  function postpone(message: QueuedMessage, ms: number): DeliveryAttemptResult {
    const dueAgainAt = new Date(nowMs() + ms)
    return { note: () => store.postpone(message.id, dueAgainAt, message.attempts - 1), dueAgainAt }
  }

  /** It ends without an answer of a gateway that is counted already. */
  function end(message: QueuedMessage, outcome: FinalOutcome, detail: string | null, result?: SendOutcome) {
    log.countEnd(message, outcome, result !== undefined)
    return finish(message, outcome, detail, result)
  }

  function finish(
    message: QueuedMessage,
    outcome: FinalOutcome,
    detail: string | null,
    result: Partial<SendOutcome> = {},
  ): DeliveryAttemptResult {
    log.note(message, outcome, detail, result.reason)
    const { gateway = null, providerId = null } = result
    const finished = { id: message.id, outcome, detail, reply: replyOf(result), gateway, providerId }
    return { note: () => store.finish({ ...finished, now: clock.now() }), dueAgainAt: null }
  }

  async function send(
    message: PersonMessage,
    code: Code | null,
    endsAtMs: number | null,
  ): Promise<SendOutcome> {
    try {
      const revealed = code && codes.reveal(code.binding, code.seed)
      const minutes = code === null || endsAtMs === null ? 0 : wholeMinutes(endsAtMs - nowMs())
      const rendered = render(message, revealed, minutes)
      return await within(sendTimeoutMs, sender.send(rendered), {
        outcome: 'unknown',
        detail: 'send_timeout',
      })
    } catch (error) {
      logger.error({ message_id: message.id, cause: causeOf(error) }, 'a message could not be sent')
      return { outcome: 'failed', detail: 'internal_error' }
    }
  }
}

const UNREADABLE =
  'the seed of a code was not read as it was written, so that its message is not sent: the row of the table messages is damaged'

/** It returns null if another attempt would come too late for the code or the link, or if the tries are over. */
function nextAttempt(
  message: QueuedMessage,
  endsAtMs: number | null,
  nowMs: number,
  random: number,
): Date | null {
  const { attempts, channel, firstAttemptAt } = message
  const delay = RETRY_SECONDS[Math.min(attempts, RETRY_SECONDS.length) - 1] as number
  const seconds = isOfDigits(message) ? Math.min(delay, LONGEST_DELAY_OF_DIGITS) : delay
  const atMs = nowMs + seconds * 1000 * (1 + JITTER * random)
  const isLast =
    endsAtMs === null ? nowMs >= firstAttemptAt.getTime() + NOTICE_TRIES_MS[channel] : atMs >= endsAtMs
  return isLast ? null : new Date(atMs)
}

const LONGEST_REPLY = 500

/** Returns the words of each server and gateway that did not take it. */
function replyOf({ reason, refusals = [] }: Partial<SendOutcome>): string | null {
  const each = refusals.flatMap((one) => (one.reason ? [`${one.gateway}: ${one.reason}`] : []))
  const said = each.length > 0 ? each.join('\n') : (reason ?? '')
  return said === '' ? null : said.slice(0, LONGEST_REPLY).toWellFormed()
}

/** A code of 16 letters, or a link, lives from when it was made until a time of its own. */
const hasOwnEnd = ({ values }: QueuedMessage) => values.expires_at !== undefined
const isOfDigits = (message: QueuedMessage) => message.codeSeed !== null && !hasOwnEnd(message)

/** The end of the code or the link that it carries; null for any other notice. */
function endOf(message: QueuedMessage, code: Code | null, lifetimeSeconds: number): number | null {
  if (hasOwnEnd(message)) return Date.parse(message.values.expires_at ?? '')
  return code && message.firstAttemptAt.getTime() + lifetimeSeconds * 1000
}

interface Code {
  binding: SentCodeBinding
  seed: Uint8Array
}

function codeOf(message: QueuedMessage): Code | null {
  const {
    codeSubject: subject,
    codePurpose: purpose,
    codeGroup: group,
    codeSeed: seed,
    destination,
  } = message
  if (subject === null || purpose === null || seed === null) return null
  return { binding: { subject, purpose, group, destination }, seed }
}

/** Rounded down, but for the moments that sending itself took; at least one. */
function wholeMinutes(ms: number): number {
  return Math.max(1, Math.floor((ms + 5000) / 60_000))
}
