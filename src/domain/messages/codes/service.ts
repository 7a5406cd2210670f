/**
 * One-time codes of six digits. A code is derived from a random seed and from what it is bound to (account, purpose,
 * destination), so that it is stored nowhere. The outbox stores the seed, the code store a keyed hash. Every attempt is
 * counted before it is compared, on the code and on the counters of the caller, also for subjects without an account.
 */

import { randomBytes } from 'node:crypto'
import type { Config } from '../../../platform/config/types.ts'
import type { Ground } from '../../../platform/ground.ts'
import type { Executor } from '../../../platform/postgres/database.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import { AppError } from '../../../texts/errors.ts'
import { decoySubject } from '../../foundation/decoys/decoys.ts'
import { channelOfDestination } from '../../foundation/identifiers/identifier.ts'
import { createPendingAttempts } from '../../foundation/limits/pending-attempts.ts'
import { type Metrics, noMetrics } from '../../foundation/metrics/metrics.ts'
import { isCodeOf, type TestIdentity } from '../../foundation/test-identities/service.ts'
import { type AttemptStore, IN_A_ROW } from './attempt-store.ts'
import { type Counted, type CountedAttempt, createCounting } from './counting.ts'
import { CODE_DIGITS, digitsOf } from './digits.ts'
import type { CodeKey, CodeResult, CodeStore, TriedKey } from './store.ts'

export const SEED_BYTES = 16

export interface CodeBinding extends CodeKey {
  /** The destination of the code, exactly as stored. */
  destination: string
}

/** The code that a typed one is compared with. */
type TriedCode = Omit<CodeBinding, 'group'> & TriedKey

/** The caller of an attempt, and the exceptions that hold for it. */
export interface Attempt extends Omit<Counted, 'subject' | 'purpose'> {
  /** The attempt counts on this, if that is not the subject of the code. */
  countsOn?: string
  /** A right code stays valid, since the call is refused for another reason. */
  keepsRight?: boolean
  /** The code of this one is right, as often as it comes, and no other. */
  test?: TestIdentity | null
  /** Other contacts of the account, to which the code may have gone as well. */
  others?: readonly string[]
}

interface Needs extends Pick<Ground, 'clock' | 'secret'> {
  stores: { codes: CodeStore; attempts: AttemptStore }
  config: Pick<Config, 'codes'>
  /** Called after a right code, and not waited for. `owner`: the account that it was sent to, or else its subject. */
  onRight?(code: Omit<CodeBinding, 'group'> & { owner: string }): void
  /** Called after each wrong one, and not waited for. */
  onWrong?(): Promise<void>
  metrics?: Pick<Metrics, 'count'>
}

/**
 * Called last in the transaction of a change: one that is refused must leave the codes, and those in Redis end at once and
 * do not come back. So the transaction waits for Redis, as no other does, with the account held for as long as a command
 * may take. Where Redis does not answer, nothing is changed.
 */
export type EndCodes = (transaction: Executor) => Promise<void>

export type CodeService = ReturnType<typeof createCodeService>

export function createCodeService(needs: Needs) {
  const { secret, clock, onRight, onWrong, metrics = noMetrics } = needs
  const { codes: store, attempts } = needs.stores
  const config = needs.config.codes
  const decoy = (...parts: string[]) => decoySubject(secret, ...parts)
  const countingOn = createCounting({ ...config, store: attempts, clock, decoy })
  const pending = createPendingAttempts()
  const { reveal, hash } = createDerivation(secret)
  const expiry = (now: Date) => new Date(now.getTime() + config.lifetimeSeconds * 1000)

  const holds = (tried: TriedCode, digits: string, orSpent = false) =>
    store.holds(tried, hash(tried, digits), config.attempts, clock.now(), orSpent)

  /**
   * The code with the destination from which the digits are right; the given one if they are right from none. A spent
   * code is found too, so that a parallel call with it does not count as a wrong attempt.
   */
  async function findSent(tried: TriedCode, digits: string, others: readonly string[]): Promise<TriedCode> {
    for (const destination of others) {
      const other = { ...tried, destination }
      if (await holds(other, digits, true)) return other
    }
    return tried
  }

  const countCompared = ({ purpose, destination }: TriedCode, result: CodeResult) =>
    metrics.count('codes_total', {
      purpose,
      channel: channelOfDestination(destination),
      stage: result === 'right' ? 'verified' : 'wrong',
    })

  /**
   * Compares with the code that was sent, of this or another group, and uses it up, in an attempt that was counted already;
   * compares with a decoy unless it `accepts` one.
   */
  async function compare(
    code: Omit<CodeBinding, 'group'>,
    typed: string,
    { caller, byAddress, countsOn, keepsRight = false, test = null, others = [] }: Attempt,
    accepts: boolean,
  ): Promise<CodeResult> {
    const digits = requireDigits(typed)
    const subject = accepts ? code.subject : decoy('closed', code.subject)
    const tried = { ...code, subject, group: byAddress ? null : caller.group }
    if (test !== null) return accepts && isCodeOf(test, digits) ? 'right' : 'wrong'
    const sent = await findSent(tried, digits, others)
    if (keepsRight && (await holds(sent, digits))) return 'right'
    const result = await store.take(sent, hash(sent, digits), config.attempts, clock.now())
    if (result === 'right')
      onRight?.({ ...code, destination: sent.destination, owner: countsOn ?? code.subject })
    if (accepts && result !== 'spent') countCompared(sent, result)
    return result
  }

  /**
   * Counts one attempt on the caller and lets `decide` decide it, by default with the code that was sent. It is counted,
   * then compared, and the count is on the disk before anybody hears of a refusal. Where it is not `allowed`, the work
   * must be the same and the result never right. What can be no code is no attempt. The counting is taken back if the code was right or spent, so
   * that parallel calls with one right code use up nothing. A refusal does not say why, except after too many attempts.
   */
  async function attempt(
    code: Omit<CodeBinding, 'group'>,
    typed: string,
    by: Attempt,
    decide = (allowed: boolean): Promise<CodeResult> => compare(code, typed, by, allowed),
  ): Promise<void> {
    requireDigits(typed)
    const { counter, count } = countingOn({
      ...by,
      subject: by.countsOn ?? code.subject,
      purpose: code.purpose,
    })
    let counted = null as CountedAttempt | null

    async function admit() {
      await counted?.refund(false)
      counted = await count()
      return counted.allowed ? counted : null
    }

    /** An error decides nothing: the counting is taken back, and those who wait for it ask again. */
    async function decideCounted({ allowed, refund, refusal }: CountedAttempt) {
      const [decided] = await Promise.allSettled([decide(allowed)])
      const result = decided.status === 'fulfilled' ? decided.value : 'failed'
      const refunded = result !== 'wrong'
      if (refunded) await refund(result === 'right')
      return { refunded, result, refusal: decided.status === 'fulfilled' ? refusal : () => decided.reason }
    }

    // One that is not allowed is compared all the same, with a decoy, unless another one is about to be refunded.
    const decided = (await pending.run(counter, admit, decideCounted)) ?? (await decideCounted(counted!))
    if (decided.result === 'right') return
    if (decided.result === 'wrong') void onWrong?.()
    if (decided.result !== 'failed') await attempts.makeLast()
    throw decided.refusal()
  }

  return {
    lifetimeSeconds: config.lifetimeSeconds,
    /** A new seed; its code is not valid before `put`. */
    createSeed: (): Uint8Array => randomBytes(SEED_BYTES),
    /**
     * Makes the code of this seed the valid one of its subject, purpose and group; an older one stops working. A code of
     * a later message that is stored already stays. `messageId` is null for a code without a message, or with one that
     * nothing competes with.
     */
    async put(binding: CodeBinding, seed: Uint8Array, messageId: number | null): Promise<void> {
      const now = clock.now()
      const code = { hash: hash(binding, reveal(binding, seed)), expiresAt: expiry(now), messageId }
      await store.put(binding, code, now)
    },
    /**
     * Called before the first sending: the lifetime begins now. Returns false if the code was replaced or used in the
     * meantime and must not be sent.
     */
    async start(binding: CodeBinding, seed: Uint8Array): Promise<boolean> {
      const now = clock.now()
      return store.start(binding, { hash: hash(binding, reveal(binding, seed)), expiresAt: expiry(now) }, now)
    },
    /** The six digits, for the message. */
    reveal,
    attempt,
    compare,
    /**
     * Gives what ends every code of the subject, also those whose message is still on its way, for the transaction of the
     * change after which none may be used.
     */
    ending:
      (subject: string): EndCodes =>
      async (transaction) => {
        const now = clock.now()
        // The code is not removed: a sending that finds no code would put its own there.
        await store.kill(subject, { hash: randomBytes(32), expiresAt: expiry(now) }, now, transaction)
      },
    /**
     * The decoy subject for an identifier without an account: the same keys and the same work, and no code is ever
     * right.
     */
    decoySubject: (identifierKey: string): string => decoy(identifierKey),
    ...createTries(needs, decoy),
  }
}

function requireDigits(typed: string): string {
  const digits = digitsOf(typed)
  if (digits === null) throw new AppError('invalid_code')
  return digits
}

/** Derives the six digits from a seed, and what is stored of them. */
function createDerivation(secret: ServerSecret) {
  /** 64 bits modulo a million: no code is more likely than another by more than one in 10¹³. */
  const reveal = ({ subject, purpose, destination }: CodeBinding, seed: Uint8Array): string =>
    (
      secret.tag('code digits', subject, purpose, destination, seed).readBigUInt64BE() %
      10n ** BigInt(CODE_DIGITS)
    )
      .toString()
      .padStart(CODE_DIGITS, '0')

  const hash = ({ subject, purpose, destination }: Omit<CodeBinding, 'group'>, digits: string) =>
    secret.tag('code hash', subject, purpose, destination, digits)

  return { reveal, hash }
}

/** What was tried in a session or at an account, beside the counting of one attempt. */
function createTries({ stores: { attempts }, config, clock }: Needs, decoy: (...parts: string[]) => string) {
  /** Counts a wrong password inside a session; true if there were so many in a row that the session must end. */
  const failInSession = async (sessionId: string): Promise<boolean> =>
    (await attempts.addInARow(passwordIn(sessionId), clock.now())) >= IN_A_ROW

  /** The right one. */
  const clearInSession = (sessionId: string): Promise<void> => attempts.clearInARow(passwordIn(sessionId))

  /**
   * Returns those of these accounts, or with null of everybody, at which somebody may try no more codes today, and until
   * when.
   */
  async function listClosed(accountUuids: string[] | null): Promise<{ accounts: string[]; until: Date }> {
    const now = clock.now()
    const until = new Date(now)
    until.setUTCHours(24, 0, 0, 0)
    return {
      accounts: await attempts.listClosed(accountUuids, { perDay: config.codes.attemptsPerDay }, now),
      until,
    }
  }

  /** Forgets every attempt at an account, and at the name by which strangers try it. */
  const forgetAttempts = (name: string, accountUuid: string | null): Promise<void> =>
    attempts.forget([decoy('named', name), ...(accountUuid === null ? [] : [accountUuid])])

  /** Called after a reset: it forgets what was tried today without a known device. */
  const clearDay = (accountUuid: string, purposes: string[]): Promise<void> =>
    attempts.clearDay(accountUuid, purposes, clock.now())

  return { failInSession, clearInSession, listClosed, forgetAttempts, clearDay }
}

const passwordIn = (sessionId: string) => ({
  subject: sessionId,
  group: 'owner' as const,
  factor: 'password',
})
