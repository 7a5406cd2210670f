/**
 * One attempt to send one claimed message: begins the life of its code, sends, decides what follows. Its log holds
 * neither destination, text nor code.
 */
import type { Clock } from '../../platform/clock.ts'
import type { CodePurpose } from '../codes/store.ts'
import type { CallerGroup } from '../limits/callers.ts'
import { type MessageSender, NOBODY, type RenderedMessage, type SendOutcome } from './message.ts'
import type { FinalOutcome, MessageStore, QueuedMessage } from './store.ts'

export interface CodeBinding {
  subject: string
  purpose: CodePurpose
  group: CallerGroup
  destination: string
}

/** What sending needs of the codes. */
export interface SendingCodes {
  /**
   * The code's lifetime begins: called before the first sending, and again when that was never noted. False: this
   * code is no longer the one (replaced, used), do not send it. Throws when its store is away.
   */
  start(binding: CodeBinding, seed: Uint8Array): Promise<boolean>
  /** The six digits. */
  reveal(binding: CodeBinding, seed: Uint8Array): string
}

/** The part of a pino logger that is used. */
export interface DeliveryLogger {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

export interface AttemptOptions {
  store: MessageStore
  codes: SendingCodes
  /** config.codes.lifetimeSeconds: counted from the first attempt, it also ends the tries. */
  codeLifetimeSeconds: number
  /** Throws for a message this version does not know. `minutes`: how long its code will live. */
  render(message: QueuedMessage, code: string | null, minutes: number): RenderedMessage
  sender: MessageSender
  clock: Clock
  logger: DeliveryLogger
  /** A sender that has not answered by then counts as failed. */
  sendTimeoutMs?: number
  /** 0 to 1: spreads the retries. */
  random?: () => number
}

/** After the 1st, 2nd, … failure; the last one repeats while a code lives. A notice ends with the list. */
const RETRY_SECONDS = [2, 10, 30, 90, 240]
/** A retry comes up to this share later. */
const JITTER = 0.2
const CODES_RETRY_MS = 1000
/** A message is committed before its code lives: while it is this young, "not the one" may mean "not yet". */
const YOUNG_MS = 5000
const YOUNG_RETRY_MS = 200

export interface AttemptResult {
  /** Writes into the outbox what came of it: may throw, and is safe to repeat. */
  note(): Promise<void>
  /** Null: never, it is finished. */
  dueAgainAt: Date | null
}

/** Never throws. */
export type Attempt = (message: QueuedMessage) => Promise<AttemptResult>

export function createAttempt(options: AttemptOptions): Attempt {
  const { store, codes, codeLifetimeSeconds, render, sender, clock, logger } = options
  const { sendTimeoutMs = 90_000, random = Math.random } = options
  const nowMs = () => clock.now().getTime()
  let codesAreAway = false

  return async (message) => {
    const code = codeOf(message)
    const endsAtMs = code && message.firstAttemptAt.getTime() + codeLifetimeSeconds * 1000
    const hindrance = code && endsAtMs !== null && (await reasonNotToSend(message, code, endsAtMs))
    if (hindrance) return hindrance
    const { outcome, detail } = await send(message, code, endsAtMs)
    if (outcome !== 'failed') return end(message, outcome, detail)
    const nextAttemptAt = nextAttempt(message, endsAtMs)
    if (nextAttemptAt === null) return end(message, 'expired', detail)
    log(message, outcome, detail)
    return { note: () => store.retry(message.id, nextAttemptAt, detail), dueAgainAt: nextAttemptAt }
  }

  /** Begins the life of the code before its first sending; not null where it must not go out (now). */
  async function reasonNotToSend(
    message: QueuedMessage,
    code: Code,
    endsAtMs: number,
  ): Promise<AttemptResult | null> {
    if (message.detail !== null) return endsAtMs > nowMs() ? null : end(message, 'expired', message.detail)
    // A process died with it under way, so it may have been sent and used: by now the store may have forgotten that.
    const ageMs = nowMs() - message.createdAt.getTime()
    if (message.attempts > 1 && ageMs >= codeLifetimeSeconds * 1000) return end(message, 'expired', null)
    try {
      const isTheOne = await codes.start(code.binding, code.seed)
      if (codesAreAway) logger.info({}, 'the codes answer again')
      codesAreAway = false
      if (isTheOne) return null
    } catch (error) {
      // Once, not for each of the messages that wait meanwhile.
      if (!codesAreAway) logger.warn({ cause: causeOf(error) }, 'the codes do not answer')
      codesAreAway = true
      return postpone(message, CODES_RETRY_MS)
    }
    return ageMs < YOUNG_MS ? postpone(message, YOUNG_RETRY_MS) : end(message, 'replaced', null)
  }

  function postpone(message: QueuedMessage, ms: number): AttemptResult {
    const dueAgainAt = new Date(nowMs() + ms)
    return { note: () => store.postpone(message.id, dueAgainAt, message.attempts - 1), dueAgainAt }
  }

  function end(message: QueuedMessage, outcome: FinalOutcome, detail: string | null): AttemptResult {
    if (message.destination === NOBODY) return { note: () => store.remove(message.id), dueAgainAt: null }
    log(message, outcome, detail)
    return { note: () => store.finish(message.id, outcome, detail, clock.now()), dueAgainAt: null }
  }

  async function send(
    message: QueuedMessage,
    code: Code | null,
    endsAtMs: number | null,
  ): Promise<SendOutcome> {
    let timer: Timer | undefined
    try {
      const revealed = code && codes.reveal(code.binding, code.seed)
      const rendered = render(message, revealed, endsAtMs === null ? 0 : wholeMinutes(endsAtMs - nowMs()))
      if (message.destination === NOBODY) return { outcome: 'sent', detail: 'nobody' }
      const late = new Promise<SendOutcome>((resolve) => {
        timer = setTimeout(() => resolve({ outcome: 'failed', detail: 'send_timeout' }), sendTimeoutMs)
      })
      return await Promise.race([sender.send(rendered), late])
    } catch (error) {
      logger.error({ message_id: message.id, cause: causeOf(error) }, 'a message could not be sent')
      return { outcome: 'failed', detail: 'internal_error' }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Null: another try would come too late for the code, or the list is used up. */
  function nextAttempt(message: QueuedMessage, endsAtMs: number | null): Date | null {
    if (endsAtMs === null && message.attempts > RETRY_SECONDS.length) return null
    const seconds = RETRY_SECONDS[Math.min(message.attempts, RETRY_SECONDS.length) - 1] as number
    const atMs = nowMs() + seconds * 1000 * (1 + JITTER * random())
    return endsAtMs !== null && atMs >= endsAtMs ? null : new Date(atMs)
  }

  function log(message: QueuedMessage, outcome: FinalOutcome | 'failed', detail: string | null): void {
    const { id, channel, purpose, attempts, createdAt } = message
    const delay = nowMs() - createdAt.getTime()
    const fields = { message_id: id, channel, purpose, outcome, attempts, detail, delay_ms: delay }
    if (outcome === 'sent' || outcome === 'replaced') logger.info(fields, 'message')
    else logger.warn(fields, 'message')
  }
}

interface Code {
  binding: CodeBinding
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

/** Code or name of an error, never its message: that may hold what a person typed. */
export function causeOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown }
  return typeof code === 'string' ? code : typeof name === 'string' ? name : 'unknown'
}
