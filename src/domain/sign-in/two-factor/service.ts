/**
 * Two-factor sign-in as its owner manages it: turned on with sent codes or an authenticator app, turned off, recovery
 * codes replaced. Every change needs the password and, while it is on, the second factor; a stolen access token alone
 * changes nothing. Turning it on ends the other sessions that a single factor opened; turning it off ends none.
 */

import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import { type Account, type Contact, verifiedContacts } from '../../accounts/core/account.ts'
import type { Authenticators } from '../../credentials/authenticators/service.ts'
import { pictureOf } from '../../credentials/authenticators/totp.ts'
import { type Caller, inSession, type Source } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { SentCode } from '../core/code-destinations.ts'
import { mainIdentifier } from '../core/named-account.ts'
import type { Reauthentication } from '../core/reauthentication.ts'
import type { SecondFactor } from '../core/second-factor.ts'
import type { OwnerProof } from '../core/sign-in-schema.ts'
import type { PasskeyStore } from '../passkeys/store.ts'

interface Needs extends Pick<Ground, 'config'> {
  secondFactor: SecondFactor
  reauthentication: Reauthentication
  authenticators: Authenticators
  codes: CodeService
  limits: LimitService
  stores: { passkeys: PasskeyStore }
}

/** The calls with a password check it as Reauthentication does, and those with a code use it up. */
export type TwoFactorService = ReturnType<typeof createTwoFactorService>

export function createTwoFactorService(needs: Needs) {
  const { secondFactor, reauthentication, authenticators, codes, limits, config, stores } = needs
  const { defaultCountry } = config.accounts

  /** An e-mail address counts as a second factor only if the configuration allows it. */
  const enrolmentContacts = (account: Account): Contact[] =>
    verifiedContacts(account).filter(({ channel }) => channel !== 'email' || config.twoFactor.allowEmail)

  /** The one of this kind, or the first. */
  function enrolmentContact(account: Account, wanted?: Contact['channel']): Contact {
    const contact = enrolmentContacts(account).find(({ channel }) => channel === (wanted ?? channel))
    if (contact === undefined) throw new AppError('no_verified_contact')
    return contact
  }

  const enrolmentBinding = ({ uuid }: Account, { destination }: Contact): CodeBinding => ({
    subject: uuid,
    purpose: 'two_factor_enrolment',
    group: 'owner',
    destination,
  })

  async function countVerification(signedIn: Authenticated, client: Source): Promise<Caller> {
    const caller = inSession(signedIn, client)
    await limits.chargeVisit('verification', caller)
    return caller
  }

  /** Throws where codes cannot be turned on. */
  function contactToEnable(signedIn: Authenticated, method?: Contact['channel']): Contact {
    requireOneFactor(signedIn)
    requireOtherFirst(signedIn.account)
    return enrolmentContact(signedIn.account, method)
  }

  async function sendEnabling(signedIn: Authenticated, contact: Contact, client: Source): Promise<SentCode> {
    const { account } = signedIn
    const binding = enrolmentBinding(account, contact)
    const sent = await secondFactor.sendToOwner(account, contact, binding, inSession(signedIn, client))
    if (sent === null) throw new AppError('no_verified_contact')
    return sent
  }

  return {
    /** Sends a code to a verified contact of this kind; without one, to the e-mail address first if `two_factor.allow_email`. */
    async requestEnabling(
      signedIn: Authenticated,
      { method, ...proof }: OwnerProof & { method?: Contact['channel'] | null | undefined },
      client: Source,
    ): Promise<SentCode> {
      const admit = async () => void contactToEnable(signedIn, method ?? undefined)
      await reauthentication.require(signedIn, proof, client, { admit })
      return sendEnabling(signedIn, contactToEnable(signedIn, method ?? undefined), client)
    },
    /** Sends it once more to a session that the caller knows to have proved itself a moment ago. */
    requestEnablingAgain: async (signedIn: Authenticated, client: Source): Promise<SentCode> =>
      sendEnabling(signedIn, contactToEnable(signedIn), client),
    /**
     * Turns two-factor sign-in on for an account with a passkey, which counts as the second factor. Returns the recovery
     * codes.
     */
    async enableWithPasskey(signedIn: Authenticated, proof: OwnerProof, client: Source): Promise<string[]> {
      const admit = async () => {
        requireOneFactor(signedIn)
        const passkeys = await stores.passkeys.list(signedIn.account.id)
        if (!passkeys.some(({ rpId }) => rpId === config.passkeys.rpId))
          throw new AppError('passkey_not_found')
      }
      await reauthentication.require(signedIn, proof, client, { admit })
      return authenticators.enable(signedIn, 'passkey')
    },
    /** Returns the recovery codes. */
    async confirmEnabling(signedIn: Authenticated, otp: string, client: Source): Promise<string[]> {
      const caller = await countVerification(signedIn, client)
      const { account } = signedIn
      if (account.twoFactorEnabled) throw new AppError('two_factor_already_enabled')
      requireOtherFirst(account)
      const contact = enrolmentContact(account)
      const others = enrolmentContacts(account).map(({ destination }) => destination)
      await codes.attempt(enrolmentBinding(account, contact), otp, { caller, name: '', others })
      return authenticators.enable(signedIn, 'code')
    },
    /** An app that was confirmed earlier stays in use until `confirmApp`. */
    async requestApp(signedIn: Authenticated, proof: OwnerProof, client: Source) {
      await reauthentication.require(signedIn, proof, client)
      const { account } = signedIn
      const { secret, uri } = await authenticators.beginEnrolment(
        signedIn,
        mainIdentifier(account, defaultCountry).destination,
      )
      return { secret, uri, picture: pictureOf(uri) }
    },
    /** Returns the recovery codes; older ones stop working. */
    async confirmApp(signedIn: Authenticated, otp: string, client: Source): Promise<string[]> {
      const caller = await countVerification(signedIn, client)
      const { uuid } = signedIn.account
      let recoveryCodes: string[] | null = null
      const code = { subject: uuid, purpose: 'two_factor_enrolment', destination: uuid } as const
      await codes.attempt(code, otp, { caller, factor: 'totp', name: '' }, async (allowed) => {
        recoveryCodes = allowed ? await authenticators.confirmEnrolment(signedIn, otp) : null
        return recoveryCodes === null ? 'wrong' : 'right'
      })
      if (recoveryCodes === null) throw new AppError('invalid_code')
      return recoveryCodes
    },
    async disable(signedIn: Authenticated, proof: OwnerProof, client: Source): Promise<void> {
      await reauthentication.require(signedIn, proof, client, { admit: () => requireTwoFactors(signedIn) })
      await authenticators.disable(signedIn)
    },
    /** Ends a removal that waits, as every use of the app or of a passkey does. A code of another kind is refused, and not used up. */
    async keep(signedIn: Authenticated, proof: OwnerProof, client: Source): Promise<void> {
      const admit = async () => {
        requireTwoFactors(signedIn)
        const { app } = await authenticators.find(signedIn.account)
        if (proof.otp && (app !== 'usable' || authenticators.isRecoveryCode(proof.otp)))
          throw new AppError('invalid_code')
      }
      await reauthentication.require(signedIn, proof, client, { admit })
    },
    async replaceRecoveryCodes(signedIn: Authenticated, proof: OwnerProof, client: Source) {
      await reauthentication.require(signedIn, proof, client, { admit: () => requireTwoFactors(signedIn) })
      return authenticators.replaceRecoveryCodes(signedIn)
    },
  }
}

function requireOneFactor({ account }: Authenticated): void {
  if (account.twoFactorEnabled) throw new AppError('two_factor_already_enabled')
}

/** Codes by message are the first factor of an account without a password. */
function requireOtherFirst({ passwordDigest }: Account): void {
  if (passwordDigest === null) throw new AppError('no_other_factor')
}

function requireTwoFactors({ account }: Authenticated): void {
  if (!account.twoFactorEnabled) throw new AppError('two_factor_not_enabled')
}
