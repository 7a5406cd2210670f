/** Setting a second factor up in a session, and turning two factors on and off. */

import type { Ground } from '../../../platform/ground.ts'
import { AppError, type SetUpFactor } from '../../../texts/errors.ts'
import type { Account, AccountSession } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { KnownDevices, SessionClient } from '../../accounts/devices/service.ts'
import type { NoticePurpose } from '../../messages/outbox/message.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { Enabling, EnrolmentStore } from './enrolment-store.ts'
import type { createRecoveryCodes } from './recovery-codes.ts'
import type { createTotp } from './totp.ts'

/** A session in which somebody sets a factor up. */
type Enroller = AccountSession & SessionClient & Pick<Authenticated, 'renew'>

interface Needs extends Pick<Ground, 'clock'> {
  notices: OwnerNotices
  devices: Pick<KnownDevices, 'keptOf'>
  stores: { enrolments: EnrolmentStore }
  totp: ReturnType<typeof createTotp>
  recoveryCodes: ReturnType<typeof createRecoveryCodes>
  endRemoval(account: Account, by: SetUpFactor): Promise<void>
}

/** Long enough to install an app; the code on a screen left open since yesterday is not accepted. */
const ENROLMENT_MS = 30 * 60_000

export function createEnrolment({ notices, devices, clock, stores, totp, recoveryCodes, endRemoval }: Needs) {
  const { enrolments } = stores

  async function prepare(owner: Enroller, amr: string[], purpose: NoticePurpose) {
    const { account } = owner
    const { codes, hashes } = recoveryCodes.create(account.uuid)
    const enabling: Enabling = {
      amr: [...new Set([...amr, 'otp', 'mfa'])],
      recoveryHashes: hashes,
      keptDevice: devices.keptOf(account.uuid, owner),
      notices: await notices.about(account, purpose),
    }
    return { enabling, codes }
  }

  async function confirmEnrolment(owner: Enroller, amr: string[], typed: string) {
    const now = clock.now()
    const { account } = owner
    const app = await enrolments.findEnrolment(account.id, new Date(now.getTime() - ENROLMENT_MS))
    const step = totp.match(app?.sealedSecret ?? null, typed, now)
    if (app === null || step === null) return null
    const purpose = account.twoFactorEnabled ? 'authenticator_changed' : 'two_factor_enabled'
    const { enabling, codes } = await prepare(owner, amr, purpose)
    const confirmed = { ...enabling, totp: { sealedSecret: app.sealedSecret, step } }
    await owner.renew?.()
    if (!(await enrolments.confirmEnrolment(owner, confirmed, now))) return null
    if (account.twoFactorEnabled) await endRemoval(account, 'totp')
    return codes
  }

  /** Creates an app that waits for its first code, replacing one that was waiting. */
  async function beginEnrolment(signedIn: Authenticated, label: string) {
    const created = totp.create(label)
    if (!(await enrolments.putEnrolment(signedIn, created.sealedSecret, clock.now())))
      throw new AppError('invalid_token', { cause: 'session_over' })
    return created
  }

  /**
   * Makes the waiting app the one in use and turns two-factor sign-in on. Returns the new recovery codes, which are shown
   * only this once. It returns null if the code is not one of that app, or if no app is waiting.
   */
  const confirmInSession = (signedIn: Authenticated, typed: string): Promise<string[] | null> =>
    confirmEnrolment(signedIn, signedIn.claims.amr, typed)

  /** Makes that app the one in use, as soon as there is a session. It returns null where that session ended meanwhile. */
  async function enrol(
    owner: Enroller,
    amr: string[],
    app: Uint8Array,
    typed: string,
  ): Promise<string[] | null> {
    if (!(await enrolments.putEnrolment(owner, app, clock.now()))) return null
    return confirmEnrolment(owner, amr, typed)
  }

  /** Turns two-factor sign-in on with sent codes, and returns the recovery codes. */
  async function enable(signedIn: Authenticated, method: 'code' | 'passkey'): Promise<string[]> {
    const { enabling, codes } = await prepare(signedIn, signedIn.claims.amr, 'two_factor_enabled')
    await signedIn.renew?.()
    if (!(await enrolments.enable(signedIn, method, enabling, clock.now())))
      throw new AppError('two_factor_already_enabled')
    return codes
  }

  /** Turns two-factor sign-in off, and removes app and recovery codes. */
  async function disable(signedIn: Authenticated): Promise<void> {
    const about = await notices.about(signedIn.account, 'two_factor_disabled')
    if (!(await enrolments.disable(signedIn, about, clock.now())))
      throw new AppError('two_factor_not_enabled')
  }

  /** Replaces the recovery codes and notifies the owner. */
  async function replaceRecoveryCodes(signedIn: Authenticated): Promise<string[]> {
    const { codes, hashes } = recoveryCodes.create(signedIn.account.uuid)
    const about = await notices.about(signedIn.account, 'recovery_codes_replaced')
    if (!(await enrolments.putRecoveryCodes(signedIn, hashes, about, clock.now()))) {
      throw new AppError('two_factor_not_enabled')
    }
    return codes
  }

  return {
    ...{ beginEnrolment, confirmEnrolment: confirmInSession, enrol },
    ...{ enable, disable, replaceRecoveryCodes },
  }
}
