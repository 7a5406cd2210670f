/**
 * The one-time codes, in Redis or in an unlogged table. There is at most one code for each subject, purpose and group,
 * and `put` replaces only the one of its own group. The contract suite holds both stores to this promise. `take`
 * compares with the codes of all groups and counts a wrong attempt only on the code of its own group, in one step. So
 * nobody's attempts end somebody else's code. Of any number of callers with the right hash exactly one gets `right`. A
 * code ends after `attempts` wrong attempts, when it expires, and when it is used; every code has an expiry.
 */
import type { Executor } from '../../../platform/postgres/database.ts'
import { type CallerGroup, callerGroups } from '../../foundation/limits/callers.ts'

export const codePurposes = [
  'confirmation',
  /** Signing in by a code alone. */
  'login_code',
  /** The second step of a sign-in. */
  'two_factor',
  /** The second factor of a call inside a session. */
  'step_up',
  'password_reset',
  'email_change',
  'phone_change',
  'two_factor_enrolment',
] as const
export type CodePurpose = (typeof codePurposes)[number]

/** Codes of 16 letters that an administrator has made for an account: see the room `account-codes`. */
export const accountCodeKinds = ['recovery', 'invitation'] as const
export type AccountCodeKind = (typeof accountCodeKinds)[number]

/** The purposes of messages that carry a code. */
export const sentCodePurposes = [...codePurposes, ...accountCodeKinds] as const
export type SentCodePurpose = (typeof sentCodePurposes)[number]

export interface CodeKey {
  /** The account's uuid, or a decoy of the same form for an identifier without account. */
  subject: string
  purpose: CodePurpose
  /** The group that asked for the code. */
  group: CallerGroup
}

/** Every code that a subject may have. */
export const codeSlots: readonly Omit<CodeKey, 'subject'>[] = codePurposes.flatMap((purpose) =>
  callerGroups.map((group) => ({ purpose, group })),
)

/** The group of the caller; null if a wrong attempt counts on no code. */
export type TriedKey = Omit<CodeKey, 'group'> & { group: CallerGroup | null }

/** The outcome of a comparison. `spent`: right but already used, so that repeating it reveals nothing. */
export type CodeResult = 'right' | 'spent' | 'wrong'

export interface CodeStore {
  /**
   * `messageId`: the message that carries the code. The code of the later of two messages stays, whichever call comes
   * last, so that the code which arrives last is the valid one. A code without a message replaces any other.
   */
  put(
    key: CodeKey,
    code: { hash: Uint8Array; expiresAt: Date; messageId?: number | null },
    now: Date,
  ): Promise<void>
  /**
   * It is called before the first sending of a code. It sets the expiry to `expiresAt`, and restores the code in a
   * store that lost it (a flush, a crash). Returns false and changes nothing if a code with another hash is stored,
   * even a used one, or if this one was used: a used code stays until its expiry.
   */
  start(key: CodeKey, code: { hash: Uint8Array; expiresAt: Date }, now: Date): Promise<boolean>
  /**
   * `right` exactly once, for the right hash of a valid code. `attempts`: how many wrong attempts end a code. If it
   * throws, the code may have been used nevertheless.
   */
  take(key: TriedKey, hash: Uint8Array, attempts: number, now: Date): Promise<CodeResult>
  /** Tells whether `take` would be `right`, or with `orSpent` also whether it would be `spent`. Changes nothing. */
  holds(key: TriedKey, hash: Uint8Array, attempts: number, now: Date, orSpent?: boolean): Promise<boolean>
  /**
   * Ends the codes of the subject for every purpose and group, also those whose message is still on its way: `hash`
   * matches no code, and stays until `expiresAt`. A used code stays as it is, so that parallel calls with it still get
   * `spent`. With `transaction` those in PostgreSQL end with it or not at all: see `EndCodes`.
   */
  kill(
    subject: string,
    code: { hash: Uint8Array; expiresAt: Date },
    now: Date,
    transaction?: Executor,
  ): Promise<void>
  /** Removes up to `limit` expired codes and returns how many it removed. Redis does this by itself and returns 0. */
  sweep(now: Date, limit: number): Promise<number>
}
