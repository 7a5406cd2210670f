/**
 * Login by one-time code. An account with two-factor sign-in needs its password too, in this call or in a login of the
 * last ten minutes from the same client. Neither the answer nor the work reveals which of the two was wrong. Only a
 * token that does not hold is named, alike for every account, before the code is looked at.
 */

import { randomUUID } from 'node:crypto'
import { AppError, type ErrorCode } from '../../../texts/errors.ts'
import { type Account, hasVerified } from '../../accounts/core/account.ts'
import type { TrustedDevices } from '../../accounts/devices/trusted-devices.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { type Identifier, readIdentifier } from '../../foundation/identifiers/identifier.ts'
import {
  type AddressSource,
  type Caller,
  type DeviceSource,
  stranger,
} from '../../foundation/limits/callers.ts'
import type { TestIdentities } from '../../foundation/test-identities/service.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { OpenedSession, SessionOpener } from '../../sessions/core/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import type { FirstFactorRecord } from '../core/first-factor-record.ts'
import { findNamedAccount, type NamedAccount } from '../core/named-account.ts'
import type { PasswordCheck } from '../core/password-check.ts'
import type { SignInService, TwoFactorDue } from '../core/service.ts'
import type { RegistrationService } from '../registration/service.ts'
import { createCodeRequests, type RequestNeeds } from './code-requests.ts'
import { type CodeRules, createCodeRules, type VerifyBody, withFirstFactor } from './code-rules.ts'

interface Needs extends RequestNeeds {
  registration: Pick<RegistrationService, 'begin' | 'open' | 'sendAgain'>
  signIn: SignInService
  sessionOpener: SessionOpener
  accountClaims: AccountClaims
  trustedDevices: TrustedDevices
  passwordCheck: PasswordCheck
  testIdentities: Pick<TestIdentities, 'find'>
  events: GatheredEvents
  policy: SignInPolicy | null
}

export type LoginByCodeService = ReturnType<typeof createLoginByCodeService>

export function createLoginByCodeService(needs: Needs) {
  const rules = createCodeRules(needs)
  return { ...createCodeRequests(needs, rules), verify: createVerify(needs, rules) }
}

function createVerify(needs: Needs, { maybeWithout, mayUseCode, seenByCode, couldOpen }: CodeRules) {
  const { sessionOpener, accountClaims, trustedDevices, passwordCheck, firstFactorRecords, secondFactor } =
    needs
  const { admission, registration, signIn, testIdentities, limits, devices, events, policy, config } = needs
  const { accounts } = needs.stores
  const { defaultCountry } = config.accounts

  /**
   * The outcome of the first factor in this call. `record`: of an earlier login; null if this call itself checked the password.
   */
  async function checkFirstFactor(
    account: Account | null,
    identifier: Identifier,
    { password, loginToken }: VerifyBody,
    client: DeviceSource,
    caller: Caller,
  ) {
    const token = typeof loginToken === 'string' ? loginToken : null
    if (token === null && typeof password === 'string') {
      const right = await passwordCheck.check({
        account,
        identifierKey: identifier.key,
        caller,
        password,
        countsAsLogin: false,
        untold: true,
      })
      return { passes: right, first: right ? ('pwd' as const) : null, record: null }
    }
    const claimed = account ?? { uuid: identifier.key, passwordDigest: null }
    const record = await firstFactorRecords.find(claimed, client, token)
    if (token !== null && record === null) throw new AppError('login_expired')
    if (policy === null && token === null && !seenByCode(account, token)?.twoFactorEnabled)
      return { passes: true, ...noFirstFactor }
    return { passes: record !== null, first: record?.factor ?? null, record }
  }

  /** Throws the error again. */
  function noteFailure(account: Account | null, error: unknown): never {
    if (error instanceof AppError)
      events.add(
        policy?.failure ?? (account?.twoFactorEnabled ? 'two_factor.failed' : 'login.failed'),
        account,
      )
    throw error
  }

  /** A device is trusted after two factors, and not after a recovery code, which somebody types who lost theirs. */
  async function openSession(
    { tried: account, isSecondFactor, firstFactor }: Awaited<ReturnType<typeof tryCode>>,
    device: Device,
    address: string,
    { otp, trustDevice }: VerifyBody,
  ): Promise<OpenedSession> {
    const { first } = firstFactor
    const hasBoth = first !== null && isSecondFactor
    const amr = [...new Set([...(first ? [first] : []), 'otp', ...(hasBoth ? ['mfa'] : [])])]
    const id = randomUUID()
    const answer = await sessionOpener.open({ id, account, device, address, amr })
    if (policy !== null || !trustDevice || !hasBoth || secondFactor.isRecoveryCode(otp)) return answer
    const { fingerprint } = device
    const token = await trustedDevices.trust(account, { id, fingerprint })
    return token === null ? answer : { ...answer, deviceToken: token }
  }

  /** Compares the code, and uses it up where it is right. `isFirst`: the code was the first of two factors. */
  async function tryCode(body: VerifyBody, { identifier, key, account }: NamedAccount, client: DeviceSource) {
    const recognized = await devices.recognize(account, client)
    await limits.chargeVisit('verification', recognized)
    const firstFactor = await checkFirstFactor(account, identifier, body, client, recognized)
    const { passes, first, record } = firstFactor
    // Without the first factor nobody may try, or use up, the owner's code: the try counts on a decoy. So does one
    // for an unconfirmed account: anybody can register one, and must not see by it who had one before.
    const tried = passes && account?.accountConfirmedAt && mayUseCode(account) ? account : null
    const caller = tried === null ? stranger(client) : withFirstFactor(recognized, first, tried, client)
    const seen = seenByCode(tried, body.loginToken)
    const isItsOwn = policy === null && tried?.testIdentity === true && hasVerified(tried, identifier)
    const test = isItsOwn ? await testIdentities.find(identifier) : null
    const counts = await secondFactor
      .takeCode(seen, identifier, {
        typed: body.otp,
        caller,
        name: typeof body.password === 'string' ? `${key} with password` : key,
        byAddress: caller.group === 'password' && record?.by === 'address',
        keeps: policy === null && tried !== null && !accountClaims.isComplete(tried),
        test,
      })
      .catch((error: unknown) => noteFailure(account, error))
    if (tried === null) return noteFailure(account, new AppError('invalid_code'))
    if (test) events.add('test_identity.used', tried)
    return { tried, isFirst: seen !== tried, isSecondFactor: first !== null && counts, firstFactor }
  }

  async function signInByCode(
    body: VerifyBody,
    device: Device,
    { address, addressBucket }: AddressSource,
    meansVerified = false,
  ): Promise<{ signedIn: OpenedSession } | { due: TwoFactorDue }> {
    const use = meansVerified ? 'provider' : 'second_step'
    const named = await findNamedAccount(accounts, body.identifier, defaultCountry, use)
    const { identifier } = named
    const { fingerprint } = device
    const proved = await tryCode(body, named, { fingerprint, addressBucket })
    const { tried, isFirst, firstFactor } = proved
    if (tried.lockedAt !== null) throw new AppError('account_locked')
    if (policy === null) accountClaims.require(tried)
    if (isFirst) {
      const client = { address, addressBucket }
      return signIn.continue({ account: tried, identifier, factor: 'otp', device, client })
    }
    if (firstFactor.record !== null) await spend(firstFactor.record)
    return { signedIn: await openSession(proved, device, address, body) }
  }

  async function verify(body: VerifyBody, device: Device, client: AddressSource) {
    if (!maybeWithout || body.create !== true || typeof body.loginToken === 'string')
      return signInByCode(body, device, client)
    const identifier = readIdentifier(body.identifier, defaultCountry)
    const entry = await admission.read(body, identifier, client, { needsTerms: true })
    const meansVerified = (await couldOpen(body, body.identifier, client)) !== null
    try {
      return await signInByCode(body, device, client, meansVerified)
    } catch (error) {
      if (!(error instanceof AppError) || !wrongCodes.has(error.errorCode)) throw error
      // Somebody without an account may have a registration that waits: it is tried in any case.
      const opening = registration.open(identifier, body.otp, entry, device, client)
      const signedIn = await opening.catch((refusal: unknown) => {
        const isWrong = refusal instanceof AppError && refusal.errorCode === 'invalid_code'
        throw isWrong ? error : refusal
      })
      return { signedIn }
    }
  }

  return verify
}

const wrongCodes = new Set<ErrorCode>(['invalid_code', 'too_many_attempts'])

/** Of several callers with right codes and one record, the first one opens the session of that login. */
async function spend(record: FirstFactorRecord): Promise<void> {
  if (!(await record.take())) throw new AppError(record.by === 'token' ? 'login_expired' : 'invalid_code')
}

const noFirstFactor = { first: null, record: null }
