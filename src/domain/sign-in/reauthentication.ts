/**
 * "Is it still the owner who asks?" A call inside a session that changes what opens the account needs more than the
 * access token: the password, or a recent sign-in where the account has none, and a second factor while two factors
 * are on. The password is checked and counted as at a login from the device of the session.
 */

import { AppError } from '../../errors.ts'
import type { AssertionBody } from '../../platform/http/passkey-schemas.ts'
import { type Account, verifiedKeys } from '../accounts/account.ts'
import { inSession } from '../limits/callers.ts'
import type { Services, Stores } from '../services.ts'
import type { Authenticated } from '../sessions/authentication.ts'

/** What the call brings beside its access token. */
export interface OwnerProof {
  password?: string | null | undefined
  /** A code of the app, a recovery code, or a code that `2fa/request-otp` sent for the session. */
  otp?: string | null | undefined
  /** A signature by a passkey over the options of this session: stands for the password and the second factor. */
  credential?: AssertionBody | null | undefined
}

/** Takes such a signature once; throws `invalid_passkey` or `unknown_passkey`. */
export type ConfirmByPasskey = (signedIn: Authenticated, credential: AssertionBody) => Promise<void>

export interface Reauthentication {
  /**
   * Throws `validation_failed` (`required` or `wrong_password` on `passwordField`), `password_not_set` for a password
   * sent where the account has none, `reauthentication_required`, `two_factor_required`, `invalid_code`,
   * `too_many_attempts`, `too_many_requests`, `server_busy`. The second factor is asked for only once the rest is right.
   */
  require(
    signedIn: Authenticated,
    proof: OwnerProof,
    client: { addressBucket: string },
    options?: RequireOptions,
  ): Promise<void>
}

interface RequireOptions {
  passwordField?: PasswordField
  /** Refuses the call for another reason, behind the password and before the second factor is used up. */
  admit?: () => void | Promise<void>
}

/** The name that the password has in the body of the call. */
export type PasswordField = 'password' | 'current_password'

export const wrongPassword = (field: PasswordField) =>
  new AppError('validation_failed', { fields: [{ field, code: 'wrong_password' }] })

type Needs = Pick<
  Services,
  'passwordCheck' | 'secondFactor' | 'limits' | 'attempts' | 'clock' | 'confirmByPasskey'
> & {
  stores: Pick<Stores, 'sessions'>
}

const RECENT_SIGN_IN_MS = 5 * 60_000

export function createReauthentication(needs: Needs): Reauthentication {
  const { passwordCheck, secondFactor, limits, attempts, clock, confirmByPasskey } = needs
  const { sessions } = needs.stores

  async function requirePassword(
    signedIn: Authenticated,
    password: string,
    addressBucket: string,
    field: PasswordField,
  ): Promise<void> {
    const { account, sessionId } = signedIn
    const { right } = await passwordCheck.judge({
      account,
      identifierKey: ownKey(account),
      caller: inSession(signedIn, { addressBucket }),
      password,
      countsAsLogin: true,
    })
    if (right) return attempts.clearInSession(sessionId)
    // Whoever guesses inside a stolen session must not go on for as long as it lives.
    if (await attempts.failInSession(sessionId)) await sessions.end(sessionId, account.uuid, clock.now())
    throw wrongPassword(field)
  }

  function requireRecentSignIn({ claims }: Authenticated): void {
    if (clock.now().getTime() - claims.authTime.getTime() > RECENT_SIGN_IN_MS) {
      throw new AppError('reauthentication_required')
    }
  }

  async function requireSecondFactor(signedIn: Authenticated, otp: OwnerProof['otp'], addressBucket: string) {
    if (!otp) {
      const methods = await secondFactor.methodsInSession(signedIn.account)
      throw new AppError('two_factor_required', { twoFactor: { methods } })
    }
    const caller = inSession(signedIn, { addressBucket })
    await limits.chargeVisit('verification', caller)
    await secondFactor.takeStepUp(signedIn.account, otp, caller)
  }

  return {
    async require(signedIn, { password, otp, credential }, { addressBucket }, options = {}) {
      const { passwordField: field = 'password', admit } = options
      const { account } = signedIn
      if (credential) {
        await limits.charge(limits.counters.passkeyAttempts(addressBucket))
        await admit?.()
        return confirmByPasskey(signedIn, credential)
      }
      if (account.passwordDigest === null) {
        if (typeof password === 'string') throw new AppError('password_not_set')
        requireRecentSignIn(signedIn)
      } else {
        if (typeof password !== 'string') {
          throw new AppError('validation_failed', { fields: [{ field, code: 'required' }] })
        }
        await requirePassword(signedIn, password, addressBucket, field)
      }
      await admit?.()
      if (account.twoFactorEnabled) await requireSecondFactor(signedIn, otp, addressBucket)
    },
  }
}

/** Never a mere claim: it may be somebody else's identifier, whose failures are not this account's to add or forget. */
function ownKey(account: Account): string {
  return verifiedKeys(account)[0] ?? account.uuid
}
