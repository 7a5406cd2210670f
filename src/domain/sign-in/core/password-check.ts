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
  /** True where the answer does not tell that the password was right. */
  untold?: boolean
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

  /**
   * Puts today's digest in the place of another one, also in what the caller goes on with: what follows holds for the
   * digest that is stored. Of several sign-ins at once, the others check the password with the digest of the first.
   */
  async function renew(account: Account, newDigest: string, password: string, owner: boolean) {
    const stored = await accounts.renewDigest(account, newDigest)
    if (stored === newDigest || (await hashing.check(password, stored, { owner })).right)
      account.passwordDigest = stored
  }

  return {
    /** Refuses if `check` would because the queue is full. Call it first: during a flood no store has to be asked. */
    // Owners have places of their own: only the check itself knows who calls.
    requireFreePlace: () => hashing.requireFreePlace({ owner: true }),
    /**
     * A full queue refuses the try, which does not count as a failure before its first stage. A right password of a digest
     * that is not today's gets one that is.
     */
    async check({ account, identifierKey, caller, password, countsAsLogin, untold }: PasswordTry) {
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
        const { right, newDigest } = await hashing
          .check(password, digest, { owner, place, untold: untold ?? false })
          .finally(place.release)
        if (right) await limits.clear(failures)
        else await accounts.noteFailure((account ?? decoyAccount).id)
        if (account && newDigest !== null) await renew(account, newDigest, password, owner)
        return { refunded: right, right }
      })
      if (decision === null) throw refusal
      return decision.right
    },
  }
}
