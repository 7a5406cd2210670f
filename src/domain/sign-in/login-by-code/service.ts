/**
 * Login by one-time code. An account with two-factor sign-in needs its password too, in this call or in a login of the
 * last ten minutes from the same client. Neither the answer nor the work reveals which of the two was wrong. Only a
 * token that does not hold is named, alike for every account, before the code is looked at.
 */

import { randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError, type ErrorCode } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import type { EntryBody } from '../../accounts/admission/entry-schema.ts'
import type { Admission } from '../../accounts/admission/service.ts'
import { type Account, hasVerified, requireOrdinary } from '../../accounts/core/account.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { TrustedDevices } from '../../accounts/devices/trusted-devices.ts'
import { decoyIdentifier } from '../../foundation/decoys/decoys.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { type Identifier, parseIdentifier, readIdentifier } from '../../foundation/identifiers/identifier.ts'
import {
  type AddressSource,
  type Caller,
  type DeviceSource,
  inSession,
  type Source,
  stranger,
  withPassword,
} from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { TestIdentities } from '../../foundation/test-identities/service.ts'
import type { Channel } from '../../messages/outbox/message.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { OpenedSession, SessionOpener } from '../../sessions/core/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import type { SentCode } from '../core/code-destinations.ts'
import type { FirstFactor, FirstFactorRecord, FirstFactorRecords } from '../core/first-factor-record.ts'
import { findNamedAccount, type NamedAccount } from '../core/named-account.ts'
import type { PasswordCheck } from '../core/password-check.ts'
import type { SecondFactor } from '../core/second-factor.ts'
import type { SignInService, TwoFactorDue } from '../core/service.ts'
import type { RegistrationService } from '../registration/service.ts'

interface VerifyBody extends EntryBody {
  identifier: string
  otp: string
  password?: string | null | undefined
  /** The token of the login that verified the first factor. */
  loginToken?: string | null | undefined
  /** True if later logins on this device shall need no second step. */
  trustDevice?: boolean | null | undefined
  /** Opens an account if there is none, where accounts may be without a password. */
  create?: boolean | null | undefined
}

interface RequestBody extends EntryBody {
  identifier?: string | null | undefined
  loginToken?: string | null | undefined
  create?: boolean | null | undefined
  /** The channel of the second step's code, if the account has both contacts. */
  channel?: Channel | null | undefined
}

interface Needs extends Pick<Ground, 'config'> {
  admission: Admission
  registration: Pick<RegistrationService, 'begin' | 'open' | 'sendAgain'>
  signIn: SignInService
  sessionOpener: SessionOpener
  accountClaims: AccountClaims
  trustedDevices: TrustedDevices
  passwordCheck: PasswordCheck
  firstFactorRecords: FirstFactorRecords
  secondFactor: SecondFactor
  testIdentities: Pick<TestIdentities, 'find'>
  limits: LimitService
  devices: KnownDevices
  events: GatheredEvents
  policy: SignInPolicy | null
  stores: { accounts: AccountStore }
}

export type LoginByCodeService = ReturnType<typeof createLoginByCodeService>

export function createLoginByCodeService(needs: Needs) {
  const { sessionOpener, accountClaims, trustedDevices, passwordCheck, firstFactorRecords, secondFactor } =
    needs
  const { admission, registration, signIn, testIdentities, limits, devices, events, policy, config } = needs
  const { accounts } = needs.stores
  const { defaultCountry } = config.accounts

  const maybeWithout = config.accounts.password === 'optional'
  const mayUseCode = (account: Account) => account.twoFactorEnabled || config.codes.login || policy !== null

  /**
   * The account as a code sees it. One that was asked for without a `login_token` is the first of the two factors of an account
   * without a password, and no other factor serves as that.
   */
  const seenByCode = (account: Account | null, token: unknown): Account | null =>
    maybeWithout && typeof token !== 'string' && account?.twoFactorEnabled && account.passwordDigest === null
      ? { ...account, twoFactorEnabled: false }
      : account

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

  async function sendCode(
    account: Account | null,
    identifier: Identifier,
    caller: Caller,
    { named, token }: { named: Identifier; token?: unknown },
  ): Promise<void> {
    const sendsTo = account && mayUseCode(account) ? seenByCode(account, token) : null
    await secondFactor.sendCode(await secondFactor.find(sendsTo), identifier, caller, named)
  }

  /** The identifier for which a call may open an account; null: it only signs in. */
  async function couldOpen(
    { create, loginToken, ...body }: RequestBody | VerifyBody,
    typed: string,
    client: Source,
  ): Promise<Identifier | null> {
    if (!maybeWithout || create !== true || typeof loginToken === 'string') return null
    const identifier = parseIdentifier(typed, defaultCountry)
    return identifier && (await admission.couldOpen(body, identifier, client)) ? identifier : null
  }

  /**
   * Sends a code to the account that verified the identifier, or to a registration of it. The work of both is done in
   * any case, and one of them is for nobody.
   */
  async function requestCodeOrAccount(
    identifier: Identifier,
    body: RequestBody,
    client: DeviceSource & { language?: Language },
  ): Promise<void> {
    const account = await accounts.findByIdentifier(identifier, 'provider')
    const caller = await devices.recognize(account, client)
    const isStranger = caller.group === 'stranger'
    const { counters } = limits
    await limits.charge([
      ...counters.codeRequests(caller),
      ...(isStranger ? counters.registrations(client.addressBucket) : []),
    ])
    await limits.charge(
      counters.codes(caller, identifier, isStranger ? 'confirmation' : 'login_code', !isStranger),
    )
    const entry = await admission.readForProvider(body, client)
    await registration.begin(identifier, entry, client.language ?? config.server.language)
    if (await registration.sendAgain(identifier, account !== null)) return
    await sendCode(account, identifier, caller, { named: identifier })
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

  return {
    /** Reveals nothing of the account, and returns null, without its `login_token`. */
    async requestCode(
      body: RequestBody,
      client: DeviceSource & { language?: Language },
    ): Promise<SentCode | null> {
      const { identifier: typed, loginToken } = body
      if (typeof typed !== 'string') {
        throw new AppError('validation_failed', { fields: [{ field: 'identifier', code: 'required' }] })
      }
      const opens = await couldOpen(body, typed, client)
      if (opens) {
        await requestCodeOrAccount(opens, body, client)
        return null
      }
      const {
        identifier: typedIdentifier,
        key,
        account,
      } = await findNamedAccount(accounts, typed, defaultCountry)
      const { caller, record } = await callerOf(account, client, loginToken ?? null)
      if (record !== null && account?.twoFactorEnabled) {
        secondFactor.requireSentCodes(await secondFactor.find(account))
      }
      await limits.charge(limits.counters.codeRequests(caller))
      const named = key === typedIdentifier.key ? typedIdentifier : decoyIdentifier(typed)
      const identifier = (record !== null && contactBy(account, body.channel)) || typedIdentifier
      // A stranger is charged for the typed identifier, the others for the contact to which the code goes.
      const recipient = caller.group === 'stranger' ? named : ownRecipient(account, identifier)
      const charges = limits.counters.codes(caller, recipient, 'login_code', true)
      const resendAfterSeconds = await limits.chargeAndForesee(charges)
      const contact =
        record !== null && account?.lockedAt === null ? secondFactor.recipientOf(account, identifier) : null
      const sent = contact && {
        ...contact,
        expiresInSeconds: config.codes.lifetimeSeconds,
        resendAfterSeconds,
      }
      await sendCode(account, identifier, caller, { named, token: loginToken })
      return sent
    },
    /** Sends a code, inside a session, that confirms a change of the account. */
    async requestStepUpCode(signedIn: Authenticated, client: Source, channel: Channel | null = null) {
      requireOrdinary(signedIn.account)
      if (!signedIn.account.twoFactorEnabled) throw new AppError('two_factor_not_enabled')
      return secondFactor.sendStepUpCode(signedIn.account, inSession(signedIn, client), channel)
    },
    async verify(body: VerifyBody, device: Device, client: AddressSource) {
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
    },
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

  /** The caller group: a known device, or a login that waits for its second factor. */
  async function callerOf(account: Account | null, client: DeviceSource, loginToken: string | null) {
    const recognized = await devices.recognize(account, client)
    if (loginToken === null) return { caller: recognized, record: null }
    const record = await firstFactorRecords.find(
      account ?? { uuid: '', passwordDigest: null },
      client,
      loginToken,
    )
    return { caller: withFirstFactor(recognized, record?.factor ?? null, account, client), record }
  }

  /** The contact of the channel that somebody with the first factor asks for; strangers are not asked. */
  function contactBy(account: Account | null, channel: Channel | null | undefined): Identifier | null {
    const contact = account && channel ? secondFactor.contactBy(account, channel) : null
    return contact && parseIdentifier(contact.destination, defaultCountry)
  }

  /** The contact to which a code goes; the named one if the account has none. */
  function ownRecipient(account: Account | null, named: Identifier): Identifier {
    const contact = account && secondFactor.recipientOf(account, named)
    return (contact && parseIdentifier(contact.destination, defaultCountry)) ?? named
  }
}

const wrongCodes = new Set<ErrorCode>(['invalid_code', 'too_many_attempts'])

/** Of several callers with right codes and one record, the first one opens the session of that login. */
async function spend(record: FirstFactorRecord): Promise<void> {
  if (!(await record.take())) throw new AppError(record.by === 'token' ? 'login_expired' : 'invalid_code')
}

function withFirstFactor(
  recognized: Caller,
  first: FirstFactor | null,
  account: Account | null,
  client: DeviceSource,
): Caller {
  if (recognized.group === 'owner' || first === null || account === null) return recognized
  return withPassword(account, client)
}

const noFirstFactor = { first: null, record: null }
