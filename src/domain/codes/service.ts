/**
 * One-time codes of six digits. A code is derived from a random seed and what it is bound to (account, purpose,
 * destination), so that it is stored nowhere: the outbox holds the seed, the code store a keyed hash. Every try is
 * counted before it is compared, on the code and on the counters of whoever tries, alike for subjects without account.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import type { ServerSecret } from '../../platform/secret.ts'
import type { Attempt, Attempts, Verdict } from '../attempts/service.ts'
import { type Caller, callerGroups } from '../limits/callers.ts'
import { type Metrics, noMetrics } from '../metrics/metrics.ts'
import { type CodeKey, type CodeStore, codePurposes, type TriedKey } from './store.ts'

export interface CodeBinding extends CodeKey {
  /** Where the code goes, exactly as stored. */
  destination: string
}

export interface CodeService {
  readonly lifetimeSeconds: number
  /** A fresh seed; the code it stands for does not live before `put`. */
  createSeed(): Uint8Array
  /**
   * The code of this seed becomes the one of its subject, purpose and group; an older one is dead. Where a later message's
   * stands there already, that one stays. `messageId` null: it goes out with none, or with one that has no rival.
   */
  put(binding: CodeBinding, seed: Uint8Array, messageId: number | null): Promise<void>
  /** At the first sending: the lifetime begins now. False: replaced or used meanwhile, it must not go out. */
  start(binding: CodeBinding, seed: Uint8Array): Promise<boolean>
  /** The six digits, for the message. */
  reveal(binding: CodeBinding, seed: Uint8Array): string
  /**
   * Consumes the code, or the one of another group. The attempt counts on the caller (see the room `attempts`), on
   * `countsOn` where that is not the subject of the binding. Throws `invalid_code` whatever the reason, and
   * `too_many_attempts`.
   */
  take(
    binding: CodeBinding,
    typed: string,
    by: { caller: Caller; name: string; countsOn?: string },
  ): Promise<void>
  /** Consumes the code in an attempt that was counted; on a decoy where that is not allowed. */
  compare(
    binding: Omit<CodeBinding, 'group'> & TriedKey,
    typed: string,
    attempt: Pick<Attempt, 'allowed'>,
  ): Promise<Verdict>
  /** Whatever codes the subject has are dead, also the ones whose message is still on its way. */
  kill(subject: string): Promise<void>
  /** The decoy of an identifier that has no account: same keys, same work, never a right code. */
  decoySubject(identifierKey: string): string
}

interface Options {
  store: CodeStore
  attempts: Pick<Attempts, 'run' | 'decoy'>
  secret: ServerSecret
  clock: Clock
  config: Config['codes']
  /** A code was right; nobody waits for what follows. */
  onRight?(binding: Omit<CodeBinding, 'group'>): void
  metrics?: Pick<Metrics, 'count'>
}

export function createCodeService(options: Options): CodeService {
  const { store, attempts, secret, clock, config, onRight, metrics = noMetrics } = options
  const expiry = (now: Date) => new Date(now.getTime() + config.lifetimeSeconds * 1000)

  /** 64 bits modulo a million: no digit is likelier than another by more than one in 10¹³. */
  const reveal = ({ subject, purpose, destination }: CodeBinding, seed: Uint8Array) =>
    (secret.tag('code digits', subject, purpose, destination, seed).readBigUInt64BE() % 1_000_000n)
      .toString()
      .padStart(6, '0')

  const hash = ({ subject, purpose, destination }: Omit<CodeBinding, 'group'>, digits: string) =>
    secret.tag('code hash', subject, purpose, destination, digits)

  /** People paste codes with spaces in them, not with pages of them. */
  const compare: CodeService['compare'] = async (binding, typed, { allowed }) => {
    const tried = allowed ? binding : { ...binding, subject: attempts.decoy('closed', binding.subject) }
    const digits = typed.length > 64 ? '' : typed.replace(/\s/g, '')
    const verdict = await store.take(tried, hash(tried, digits), config.attempts, clock.now())
    if (verdict === 'right') onRight?.(binding)
    if (allowed && verdict !== 'spent')
      metrics.count('codes_total', {
        purpose: binding.purpose,
        channel: channelOf(binding),
        stage: verdict === 'right' ? 'verified' : 'wrong',
      })
    return verdict
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
    take: (binding, typed, { caller, name, countsOn = binding.subject }) =>
      attempts.run({ caller, subject: countsOn, purpose: binding.purpose, name }, (attempt) =>
        compare({ ...binding, group: caller.group }, typed, attempt),
      ),
    compare,
    async kill(subject) {
      const now = clock.now()
      // Not removed: a sending that finds no code would put its own there.
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

const channelOf = ({ destination }: { destination: string }) =>
  destination.startsWith('+') ? 'sms' : 'email'
