/**
 * Judges a typed password, for login and for every call that asks for the password again: the try is counted before
 * the hash, on the identifier or on the device that is known; one unknown identifier costs what a known one costs.
 */

import type { Account } from '../accounts/account.ts'
import type { Charge } from '../limits/store.ts'
import type { Services, Stores } from '../services.ts'
import { createPendingAttempts } from './pending-attempts.ts'

export interface PasswordTry {
  /** Null: nobody has this identifier. */
  account: Account | null
  /** Comparable form, or what was typed where it is no identifier at all. */
  identifierKey: string
  fingerprint: string | null
  password: string
  /** Counted in the same step as the failure. */
  charges: Charge[]
}

export interface PasswordCheck {
  /** Throws `too_many_requests`, `server_busy`. `newDigest`: where the stored one has older parameters. */
  judge(passwordTry: PasswordTry): Promise<{ right: boolean; newDigest: string | null }>
  /** Throws `server_busy` when `judge` would: asked first, a flood costs no question to the stores. */
  requireRoom(): void
}

type Needs = Pick<Services, 'limits' | 'hashing'> & { stores: Pick<Stores, 'accounts' | 'sessions'> }

/** No account has it: keeps the work alike. */
const NOBODY = 0

export function createPasswordCheck({ stores, limits, hashing }: Needs): PasswordCheck {
  const { accounts, sessions } = stores
  const tries = createPendingAttempts()
  return {
    requireRoom: hashing.requireRoom,
    async judge({ account, identifierKey, fingerprint, password, charges }) {
      const accountId = account?.id ?? NOBODY
      const known = fingerprint !== null && (await sessions.knowsDevice(accountId, fingerprint))
      const failure = limits.failureCharge(identifierKey, known ? fingerprint : null)
      const admit = () => limits.charge([...charges, failure])
      return tries.run(failure.key, admit, async () => {
        const { right, newDigest } = await hashing.check(password, account?.passwordDigest ?? null)
        if (!right) {
          await accounts.noteFailure(accountId)
          return { right: false, newDigest: null }
        }
        await limits.clear(failure)
        return { right, newDigest }
      })
    },
  }
}
