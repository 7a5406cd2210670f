/**
 * Checks a typed password, at login and wherever a call asks for the password again. The attempt is counted on the
 * caller before anything is hashed, and an unknown identifier takes the same work as a known one.
 */

import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import { decoyAccount } from '../../foundation/decoys/decoys.ts'
import type { HashService } from '../../foundation/hashing/service.ts'
import type { Caller } from '../../foundation/limits/callers.ts'
import { createPendingAttempts } from '../../foundation/limits/pending-attempts.ts'
import type { LimitService } from '../../foundation/limits/service.ts'

interface PasswordTry {
  /** It is null if no account has this identifier. */
  account: Account | null
  /** The comparable form, or what was typed if it is not an identifier. */
  identifierKey: string
  caller: Caller
  password: string
  /** True if the attempt also counts as a login from its client address. */
  countsAsLogin: boolean
}

interface Needs {
  limits: LimitService
  hashing: HashService
  stores: { accounts: AccountStore }
}

export type PasswordCheck = ReturnType<typeof createPasswordCheck>

export function createPasswordCheck({ stores, limits, hashing }: Needs) {
  const { accounts } = stores
  const pending = createPendingAttempts()
  return {
    /** Refuses if `check` would because the queue is full. Call it first: during a flood no store has to be asked. */
    // Owners have places of their own: only the check itself knows who calls.
    requireFreePlace: () => hashing.requireFreePlace({ owner: true }),
    /**
     * A full queue refuses the try, which does not count as a failure. `newDigest` is set if the stored digest has older
     * parameters.
     */
    async check({ account, identifierKey, caller, password, countsAsLogin }: PasswordTry) {
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
        const result = await hashing.check(password, digest, { owner, place }).finally(place.release)
        if (result.right) await limits.clear(failures)
        else await accounts.noteFailure((account ?? decoyAccount).id)
        return { refunded: result.right, result }
      })
      if (decision === null) throw refusal
      return decision.result
    },
  }
}
