/**
 * Passkeys: one step that counts as both factors. Only discoverable credentials are made, so that no answer depends on
 * an identifier that somebody typed. Options are kept nowhere (challenge.ts).
 */

import { randomUUID } from 'node:crypto'
import { AppError } from '../../../errors.ts'
import type { Clock } from '../../../platform/clock.ts'
import { serviceName } from '../../../platform/config/service-name.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { AssertionBody, Attestation } from '../../../platform/http/passkey-schemas.ts'
import type { Account } from '../../accounts/accounts/account.ts'
import type { OwnerNotices } from '../../accounts/accounts/owner-notices.ts'
import type { ProviderService } from '../../credentials/providers/service.ts'
import { isUuid } from '../../foundation/identifiers/uuid.ts'
import type { LimitService } from '../../limits/limits/service.ts'
import type { NoticePurpose } from '../../messages/outbox/message.ts'
import type { Authenticated } from '../../sessions/sessions/authentication.ts'
import type { Device } from '../../sessions/sessions/session.ts'
import type { LogInAnswer, SessionOpener } from '../../sessions/sessions/session-opener.ts'
import type { OwnerProof, Reauthentication } from '../sign-in/reauthentication.ts'
import type { SecondFactor } from '../sign-in/second-factor.ts'
import type { AssertionCheck } from './assertion-check.ts'
import { authenticatorName } from './authenticator-names.ts'
import { CHALLENGE_LIFETIME_MS, type Challenges } from './challenge.ts'
import { amrOf, NAME_CHARACTERS, type Passkey } from './passkey.ts'
import type { PasskeyStore } from './store.ts'
import {
  ALGORITHMS,
  causeOfRefusal,
  challengeOf,
  type RelyingParty,
  verifyRegistration,
} from './verification.ts'

export interface PasskeyClient {
  address: string
  addressBucket: string
}

/**
 * The list that a client hands to `PublicKeyCredential`, so that it forgets the passkeys that are gone here (Signal
 * API).
 */
export interface PasskeySignal {
  rpId: string
  userId: string | null
  credentialIds: string[]
}

/** The options of `navigator.credentials`, in their JSON form. */
export interface WebAuthnOptions {
  challenge: string
  [member: string]: unknown
}

export interface PasskeyService {
  loginOptions(client: PasskeyClient): Promise<WebAuthnOptions>
  /** Never a second step: the device checked the person as well as the key. */
  logIn(credential: AssertionBody, device: Device, client: PasskeyClient): Promise<LogInAnswer>
  registrationOptions(
    signedIn: Authenticated,
    proof: OwnerProof,
    client: PasskeyClient,
  ): Promise<WebAuthnOptions>
  register(
    signedIn: Authenticated,
    credential: Attestation,
    name: string | null,
    client: PasskeyClient,
  ): Promise<Passkey>
  stepUpOptions(signedIn: Authenticated, client: PasskeyClient): Promise<WebAuthnOptions>
  list(signedIn: Authenticated): Promise<{ passkeys: Passkey[]; signal: PasskeySignal }>
  rename(signedIn: Authenticated, id: string, name: string): Promise<Passkey>
  remove(signedIn: Authenticated, id: string, proof: OwnerProof, client: PasskeyClient): Promise<void>
}

interface Needs {
  secondFactor: SecondFactor
  sessionOpener: SessionOpener
  reauthentication: Reauthentication
  limits: LimitService
  notices: OwnerNotices
  clock: Clock
  config: Config
  providers: ProviderService
  stores: { passkeys: PasskeyStore }
}

/** The part that signing in depends on. */
export interface PasskeyFoundation {
  challenges: Challenges
  assertions: AssertionCheck
  relyingParty: RelyingParty
}

export const MAXIMUM_PASSKEYS = 10

const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

export function createPasskeyService(
  needs: Needs,
  { challenges, assertions, relyingParty }: PasskeyFoundation,
): PasskeyService {
  const { secondFactor } = needs
  const { sessionOpener, reauthentication, limits, notices, clock, config, providers } = needs
  const store = needs.stores.passkeys
  const siteName = config.passkeys.rpName ?? serviceName(config)

  const requestOptions = (challenge: Uint8Array) => ({
    challenge: encode(challenge),
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
    client: PasskeyClient,
    admit: () => Promise<void>,
  ) => reauthentication.require(signedIn, proof, client, { admit, recentSignInSuffices: true })

  const noticesOf = async (account: Account, purpose: NoticePurpose, passkey: string) =>
    (await notices.about(account, purpose)).map((notice) => ({
      ...notice,
      values: { ...notice.values, passkey },
    }))

  /** A passkey of another relying party can only be listed and removed. */
  const isUsable = ({ rpId }: Passkey) => rpId === relyingParty.id

  const displayName = (account: Account) => account.email ?? account.phone ?? account.uuid

  return {
    async loginOptions({ addressBucket }) {
      await limits.charge(limits.counters.passkeyOptions(addressBucket))
      return requestOptions(challenges.create({ kind: 'login' }))
    },

    async logIn(credential, device, { address, addressBucket }) {
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

    async registrationOptions(signedIn, proof, client) {
      const { account, claims } = signedIn
      const existing = await store.list(account.id)
      const proved = await requireOwner(signedIn, proof, client, async () => {
        if (existing.length >= MAXIMUM_PASSKEYS) throw new AppError('passkey_limit')
      })
      const challenge = challenges.create({
        kind: proved ? 'proved_registration' : 'registration',
        accountUuid: account.uuid,
        sessionId: claims.sessionId,
      })
      const name = displayName(account)
      return {
        challenge: encode(challenge),
        rp: { id: relyingParty.id, name: siteName },
        user: {
          id: encode(existing[0]?.userHandle ?? challenges.randomOf(challenge)),
          name,
          displayName: name,
        },
        pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
        timeout: CHALLENGE_LIFETIME_MS,
        attestation: 'none',
        excludeCredentials: existing.filter(isUsable).map(({ credentialId, transports }) => ({
          id: credentialId,
          type: 'public-key',
          transports,
        })),
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        extensions: { credProps: true },
        hints: [],
      }
    },

    async register(signedIn, credential, name, { addressBucket }) {
      await limits.charge(limits.counters.passkeyAttempts(addressBucket))
      const { account, claims } = signedIn
      const bytes = challengeOf(credential)
      const owner = { account, sessionId: claims.sessionId }
      const open = (kind: 'registration' | 'proved_registration') =>
        bytes && challenges.open(bytes, { kind, accountUuid: account.uuid, sessionId: owner.sessionId })
      const provedChallenge = open('proved_registration')
      const challenge = provedChallenge ?? open('registration')
      const made = bytes && challenge && (await verifyRegistration(credential, bytes, relyingParty))
      if (!made) {
        throw new AppError('invalid_passkey', { cause: causeOfRefusal(credential, relyingParty) })
      }
      const [first] = await store.list(account.id)
      const now = clock.now()
      const passkey = {
        ...made,
        id: randomUUID(),
        name: name ?? authenticatorName(made.aaguid) ?? 'Passkey',
        userHandle: first?.userHandle ?? challenge.random,
        rpId: relyingParty.id,
        proved: provedChallenge !== null,
      }
      const about = await noticesOf(account, 'passkey_added', passkey.name)
      const outcome = await store.add(owner, passkey, challenge, MAXIMUM_PASSKEYS, about, now)
      if (outcome === 'limit_reached') throw new AppError('passkey_limit')
      if (outcome !== 'added') throw new AppError('invalid_passkey')
      return { ...passkey, accountId: account.id, createdAt: now, lastUsedAt: null }
    },

    async stepUpOptions({ account, claims }, { addressBucket }) {
      await limits.charge(limits.counters.passkeyOptions(addressBucket))
      const purpose = { kind: 'step_up', accountUuid: account.uuid, sessionId: claims.sessionId } as const
      return requestOptions(challenges.create(purpose))
    },

    async list({ account }) {
      const passkeys = await store.list(account.id)
      const userId = passkeys[0] === undefined ? null : encode(passkeys[0].userHandle)
      const credentialIds = passkeys.filter(isUsable).map(({ credentialId }) => credentialId)
      return { passkeys, signal: { rpId: relyingParty.id, userId, credentialIds } }
    },

    async rename({ account }, id, name) {
      const wrong = name === '' ? 'required' : name.length > NAME_CHARACTERS ? 'too_long' : null
      if (wrong !== null)
        throw new AppError('validation_failed', { fields: [{ field: 'name', code: wrong }] })
      const renamed = isUuid(id) ? await store.rename(account, id, name, clock.now()) : null
      if (renamed === null) throw new AppError('passkey_not_found')
      return renamed
    },

    async remove(signedIn, id, proof, client) {
      const { account, claims } = signedIn
      const passkeys = await store.list(account.id)
      const passkey = passkeys.find((one) => one.id === id)
      const usable = {
        providers: providers.names,
        rpId: relyingParty.id,
        codesOpen: config.accounts.password === 'optional',
      }
      await requireOwner(signedIn, proof, client, async () => {
        if (!passkey) throw new AppError('passkey_not_found')
        if (await store.isLastMethod(account.id, id, usable)) throw new AppError('last_sign_in_method')
        const others = passkeys.filter((one) => one.id !== id && one.rpId === relyingParty.id)
        if (account.twoFactorEnabled) await secondFactor.requireOther(account, { passkeys: others.length })
      })
      if (!passkey) throw new AppError('passkey_not_found')
      const about = await noticesOf(account, 'passkey_removed', passkey.name)
      const owner = { account, sessionId: claims.sessionId }
      const outcome = await store.remove(owner, id, usable, about, clock.now())
      if (outcome === 'session_over') throw new AppError('invalid_token')
      if (outcome === 'not_found') throw new AppError('passkey_not_found')
      if (outcome === 'last_sign_in_method') throw new AppError('last_sign_in_method')
    },
  }
}
