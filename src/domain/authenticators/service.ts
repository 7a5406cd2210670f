/**
 * What proves the second factor beside a sent code: an authenticator app or a recovery code. It counts nothing:
 * whoever calls has counted the try. Only accounts with two factors on have either; for others, and for accounts that
 * do not exist, the work is the same and nothing is right. An app whose secret was sealed under another server secret
 * counts as set up and never matches: recovery codes serve, and then codes that are sent.
 */

import { AppError } from '../../errors.ts'
import type { Account } from '../accounts/account.ts'
import { decoyAccountId } from '../decoys/decoys.ts'
import type { NoticePurpose } from '../delivery/message.ts'
import { serviceName } from '../delivery/render.ts'
import type { Services, Stores } from '../services.ts'
import type { Authenticated } from '../sessions/authentication.ts'
import { createRecoveryCodes } from './recovery-codes.ts'
import type { Enabling, StoredFactors } from './store.ts'
import { createTotp, type NewTotp } from './totp.ts'

/** The factors of an account, read once for a call. */
export interface HeldFactors {
  /** Null: the identifier has no account. */
  account: Account | null
  /** `lost`: it is set up, and its secret cannot be opened any more. */
  app: 'none' | 'usable' | 'lost'
  recoveryCodesLeft: number
  /** Codes may be sent: there is no app, or it is lost and no recovery code stands between. */
  acceptsSentCodes: boolean
  stored: StoredFactors
}

export interface Authenticators {
  find(account: Account | null): Promise<HeldFactors>
  /** Uses a code of the app up: whether it was right. */
  useAppCode(held: HeldFactors, typed: string): Promise<boolean>
  /** Whether what was typed has the form of a recovery code. */
  isRecoveryCode(typed: string): boolean
  /** Uses a recovery code up: whether it was right. The owner is told how many are left. */
  useRecoveryCode(held: HeldFactors, typed: string): Promise<boolean>
  /** Tells the owner, once, that the app cannot be used any more; nothing for an app that can. */
  tellLoss(held: HeldFactors): Promise<void>
  /** How many apps were sealed under another server secret or are damaged. */
  countLost(): Promise<number>
  /** An app that waits for its first code, in place of one that waited before. Throws `invalid_token`. */
  beginEnrolment(signedIn: Authenticated, label: string): Promise<NewTotp>
  /**
   * The app that waits is the one in use now, two factors are on; gives the new recovery codes, in clear this once.
   * Null when the code is not one of that app, or when none waits.
   */
  confirmEnrolment(signedIn: Authenticated, typed: string): Promise<string[] | null>
  /** With sent codes. Gives the recovery codes. Throws `two_factor_already_enabled`. */
  enable(signedIn: Authenticated): Promise<string[]>
  /** Erases app and recovery codes. Throws `two_factor_not_enabled`. */
  disable(signedIn: Authenticated): Promise<void>
  /** The old ones are dead, and the owner is told. Throws `two_factor_not_enabled`. */
  replaceRecoveryCodes(signedIn: Authenticated): Promise<string[]>
}

type Needs = Pick<Services, 'notices' | 'secret' | 'clock' | 'config'> & {
  stores: Pick<Stores, 'authenticators'>
}

const LISTED_AT_ONCE = 500

/** Long enough to install an app; a screen that somebody left open yesterday enrols nothing. */
const ENROLMENT_MS = 30 * 60_000

export function createAuthenticators(needs: Needs): Authenticators {
  const { notices, secret, clock, config } = needs
  const totp = createTotp({ secret, issuer: serviceName(config) })
  const recoveryCodes = createRecoveryCodes({ secret })
  const store = needs.stores.authenticators

  const idOf = (account: Account | null) => (account?.twoFactorEnabled ? account.id : decoyAccountId)

  async function prepare({ account, claims }: Authenticated, purpose: NoticePurpose) {
    const { codes, hashes } = recoveryCodes.create(account.uuid)
    const enabling: Enabling = {
      amr: [...new Set([...claims.amr, 'otp', 'mfa'])],
      recoveryHashes: hashes,
      notices: await notices.about(account, purpose),
    }
    return { enabling, codes }
  }

  return {
    async find(account) {
      const stored = await store.find(idOf(account))
      const { sealedSecret, recoveredAt, recoveryHashes } = stored
      const app = sealedSecret === null ? 'none' : totp.opens(sealedSecret) ? 'usable' : 'lost'
      return {
        account,
        app,
        recoveryCodesLeft: recoveryHashes.length,
        acceptsSentCodes:
          app === 'none' || (app === 'lost' && (recoveredAt !== null || recoveryHashes.length === 0)),
        stored,
      }
    },
    async useAppCode({ account, stored: { sealedSecret } }, typed) {
      const now = clock.now()
      const step = totp.match(sealedSecret, typed, now)
      const matched = sealedSecret !== null && step !== null ? { sealedSecret, step } : null
      return store.use(idOf(account), { totp: matched, recoveryHash: null, lostApp: null }, now)
    },
    isRecoveryCode: recoveryCodes.isRecoveryCode,
    async useRecoveryCode({ account, app, stored }, typed) {
      const recoveryHash = recoveryCodes.match(account?.uuid ?? '', typed, stored.recoveryHashes)
      const lostApp = app === 'lost' ? stored.sealedSecret : null
      return store.use(idOf(account), { totp: null, recoveryHash, lostApp }, clock.now())
    },
    async tellLoss({ account, app, stored: { sealedSecret, lossToldAt } }) {
      if (account === null || sealedSecret === null || app !== 'lost' || lossToldAt !== null) return
      const about = await notices.about(account, 'authenticator_lost')
      await store.noteLoss(account.id, sealedSecret, about, clock.now())
    },
    async countLost() {
      let lost = 0
      let after = 0
      for (;;) {
        const apps = await store.listApps(after, LISTED_AT_ONCE)
        lost += apps.filter(({ sealedSecret }) => !totp.opens(sealedSecret)).length
        const last = apps.at(-1)
        if (last === undefined || apps.length < LISTED_AT_ONCE) return lost
        after = last.accountId
      }
    },
    async beginEnrolment(signedIn, label) {
      const created = totp.create(label)
      if (!(await store.putEnrolment(signedIn, created.sealedSecret, clock.now())))
        throw new AppError('invalid_token', { cause: 'session_over' })
      return created
    },
    async confirmEnrolment(signedIn, typed) {
      const now = clock.now()
      const { account } = signedIn
      const app = await store.findEnrolment(account.id, new Date(now.getTime() - ENROLMENT_MS))
      const step = totp.match(app?.sealedSecret ?? null, typed, now)
      if (app === null || step === null) return null
      const purpose = account.twoFactorEnabled ? 'authenticator_changed' : 'two_factor_enabled'
      const { enabling, codes } = await prepare(signedIn, purpose)
      const confirmed = { ...enabling, totp: { sealedSecret: app.sealedSecret, step } }
      if (!(await store.confirmEnrolment(signedIn, confirmed, now))) return null
      return codes
    },
    async enable(signedIn) {
      const { enabling, codes } = await prepare(signedIn, 'two_factor_enabled')
      if (!(await store.enable(signedIn, enabling, clock.now())))
        throw new AppError('two_factor_already_enabled')
      return codes
    },
    async disable(signedIn) {
      const about = await notices.about(signedIn.account, 'two_factor_disabled')
      if (!(await store.disable(signedIn, about, clock.now()))) throw new AppError('two_factor_not_enabled')
    },
    async replaceRecoveryCodes(signedIn) {
      const { codes, hashes } = recoveryCodes.create(signedIn.account.uuid)
      const about = await notices.about(signedIn.account, 'recovery_codes_replaced')
      if (!(await store.putRecoveryCodes(signedIn, hashes, about, clock.now()))) {
        throw new AppError('two_factor_not_enabled')
      }
      return codes
    },
  }
}
