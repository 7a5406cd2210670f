/**
 * One-time codes of six digits. A code is derived from a random seed and what it is bound to (account, purpose,
 * destination), so that it stands nowhere: the outbox holds the seed, the code store a keyed hash. Every try is
 * counted before it is compared, on the code and on the day's budget, alike for subjects that have no account.
 */
import { randomBytes } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import type { ServerSecret } from '../../platform/secret.ts'
import { callerGroups } from '../limits/callers.ts'
import { type BudgetKey, type CodeBudgetStore, type CodeKey, type CodeStore, codePurposes } from './store.ts'

export interface CodeBinding extends CodeKey {
  /** Where the code goes, exactly as stored. */
  destination: string
  /** Whose budget of the day its wrong tries count on, where that is not `subject`. */
  budgetSubject?: string
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
   * Consumes the code. Throws `invalid_code`, whatever the reason, or `too_many_attempts` when the day's wrong codes
   * of this subject and purpose are used up (NIST SP 800-63B-4 §3.2.2 bounds consecutive failures; ours are 20).
   */
  take(binding: CodeBinding, typed: string): Promise<void>
  /**
   * `take` for an identifier that anybody may type, and that may change hands: what is answered follows from the
   * tries with this identifier alone, so that it is the same before and after somebody registers it. The budget of
   * the subject holds beside, and unseen.
   */
  takeNamed(binding: CodeBinding, typed: string, identifierKey: string): Promise<void>
  /**
   * Counts a try of a code that is compared elsewhere on the day's budget, and gives what takes that back when it was
   * right. Throws `too_many_attempts`.
   */
  count(key: BudgetKey): Promise<() => Promise<void>>
  /**
   * The halves of `takeNamed`, for a try that may be a code of another kind too. `countNamed` counts it on the day's
   * budgets of the subject and of a name before anything is compared.
   */
  countNamed(key: BudgetKey, name: string): Promise<CountedTry>
  takeCounted(binding: CodeBinding, typed: string): Promise<boolean>
  /** Whatever codes the subject has are dead, also the ones whose message is still on its way. */
  kill(subject: string): Promise<void>
  /** The stand-in subject of an identifier that has no account: same keys, same work, never a right code. */
  decoySubject(identifierKey: string): string
}

export interface CountedTry {
  /** Whether the subject, and the name, may be tried any more today. */
  open: boolean
  namedOpen: boolean
  /** A subject that never has a code: to compare with, in the same work, where the true one may not be tried. */
  standIn: string
  /** `too_many_attempts` until the next day. */
  exhausted(): AppError
  /** It was right: takes the counting back. */
  giveBack(): Promise<void>
  /** It was not compared with the subject's code after all. */
  giveBackSubject(): Promise<void>
}

interface Options {
  store: CodeStore
  budgets: CodeBudgetStore
  secret: ServerSecret
  clock: Clock
  config: Config['codes']
  /** A code was right; nobody waits for what follows. */
  onRight?(binding: CodeBinding): void
}

export function createCodeService({ store, budgets, secret, clock, config, onRight }: Options): CodeService {
  const expiry = (now: Date) => new Date(now.getTime() + config.lifetimeSeconds * 1000)

  /** 64 bits modulo a million: no digit is likelier than another by more than one in 10¹³. */
  const reveal = ({ subject, purpose, destination }: CodeBinding, seed: Uint8Array) =>
    (secret.tag('code digits', subject, purpose, destination, seed).readBigUInt64BE() % 1_000_000n)
      .toString()
      .padStart(6, '0')

  const hash = ({ subject, purpose, destination }: CodeBinding, digits: string) =>
    secret.tag('code hash', subject, purpose, destination, digits)

  async function count(key: BudgetKey) {
    const now = clock.now()
    if (!(await budgets.reserve(key, config.attemptsPerDay, now))) throw exhausted(now)
    return () => budgets.release(key, now)
  }

  async function countNamed(key: BudgetKey, name: string): Promise<CountedTry> {
    const now = clock.now()
    const named = { subject: standIn('named', name), purpose: key.purpose }
    const both: [BudgetKey, BudgetKey] = [key, named]
    const [open, namedOpen] = await budgets.reserveTwo(both, config.attemptsPerDay, now)
    return {
      open,
      namedOpen,
      standIn: named.subject,
      exhausted: () => exhausted(now),
      giveBack: () => budgets.releaseTwo(both, now),
      giveBackSubject: () => budgets.release(key, now),
    }
  }

  const exhausted = (now: Date) =>
    new AppError('too_many_attempts', { retryAfterSeconds: secondsToMidnight(now) })

  /** In the form of a uuid (version 8). */
  function standIn(...parts: string[]): string {
    const bytes = secret.tag('code decoy', ...parts)
    bytes[6] = (bytes[6]! & 0x0f) | 0x80
    bytes[8] = (bytes[8]! & 0x3f) | 0x80
    return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  }

  /** People paste codes with spaces in them, not with pages of them. */
  const takeCounted = async (binding: CodeBinding, typed: string) => {
    const digits = typed.length > 64 ? '' : typed.replace(/\s/g, '')
    const verdict = await store.take(binding, hash(binding, digits), config.attempts, clock.now())
    if (verdict === 'right') onRight?.(binding)
    return verdict === 'right'
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
    async take(binding, typed) {
      const { subject, budgetSubject = subject, purpose } = binding
      const giveBack = await count({ subject: budgetSubject, purpose })
      if (!(await takeCounted(binding, typed))) throw new AppError('invalid_code')
      await giveBack()
    },
    async takeNamed(binding, typed, identifierKey) {
      const { subject, purpose, budgetSubject = subject } = binding
      const counted = await countNamed({ subject: budgetSubject, purpose }, identifierKey)
      const tried = counted.open ? binding : { ...binding, subject: counted.standIn }
      if (!(await takeCounted(tried, typed))) {
        throw counted.namedOpen ? new AppError('invalid_code') : counted.exhausted()
      }
      await counted.giveBack()
    },
    count,
    countNamed,
    takeCounted,
    async kill(subject) {
      const now = clock.now()
      // Not removed: a sending that finds no code would put its own there.
      await Promise.all(
        codePurposes.flatMap((purpose) =>
          callerGroups.map((group) =>
            store.put({ subject, purpose, group }, { hash: randomBytes(32), expiresAt: expiry(now) }, now),
          ),
        ),
      )
    },
    decoySubject: (identifierKey) => standIn(identifierKey),
  }
}

/** Budgets are by the day in UTC. */
function secondsToMidnight(now: Date): number {
  return 86_400 - (Math.floor(now.getTime() / 1000) % 86_400)
}
