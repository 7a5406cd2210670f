/**
 * Passkeys: one step that counts as both factors. Only discoverable credentials are made, so that no answer depends on
 * an identifier that somebody typed. Options are kept nowhere (challenge.ts).
 */

import type { Ground } from '../../../platform/ground.ts'
import type { AssertionBody } from '../../../platform/http/passkey-schemas.ts'
import { AppError } from '../../../texts/errors.ts'
import type { AccountSession } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import { requireRemoval, usableMethods } from '../../accounts/core/sign-in-methods-sql.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import { isUuid } from '../../foundation/identifiers/identifier.ts'
import type { AddressSource, Source } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { SessionOpener } from '../../sessions/core/session-opener.ts'
import type { Reauthentication } from '../core/reauthentication.ts'
import type { SecondFactor } from '../core/second-factor.ts'
import type { OwnerProof } from '../core/sign-in-schema.ts'
import type { PasskeyFoundation } from './assertion-check.ts'
import { CHALLENGE_LIFETIME_MS, type ChallengePurpose } from './challenge.ts'
import { amrOf, NAME_CHARACTERS, type Passkey } from './passkey.ts'
import { createPasskeyRegistration, encode, MAXIMUM_PASSKEYS, type WebAuthnOptions } from './registration.ts'
import type { PasskeyStore } from './store.ts'

/**
 * The list that a client hands to `PublicKeyCredential`, so that it forgets the passkeys that are gone here (Signal
 * API).
 */
interface PasskeySignal {
  rpId: string
  userId: string | null
  credentialIds: string[]
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  secondFactor: SecondFactor
  sessionOpener: SessionOpener
  reauthentication: Reauthentication
  limits: LimitService
  notices: OwnerNotices
  providers: ProviderService
  stores: { passkeys: PasskeyStore }
}

export type PasskeyService = ReturnType<typeof createPasskeyService>

export function createPasskeyService(
  needs: Needs,
  { challenges, assertions, relyingParty }: Omit<PasskeyFoundation, 'confirmByPasskey'>,
) {
  const { secondFactor } = needs
  const { sessionOpener, reauthentication, limits, notices, clock, config, providers } = needs
  const store = needs.stores.passkeys
  const registration = createPasskeyRegistration(needs, challenges, relyingParty)

  const requestOptions = (purpose: ChallengePurpose) => ({
    challenge: encode(challenges.create(purpose)),
    rpId: relyingParty.id,
    allowCredentials: [],
    userVerification: 'required',
    timeout: CHALLENGE_LIFETIME_MS,
  })

  /**
   * Requires the password and, if two-factor sign-in is on, the second factor, unless the session has just verified
   * them. Returns whether more than the session was proved.
   */
  const requireOwner = (
    signedIn: Authenticated,
    proof: OwnerProof,
    client: Source,
    admit: () => Promise<void>,
  ) => reauthentication.require(signedIn, proof, client, { admit, recentSignInSuffices: true })

  /** A passkey of another relying party can only be listed and removed. */
  const isUsable = ({ rpId }: Passkey) => rpId === relyingParty.id

  return {
    async loginOptions({ addressBucket }: Source): Promise<WebAuthnOptions> {
      await limits.charge(limits.counters.passkeyOptions(addressBucket))
      return requestOptions({ kind: 'login' })
    },
    /** Never a second step: the device checked the person as well as the key. */
    async logIn(credential: AssertionBody, device: Device, { address, addressBucket }: AddressSource) {
      await limits.charge(limits.counters.passkeyAttempts(addressBucket))
      const checked = await assertions.check(credential, { kind: 'login' })
      const { account, passkey } = checked
      if (account.lockedAt !== null) throw new AppError('account_locked')
      return sessionOpener.open({
        account,
        device,
        address,
        amr: amrOf(passkey),
        write: (session) => assertions.signIn(checked, session),
      })
    },
    async registrationOptions(signedIn: Authenticated, proof: OwnerProof, client: Source) {
      const existing = await store.list(signedIn.account.id)
      const proved = await requireOwner(signedIn, proof, client, async () => {
        if (existing.length >= MAXIMUM_PASSKEYS) throw new AppError('passkey_limit')
      })
      return registration.options(signedIn, existing, proved)
    },
    register: registration.register,
    async stepUpOptions(
      { account, sessionId }: AccountSession,
      { addressBucket }: Source,
      kind: 'step_up' | 'second_factor' = 'step_up',
    ): Promise<WebAuthnOptions> {
      await limits.charge(limits.counters.passkeyOptions(addressBucket))
      return requestOptions({ kind, accountUuid: account.uuid, sessionId })
    },
    async list({ account }: Authenticated): Promise<{ passkeys: Passkey[]; signal: PasskeySignal }> {
      const passkeys = await store.list(account.id)
      const userId = passkeys[0] === undefined ? null : encode(passkeys[0].userHandle)
      const credentialIds = passkeys.filter(isUsable).map(({ credentialId }) => credentialId)
      return { passkeys, signal: { rpId: relyingParty.id, userId, credentialIds } }
    },
    async rename({ account }: Authenticated, id: string, name: string): Promise<Passkey> {
      const wrong = name === '' ? 'required' : name.length > NAME_CHARACTERS ? 'too_long' : null
      if (wrong !== null)
        throw new AppError('validation_failed', { fields: [{ field: 'name', code: wrong }] })
      await limits.charge(limits.counters.ownChanges(account.uuid))
      const renamed = isUuid(id) ? await store.rename(account, id, name, clock.now()) : null
      if (renamed === null) throw new AppError('passkey_not_found')
      return renamed
    },
    async remove(signedIn: Authenticated, id: string, proof: OwnerProof, client: Source) {
      const { account, claims } = signedIn
      const passkey = (await store.list(account.id)).find((one) => one.id === id)
      const { app } = await secondFactor.find(account)
      const usable = { ...usableMethods(providers.names, config), appOpens: app === 'usable' }
      await requireOwner(signedIn, proof, client, async () => {
        if (!passkey) throw new AppError('passkey_not_found')
        const foreseen = await store.foreseeRemoval(account.id, id, usable)
        requireRemoval({ ...foreseen, lives: true }, 'passkey_not_found')
      })
      if (!passkey) throw new AppError('passkey_not_found')
      const about = await notices.about(account, 'passkey_removed', { values: { passkey: passkey.name } })
      const owner = { account, sessionId: claims.sessionId }
      const removal = await store.remove(owner, id, usable, about, clock.now())
      requireRemoval(removal, 'passkey_not_found')
    },
  }
}
