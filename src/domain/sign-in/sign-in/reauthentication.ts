/**
 * Re-authentication. A call inside a session that changes how the account is protected needs more than the access
 * token: the password, or a recent sign-in if the account has none, and a second factor if two-factor login is on.
 * The password is checked and counted like at a login from the device of the session.
 */

import { AppError } from '../../../errors.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { AssertionBody } from '../../../platform/http/passkey-schemas.ts'
import { type Account, verifiedKeys } from '../../accounts/accounts/account.ts'
import type { Attempts } from '../../limits/attempts/service.ts'
import { inSession } from '../../limits/limits/callers.ts'
import type { LimitService } from '../../limits/limits/service.ts'
import type { Authenticated } from '../../sessions/sessions/authentication.ts'
import type { SessionStore } from '../../sessions/sessions/store.ts'
import type { PasswordCheck } from './password-check.ts'
import type { SecondFactor } from './second-factor.ts'

/** What the body of the call contains. */
export interface OwnerProof {
  password?: string | null | undefined
  /** A code of the app, a recovery code, or a code that `2fa/request-otp` sent for the session. */
  otp?: string | null | undefined
  /**
   * The signature of a passkey over the options made for this session: it replaces the password and the second
   * factor.
   */
  credential?: AssertionBody | null | undefined
}

/** Uses the signature up. Throws `invalid_passkey` or `unknown_passkey`. */
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
  /**
   * Called after the password was checked and before the second factor is used up: throws if the call is refused for
   * another reason.
   */
  admit?: () => void | Promise<void>
}

/** The name that the password has in the body of the call. */
export type PasswordField = 'password' | 'current_password'

export const wrongPassword = (field: PasswordField) =>
  new AppError('validation_failed', { fields: [{ field, code: 'wrong_password' }] })

interface Needs {
  passwordCheck: PasswordCheck
  secondFactor: SecondFactor
  limits: LimitService
  attempts: Attempts
  clock: Clock
  confirmByPasskey: ConfirmByPasskey
  stores: { sessions: SessionStore }
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
    // Otherwise somebody with a stolen session could guess the password until the session expires.
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

/** A verified identifier: failures at one that is only claimed may belong to somebody else. */
function ownKey(account: Account): string {
  return verifiedKeys(account)[0] ?? account.uuid
}
