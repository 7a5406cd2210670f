/**
 * Where one-time codes live: Redis, or an unlogged table. The promise, which the contract suite holds both to:
 * at most one code per subject, purpose and group; `put` replaces the one of its own group alone. `take` compares with
 * the codes of all groups, and counts a wrong try on the code of its own group alone, in one step: nobody's tries end
 * somebody else's code. Among any number of callers with the right hash exactly one gets `right`; a code is dead after
 * `attempts` wrong takes, after its expiry, and once taken; nothing lives without an expiry.
 */
import type { Verdict } from '../attempts/service.ts'
import type { CallerGroup } from '../limits/callers.ts'

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

/** What a message with a code may carry. */
export type SentCodePurpose = CodePurpose | AccountCodeKind

export interface CodeKey {
  /** The account's uuid, or a decoy of the same form for an identifier without account. */
  subject: string
  purpose: CodePurpose
  /** Who asked for the code. */
  group: CallerGroup
}

/** Whose tries: null where a wrong one counts on no code at all. */
export type TriedKey = Omit<CodeKey, 'group'> & { group: CallerGroup | null }

export interface CodeStore {
  /**
   * `messageId`: the message the code goes out with. Of two codes with one the later message's stays, whichever call
   * comes last, so that what arrives is what serves; without one the code replaces any other.
   */
  put(
    key: CodeKey,
    code: { hash: Uint8Array; expiresAt: Date; messageId?: number | null },
    now: Date,
  ): Promise<void>
  /**
   * Before the first sending of a code: its expiry becomes `expiresAt`; a store that lost it (a flush, a crash) gets
   * it back. False, and nothing done, when a code with another hash stands there, used or dead ones too, or when
   * this one was used: a used or dead code stays until its expiry.
   */
  start(key: CodeKey, code: { hash: Uint8Array; expiresAt: Date }, now: Date): Promise<boolean>
  /**
   * `right` exactly once, for the right hash of a living code. `attempts`: how many wrong tries end a code. When it
   * throws, the code may be taken all the same.
   */
  take(key: TriedKey, hash: Uint8Array, attempts: number, now: Date): Promise<Verdict>
  /**
   * Ends the code, also one whose message is still on its way: `hash` is one that nobody has, and stays until
   * `expiresAt`. A code that was taken stays as it is, so that parallel calls with it are still `spent`.
   */
  kill(key: CodeKey, code: { hash: Uint8Array; expiresAt: Date }, now: Date): Promise<void>
  remove(key: CodeKey): Promise<void>
  /** Removes up to `limit` expired codes; how many it removed. Redis does so by itself: 0. */
  sweep(now: Date, limit: number): Promise<number>
}
