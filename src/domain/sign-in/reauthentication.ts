/**
 * "Is it still the owner who asks?" Whatever a stolen access token alone must not do asks for the password in the same
 * call. It is judged and counted as at a login from the device of the session.
 */

import { AppError } from '../../errors.ts'
import { type Account, verifiedContacts, verifiedKeys } from '../accounts/account.ts'
import type { Services } from '../services.ts'
import type { Authenticated } from '../sessions/authentication.ts'

export interface Reauthentication {
  /**
   * Throws `invalid_credentials`, `too_many_requests`, `server_busy`; `password_not_set` for an account without
   * password that can get one by reset. One that cannot, having no proved contact, must have signed in a moment ago.
   */
  requirePassword(signedIn: Authenticated, password: string, client: { addressBucket: string }): Promise<void>
  /**
   * For what an account without password must do too: its password where it has one (`validation_failed` where none
   * was sent), else a sign-in of a moment ago.
   */
  requirePasswordIfSet(
    signedIn: Authenticated,
    password: string | null | undefined,
    client: { addressBucket: string },
  ): Promise<void>
}

type Needs = Pick<Services, 'passwordCheck' | 'limits' | 'clock'>

const RECENT_SIGN_IN_MS = 5 * 60_000

export function createReauthentication({ passwordCheck, limits, clock }: Needs): Reauthentication {
  async function requirePassword(
    { account, deviceFingerprint }: Authenticated,
    password: string,
    addressBucket: string,
  ): Promise<void> {
    const { right } = await passwordCheck.judge({
      account,
      identifierKey: ownKey(account),
      fingerprint: deviceFingerprint,
      password,
      charges: limits.loginCharges(addressBucket),
    })
    if (!right) throw new AppError('invalid_credentials')
  }

  function requireRecentSignIn({ claims }: Authenticated): void {
    if (clock.now().getTime() - claims.authTime.getTime() > RECENT_SIGN_IN_MS) {
      throw new AppError('invalid_credentials', { cause: 'no recent sign-in' })
    }
  }

  return {
    async requirePassword(signedIn, password, { addressBucket }) {
      const { account } = signedIn
      if (account.passwordDigest !== null) return requirePassword(signedIn, password, addressBucket)
      if (verifiedContacts(account).length > 0) throw new AppError('password_not_set')
      requireRecentSignIn(signedIn)
    },
    async requirePasswordIfSet(signedIn, password, { addressBucket }) {
      const { account } = signedIn
      if (account.passwordDigest === null) return requireRecentSignIn(signedIn)
      if (typeof password !== 'string') {
        throw new AppError('validation_failed', { fields: [{ field: 'password', code: 'required' }] })
      }
      await requirePassword(signedIn, password, addressBucket)
    },
  }
}

/** Never a mere claim: it may be somebody else's identifier, whose failures are not this account's to add or forget. */
function ownKey(account: Account): string {
  return verifiedKeys(account)[0] ?? account.uuid
}
