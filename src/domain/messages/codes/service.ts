/**
 * One-time codes of six digits. A code is derived from a random seed and from what it is bound to (account, purpose,
 * destination), so that it is stored nowhere. The outbox stores the seed, the code store a keyed hash. Every attempt is
 * counted before it is compared, on the code and on the counters of the caller, also for subjects without an account.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import { type Metrics, noMetrics } from '../../foundation/metrics/metrics.ts'
import { isCodeOf, type TestIdentity } from '../../foundation/test-identities/service.ts'
import type { Attempt, Attempts, CodeResult, Tried } from '../../limits/attempts/service.ts'
import { callerGroups } from '../../limits/limits/callers.ts'
import { type CodeKey, type CodeStore, codePurposes, type TriedKey } from './store.ts'

export const CODE_DIGITS = 6

export interface CodeBinding extends CodeKey {
  /** The destination of the code, exactly as stored. */
  destination: string
}

/** The code that a typed one is compared with. */
type TriedBinding = Omit<CodeBinding, 'group'> & TriedKey

export interface CodeService {
  readonly lifetimeSeconds: number
  /** A new seed; its code is not valid before `put`. */
  createSeed(): Uint8Array
  /**
   * Makes the code of this seed the valid one of its subject, purpose and group; an older one stops working. A code of
   * a later message that is stored already stays. `messageId` is null for a code without a message, or with one that
   * nothing competes with.
   */
  put(binding: CodeBinding, seed: Uint8Array, messageId: number | null): Promise<void>
  /**
   * Called before the first sending: the lifetime begins now. Returns false if the code was replaced or used in the
   * meantime and must not be sent.
   */
  start(binding: CodeBinding, seed: Uint8Array): Promise<boolean>
  /** The six digits, for the message. */
  reveal(binding: CodeBinding, seed: Uint8Array): string
  /**
   * Uses up the code, or the one of another group. The attempt is counted on the caller (see the room `attempts`), on
   * `countsOn` if that is not the subject of the binding. `keepsRight`: a right code stays valid. A refusal does not
   * say why, except after too many attempts.
   */
  take(
    binding: CodeBinding,
    typed: string,
    by: Pick<Tried, 'caller' | 'name' | 'eachAddress' | 'boundByName'> & {
      countsOn?: string
      keepsRight?: boolean
      test?: TestIdentity | null
    },
  ): Promise<void>
  /**
   * Uses up the code in an attempt that was counted already; compares with a decoy if that is not allowed. `keepsRight`:
   * a right code stays valid, since the call is refused for another reason. `test`: the code of this one is right, as
   * often as it comes, and no other.
   */
  compare(
    binding: TriedBinding,
    typed: string,
    attempt: Pick<Attempt, 'allowed'> & {
      keepsRight?: boolean
      test?: TestIdentity | null
      /** Other contacts of the account, to which the code may have gone as well. */
      others?: readonly string[]
    },
  ): Promise<CodeResult>
  /** Ends every code of the subject, also those whose message is still on its way. */
  kill(subject: string): Promise<void>
  /**
   * The decoy subject for an identifier without an account: the same keys and the same work, and no code is ever
   * right.
   */
  decoySubject(identifierKey: string): string
}

interface Options {
  store: CodeStore
  attempts: Pick<Attempts, 'run' | 'decoy'>
  secret: ServerSecret
  clock: Clock
  config: Config['codes']
  /** Called after a right code, and not waited for. */
  onRight?(binding: Omit<CodeBinding, 'group'>): void
  metrics?: Pick<Metrics, 'count'>
}

export function createCodeService(options: Options): CodeService {
  const { store, attempts, secret, clock, config, onRight, metrics = noMetrics } = options
  const expiry = (now: Date) => new Date(now.getTime() + config.lifetimeSeconds * 1000)

  /** 64 bits modulo a million: no code is more likely than another by more than one in 10¹³. */
  const reveal = ({ subject, purpose, destination }: CodeBinding, seed: Uint8Array) =>
    (
      secret.tag('code digits', subject, purpose, destination, seed).readBigUInt64BE() %
      10n ** BigInt(CODE_DIGITS)
    )
      .toString()
      .padStart(CODE_DIGITS, '0')

  const hash = ({ subject, purpose, destination }: Omit<CodeBinding, 'group'>, digits: string) =>
    secret.tag('code hash', subject, purpose, destination, digits)

  const holds = (tried: TriedBinding, digits: string, orSpent = false) =>
    store.holds(tried, hash(tried, digits), config.attempts, clock.now(), orSpent)

  /**
   * The binding with the destination from which the digits are right; the given one if they are right from none. A spent
   * code is found too, so that a parallel call with it does not count as a wrong attempt.
   */
  async function findSent(
    tried: TriedBinding,
    digits: string,
    others: readonly string[],
  ): Promise<TriedBinding> {
    for (const destination of others) {
      const other = { ...tried, destination }
      if (await holds(other, digits, true)) return other
    }
    return tried
  }

  const compare: CodeService['compare'] = async (
    binding,
    typed,
    { allowed, keepsRight = false, test = null, others = [] },
  ) => {
    const tried = allowed ? binding : { ...binding, subject: attempts.decoy('closed', binding.subject) }
    const digits = digitsOf(typed)
    if (test !== null) return allowed && isCodeOf(test, digits) ? 'right' : 'wrong'
    const sent = await findSent(tried, digits, others)
    if (keepsRight && (await holds(sent, digits))) return 'right'
    const result = await store.take(sent, hash(sent, digits), config.attempts, clock.now())
    if (result === 'right') onRight?.({ ...binding, destination: sent.destination })
    if (allowed && result !== 'spent')
      metrics.count('codes_total', {
        purpose: binding.purpose,
        channel: channelOf(sent),
        stage: result === 'right' ? 'verified' : 'wrong',
      })
    return result
  }

  return {
    lifetimeSeconds: config.lifetimeSeconds,
    createSeed: () => randomBytes(16),
    async put(binding, seed, messageId) {
      const now = clock.now()
      const code = { hash: hash(binding, reveal(binding, seed)), expiresAt: expiry(now), messageId }
      await store.put(binding, code, now)
    },
    async start(binding, seed) {
      const now = clock.now()
      return store.start(binding, { hash: hash(binding, reveal(binding, seed)), expiresAt: expiry(now) }, now)
    },
    reveal,
    take: (binding, typed, { countsOn = binding.subject, keepsRight = false, test = null, ...by }) =>
      attempts.run({ ...by, subject: countsOn, purpose: binding.purpose }, ({ allowed }) =>
        compare({ ...binding, group: by.caller.group }, typed, { allowed, keepsRight, test }),
      ),
    compare,
    async kill(subject) {
      const now = clock.now()
      // The code is not removed: a sending that finds no code would put its own there.
      await Promise.all(
        codePurposes.flatMap((purpose) =>
          callerGroups.map((group) =>
            store.kill({ subject, purpose, group }, { hash: randomBytes(32), expiresAt: expiry(now) }, now),
          ),
        ),
      )
    },
    decoySubject: (identifierKey) => attempts.decoy(identifierKey),
  }
}

/** People paste codes with spaces in them, but not whole pages. */
const digitsOf = (typed: string) => (typed.length > 64 ? '' : typed.replace(/\s/g, ''))

const channelOf = ({ destination }: { destination: string }) =>
  destination.startsWith('+') ? 'sms' : 'email'
