/**
 * The second step at a place with a policy, where the token of the first one alone names the sign-in: a code of the app, a
 * passkey, or an app that is set up with it for an account without any second factor.
 */

import { createHash, randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import type { AssertionBody } from '../../../platform/http/passkey-schemas.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { Authenticators } from '../../credentials/authenticators/service.ts'
import { pictureOf } from '../../credentials/authenticators/totp.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { type AddressSource, type Source, withPassword } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { OpenedSession, SessionOpener } from '../../sessions/core/session-opener.ts'
import type { SessionStore } from '../../sessions/core/store.ts'
import type { FirstFactorRecord, FirstFactorRecords } from '../core/first-factor-record.ts'
import type { ConfirmByPasskey } from '../core/reauthentication.ts'
import type { SecondFactor } from '../core/second-factor.ts'
import type { PasskeyService } from '../passkeys/service.ts'
import type { LoginByCodeService } from './service.ts'

/** The proof beside the password. */
export interface SecondProof {
  otp?: string | null | undefined
  credential?: AssertionBody | null | undefined
}

interface Needs extends Pick<Ground, 'clock'> {
  policy: SignInPolicy
  firstFactorRecords: FirstFactorRecords
  secondFactor: SecondFactor
  sessionOpener: SessionOpener
  loginByCode: LoginByCodeService
  passkeys: Pick<PasskeyService, 'stepUpOptions'>
  confirmByPasskey: ConfirmByPasskey
  authenticators: Authenticators
  devices: KnownDevices
  events: GatheredEvents
  limits: LimitService
  stores: { accounts: AccountStore; sessions: SessionStore }
}

export type SecondStep = ReturnType<typeof createSecondStep>

export function createSecondStep(needs: Needs) {
  const { policy, firstFactorRecords, secondFactor, sessionOpener, loginByCode, passkeys } = needs
  const { confirmByPasskey, authenticators, devices, events, limits, stores, clock } = needs

  async function requirePending(loginToken: string, addressBucket = '') {
    const uuid = await firstFactorRecords.findAccountUuid(loginToken)
    const account = uuid === null ? null : await stores.accounts.findByUuid(uuid)
    const client = { fingerprint: null, addressBucket }
    const record = account && (await firstFactorRecords.find(account, client, loginToken))
    if (account === null || record === null) throw new AppError('login_expired')
    if (account.lockedAt !== null) throw new AppError('account_locked')
    return { account, record, pending: { account, sessionId: contextOf(loginToken) } }
  }

  /** Somebody who has another second factor proves that one first, in their account: a password alone adds none. */
  async function requireNoFactor(account: Account): Promise<void> {
    const methods = secondFactor.methods(await secondFactor.find(account), false)
    if (methods.length > 0 || account.twoFactorEnabled)
      throw new AppError('two_factor_required', { twoFactor: { methods } })
  }

  async function usePasskey(
    { account, record, pending }: Awaited<ReturnType<typeof requirePending>>,
    credential: AssertionBody,
    device: Device,
    { address, addressBucket }: AddressSource,
  ): Promise<OpenedSession> {
    await limits.charge(limits.counters.passkeyAttempts(addressBucket))
    const proved = await confirmByPasskey(pending, credential, 'second_factor').catch((error: unknown) => {
      if (error instanceof AppError) events.add(policy.failure, account)
      throw error
    })
    await spend(record)
    return sessionOpener.open({ account, device, address, amr: [record.factor, ...proved] })
  }

  /** The app is theirs from then on, and the recovery codes are shown once. */
  async function enrol(
    account: Account,
    app: Uint8Array,
    otp: string,
    opened: { id: string; device: Device; address: string },
  ) {
    const { id: sessionId, device, address } = opened
    const owner = { account, sessionId, deviceFingerprint: device.fingerprint, signInIp: address }
    const recoveryCodes = await authenticators.enrol(owner, ['pwd'], app, otp)
    if (recoveryCodes !== null) return recoveryCodes
    await stores.sessions.end(sessionId, account.uuid, clock.now())
    throw new AppError('invalid_code')
  }

  async function setUpApp(
    { account, record }: Awaited<ReturnType<typeof requirePending>>,
    app: Uint8Array,
    otp: string,
    device: Device,
    client: AddressSource,
  ) {
    const { fingerprint } = device
    const recognized = await devices.recognizeAtLogin(account, { ...client, fingerprint })
    await limits.chargeVisit(
      'verification',
      recognized.group === 'owner' ? recognized : withPassword(account, client),
    )
    await requireNoFactor(account)
    if (!authenticators.matchesApp(app, otp)) {
      events.add(policy.failure, account)
      throw new AppError('invalid_code')
    }
    await spend(record)
    const session = { id: randomUUID(), device, address: client.address }
    const signedIn = await sessionOpener.open({ ...session, account, amr: [record.factor, 'otp', 'mfa'] })
    return { signedIn, recoveryCodes: await enrol(account, app, otp, session) }
  }

  return {
    /** Makes an app to set up, in place of one that was asked for before. */
    async requestApp(loginToken: string) {
      const { account, record } = await requirePending(loginToken)
      await requireNoFactor(account)
      const app = authenticators.createApp(account.email ?? account.phone ?? account.uuid)
      await firstFactorRecords.keepApp(account, loginToken, record.factor, app.sealedSecret)
      return { secret: app.secret, uri: app.uri, picture: pictureOf(app.uri) }
    },
    async passkeyOptions(loginToken: string, client: Source) {
      const { pending } = await requirePending(loginToken)
      return passkeys.stepUpOptions(pending, client, 'second_factor')
    },
    /** Of any number of callers with one token, one opens a session. `recoveryCodes`: only where an app was set up. */
    async verify(
      loginToken: string,
      { otp, credential }: SecondProof,
      device: Device,
      client: AddressSource,
    ): Promise<{ signedIn: OpenedSession; recoveryCodes?: string[] }> {
      const found = await requirePending(loginToken, client.addressBucket)
      if (credential) return { signedIn: await usePasskey(found, credential, device, client) }
      const typed = requireCode(otp)
      const { app } = found.record
      if (app !== null) return setUpApp(found, app, typed, device, client)
      const body = { identifier: found.account.uuid, otp: typed, loginToken }
      const outcome = await loginByCode.verify(body, device, client)
      if ('due' in outcome) throw new AppError('invalid_code')
      return outcome
    },
  }
}

/** What a passkey signs for in place of a session. */
const contextOf = (loginToken: string) => createHash('sha256').update(loginToken).digest('base64url')

export function requireCode(otp: SecondProof['otp']): string {
  if (!otp) throw new AppError('validation_failed', { fields: [{ field: 'otp', code: 'required' }] })
  return otp
}

async function spend(record: FirstFactorRecord): Promise<void> {
  if (!(await record.take())) throw new AppError('login_expired')
}
