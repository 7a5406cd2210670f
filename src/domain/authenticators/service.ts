/**
 * What proves the second factor beside a sent code: an authenticator app or a recovery code. Counts nothing: whoever
 * calls has counted the try. Only accounts with two factors on have either; for others, and for nobody, the work is
 * the same and nothing is right.
 */

import { AppError } from '../../errors.ts'
import type { Account } from '../accounts/account.ts'
import type { NoticePurpose } from '../delivery/message.ts'
import { serviceName } from '../delivery/render.ts'
import type { Services, Stores } from '../services.ts'
import type { Authenticated } from '../sessions/authentication.ts'
import { createRecoveryCodes } from './recovery-codes.ts'
import type { Enabling, TotpFactor } from './store.ts'
import { createTotp, type NewTotp } from './totp.ts'

export interface Authenticators {
  /** The authenticator app in use; null where there is none. */
  findApp(account: Account | null): Promise<TotpFactor | null>
  /** Uses a code of that app, or a recovery code, up: whether it was right. */
  use(account: Account | null, app: TotpFactor | null, typed: string): Promise<boolean>
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
  /** The old ones are dead. Throws `two_factor_not_enabled`. */
  replaceRecoveryCodes(signedIn: Authenticated): Promise<string[]>
}

type Needs = Pick<Services, 'notices' | 'secret' | 'clock' | 'config'> & {
  stores: Pick<Stores, 'authenticators'>
}

/** No account has it: keeps the work alike. */
const NOBODY = 0

/** Long enough to install an app; a screen that somebody left open yesterday enrols nothing. */
const ENROLMENT_MS = 30 * 60_000

export function createAuthenticators(needs: Needs): Authenticators {
  const { notices, secret, clock, config } = needs
  const totp = createTotp({ secret, issuer: serviceName(config) })
  const recoveryCodes = createRecoveryCodes({ secret })
  const store = needs.stores.authenticators

  const idOf = (account: Account | null) => (account?.twoFactorEnabled ? account.id : NOBODY)

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
    findApp: (account) => store.findTotp(idOf(account)),
    async use(account, app, typed) {
      const now = clock.now()
      const step = totp.match(app?.sealedSecret ?? null, typed, now)
      const recoveryHash = recoveryCodes.hash(account?.uuid ?? '', typed)
      const matched = app && step !== null ? { sealedSecret: app.sealedSecret, step } : null
      return store.use(idOf(account), { totp: matched, recoveryHash }, now)
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
      if (!(await store.putRecoveryCodes(signedIn, hashes))) throw new AppError('two_factor_not_enabled')
      return codes
    },
  }
}
