/**
 * Re-authentication. A call inside a session that changes how the account is protected needs more than the access
 * token. It needs the password, or a recent sign-in if the account has none, and a second factor if two-factor sign-in
 * is on. The recent sign-in is shown by the session's refresh token, since other services see access tokens. The
 * password is checked and counted like at a login from the device of the session.
 */

import type { Ground } from '../../../platform/ground.ts'
import type { AssertionBody } from '../../../platform/http/passkey-schemas.ts'
import { AppError } from '../../../texts/errors.ts'
import { type Account, type AccountSession, verifiedKeys } from '../../accounts/core/account.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { inSession, type Source } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { CodeService } from '../../messages/codes/service.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import type { RecentSignIn } from '../../sessions/core/recent-sign-in.ts'
import type { SessionStore } from '../../sessions/core/store.ts'
import type { PasswordCheck } from './password-check.ts'
import type { SecondFactor } from './second-factor.ts'
import type { OwnerProof } from './sign-in-schema.ts'

/** Uses the signature up, which was made for a session, or for a sign-in that waits. Returns how it was proved (RFC 8176). */
export type ConfirmByPasskey = (
  owner: AccountSession,
  credential: AssertionBody,
  purpose?: 'step_up' | 'second_factor',
) => Promise<string[]>

interface RequireOptions {
  passwordField?: PasswordField
  /**
   * Called after the password was checked and before the second factor is used up: throws if the call is refused for
   * another reason.
   */
  admit?: () => void | Promise<void>
  /**
   * True if a recent sign-in with everything that the account requires suffices, without password and second factor.
   */
  recentSignInSuffices?: boolean
}

/** More than a session was proved, in this call or, where there is a policy, a moment ago. */
type Proved = 'now' | 'recently' | 'session'

/** The name that the password has in the body of the call. */
type PasswordField = 'password' | 'current_password'

export const wrongPassword = (field: PasswordField) =>
  new AppError('validation_failed', { fields: [{ field, code: 'wrong_password' }] })

interface Needs extends Pick<Ground, 'clock'> {
  passwordCheck: PasswordCheck
  secondFactor: SecondFactor
  limits: LimitService
  codes: CodeService
  confirmByPasskey: ConfirmByPasskey
  recentSignIn: RecentSignIn
  events: GatheredEvents
  policy: SignInPolicy | null
  stores: { sessions: SessionStore }
}

export type Reauthentication = ReturnType<typeof createReauthentication>

export function createReauthentication(needs: Needs) {
  const { passwordCheck, secondFactor, limits, codes, clock, confirmByPasskey, recentSignIn } = needs
  const { events, policy } = needs
  const { sessions } = needs.stores

  async function requirePassword(
    signedIn: Authenticated,
    password: string,
    client: Source,
    field: PasswordField,
  ): Promise<void> {
    const { account, sessionId } = signedIn
    const right = await passwordCheck.check({
      account,
      identifierKey: ownKey(account),
      caller: inSession(signedIn, client),
      password,
      countsAsLogin: true,
    })
    if (right) return codes.clearInSession(sessionId)
    if (policy) events.add(policy.failure, account)
    // Otherwise somebody with a stolen session could guess the password until the session expires.
    if (await codes.failInSession(sessionId)) await sessions.end(sessionId, account.uuid, clock.now())
    throw wrongPassword(field)
  }

  /** Tells whether this session was opened a moment ago with everything that the account requires. */
  async function isFresh(signedIn: Authenticated, refreshToken: OwnerProof['refresh_token']) {
    const { account, claims } = signedIn
    const withPassword = account.passwordDigest === null || claims.amr.includes('pwd')
    const provedAll = (withPassword && !account.twoFactorEnabled) || claims.amr.includes('mfa')
    return provedAll && recentSignIn.isShown(signedIn, refreshToken)
  }

  async function requireFirstFactor(
    signedIn: Authenticated,
    { password, refresh_token: refreshToken }: OwnerProof,
    client: Source,
    field: PasswordField,
  ): Promise<void> {
    if (signedIn.account.passwordDigest === null) {
      if (typeof password === 'string') throw new AppError('password_not_set')
      if (!(await recentSignIn.isShown(signedIn, refreshToken)))
        throw new AppError('reauthentication_required')
      return
    }
    if (typeof password !== 'string') {
      throw new AppError('validation_failed', { fields: [{ field, code: 'required' }] })
    }
    await requirePassword(signedIn, password, client, field)
  }

  /** A second factor that fails behind the right password is worth an event where there is a policy. */
  async function noting(account: Account, check: Promise<unknown>): Promise<void> {
    try {
      await check
    } catch (error) {
      if (policy && error instanceof AppError) events.add(policy.failure, account)
      throw error
    }
  }

  async function requirePasskey(
    signedIn: Authenticated,
    credential: AssertionBody,
    client: Source,
    admit?: RequireOptions['admit'],
  ) {
    await limits.charge(limits.counters.passkeyAttempts(client.addressBucket))
    await admit?.()
    await noting(signedIn.account, confirmByPasskey(signedIn, credential))
  }

  async function requireSecondFactor(signedIn: Authenticated, otp: OwnerProof['otp'], client: Source) {
    if (!otp) {
      const methods = await secondFactor.methodsInSession(signedIn.account)
      throw new AppError('two_factor_required', { twoFactor: { methods } })
    }
    const caller = inSession(signedIn, client)
    await limits.chargeVisit('verification', caller)
    await noting(signedIn.account, secondFactor.takeStepUp(signedIn.account, otp, caller))
  }

  async function requireProof(
    signedIn: Authenticated,
    proof: OwnerProof,
    client: Source,
    options: RequireOptions,
  ): Promise<Proved> {
    const { password, otp, credential, refresh_token: refreshToken } = proof
    const { passwordField: field = 'password', admit, recentSignInSuffices = false } = options
    const { account } = signedIn
    if (credential && policy === null) {
      await requirePasskey(signedIn, credential, client, admit)
      return 'now'
    }
    const givesAll =
      (account.passwordDigest === null || typeof password === 'string') &&
      (!account.twoFactorEnabled || otp || credential)
    if (recentSignInSuffices && !givesAll && (await isFresh(signedIn, refreshToken))) {
      await admit?.()
      return policy === null ? 'session' : 'recently'
    }
    await requireFirstFactor(signedIn, proof, client, field)
    if (credential) {
      await requirePasskey(signedIn, credential, client, admit)
      return 'now'
    }
    await admit?.()
    if (account.twoFactorEnabled || policy) await requireSecondFactor(signedIn, otp, client)
    return account.passwordDigest !== null || account.twoFactorEnabled ? 'now' : 'session'
  }

  return {
    /**
     * Requires a sign-in of a moment ago, with everything that the account requires. A session that a trusted device opened
     * proves the second factor here.
     */
    async requireRecentSignIn(
      signedIn: Authenticated,
      { refresh_token: refreshToken, otp, credential }: Omit<OwnerProof, 'password'>,
      client: Source,
    ): Promise<void> {
      if (!(await recentSignIn.isShown(signedIn, refreshToken)))
        throw new AppError('reauthentication_required')
      const { account, claims } = signedIn
      if (!account.twoFactorEnabled || claims.amr.includes('mfa')) return
      await (credential
        ? requirePasskey(signedIn, credential, client)
        : requireSecondFactor(signedIn, otp, client))
      await signedIn.renew?.()
    },
    /**
     * A missing or wrong password is reported on `passwordField`. The second factor is asked for only once the rest is
     * right. Returns whether more than a session was proved: the password, a second factor or a passkey. The session of a
     * browser has a new cookie then.
     */
    async require(signedIn: Authenticated, proof: OwnerProof, client: Source, options: RequireOptions = {}) {
      const proved = await requireProof(signedIn, proof, client, options)
      await signedIn.renew?.(proved === 'now')
      return proved !== 'session'
    },
  }
}

/** A verified identifier: failures at one that is only claimed may belong to somebody else. */
function ownKey(account: Account): string {
  return verifiedKeys(account)[0] ?? account.uuid
}
