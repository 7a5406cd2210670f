/**
 * Checks a typed password, for login and for every call that asks for the password again: the try is counted before
 * the hash, on whoever calls; an unknown identifier costs what a known one costs.
 */

import { AppError } from '../../errors.ts'
import type { Account } from '../accounts/account.ts'
import { createPendingAttempts } from '../attempts/pending-attempts.ts'
import { decoyAccount } from '../decoys/decoys.ts'
import type { Caller } from '../limits/callers.ts'
import type { Services, Stores } from '../services.ts'

export interface PasswordTry {
  /** Null: nobody has this identifier. */
  account: Account | null
  /** Comparable form, or what was typed where it is no identifier at all. */
  identifierKey: string
  caller: Caller
  password: string
  /** Whether the call counts as a login of its client address too. */
  countsAsLogin: boolean
}

export interface PasswordCheck {
  /**
   * Throws `too_many_requests`, and `server_busy`, which counts as no failure. `newDigest`: where the stored one has
   * older parameters.
   */
  judge(passwordTry: PasswordTry): Promise<{ right: boolean; newDigest: string | null }>
  /** Throws `server_busy` when `judge` would: asked first, a flood costs no question to the stores. */
  requireRoom(): void
}

type Needs = Pick<Services, 'limits' | 'hashing'> & { stores: Pick<Stores, 'accounts'> }

export function createPasswordCheck({ stores, limits, hashing }: Needs): PasswordCheck {
  const { accounts } = stores
  const pending = createPendingAttempts()
  return {
    // Owners have places of their own: only the check itself knows who calls.
    requireRoom: () => hashing.requireRoom({ owner: true }),
    async judge({ account, identifierKey, caller, password, countsAsLogin }) {
      const failures = limits.counters.wrongPasswords(caller, identifierKey)
      const owner = caller.group === 'owner'
      let refusal: unknown

      /** The place in the queue comes before the count, so that a full queue is not counted as a failure. */
      async function admit() {
        const place = hashing.holdPlace({ owner })
        try {
          await (countsAsLogin ? limits.chargeVisit('login', caller, failures) : limits.charge(failures))
          return place
        } catch (error) {
          place.release()
          if (!(error instanceof AppError) || error.errorCode !== 'too_many_requests') throw error
          refusal = error
          return null
        }
      }

      const decision = await pending.run(failures[0]!.key, admit, async (place) => {
        const digest = account?.passwordDigest ?? null
        const verdict = await hashing.check(password, digest, { owner, place }).finally(place.release)
        if (verdict.right) await limits.clear(failures)
        else await accounts.noteFailure((account ?? decoyAccount).id)
        return { refunded: verdict.right, verdict }
      })
      if (decision === null) throw refusal
      return decision.verdict
    },
  }
}
