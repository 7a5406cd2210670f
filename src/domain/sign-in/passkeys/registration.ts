/** A passkey is added: the options for the browser, and the check of what it made of them. The owner was proved before. */

import { randomUUID } from 'node:crypto'
import { serviceName } from '../../../platform/config/service-name.ts'
import type { Ground } from '../../../platform/ground.ts'
import type { Attestation } from '../../../platform/http/passkey-schemas.ts'
import { mendDescription } from '../../../platform/http/unstorable.ts'
import { AppError } from '../../../texts/errors.ts'
import type { AccountSession } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { Source } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import { authenticatorName } from './authenticator-names.ts'
import { CHALLENGE_LIFETIME_MS, type Challenges } from './challenge.ts'
import { NAME_CHARACTERS, type Passkey } from './passkey.ts'
import type { PasskeyStore } from './store.ts'
import {
  ALGORITHMS,
  causeOfRefusal,
  challengeOf,
  type RelyingParty,
  verifyRegistration,
} from './verification.ts'

/** The options of `navigator.credentials`, in their JSON form. */
export interface WebAuthnOptions {
  challenge: string
  [member: string]: unknown
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  limits: LimitService
  notices: OwnerNotices
  stores: { passkeys: PasskeyStore }
}

export const MAXIMUM_PASSKEYS = 10

export const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

export function createPasskeyRegistration(
  { limits, notices, clock, config, stores }: Needs,
  challenges: Challenges,
  relyingParty: RelyingParty,
) {
  const store = stores.passkeys
  const siteName = config.passkeys.rpName ?? serviceName(config)

  return {
    /** `proved`: more than the session was, so that the passkey may confirm changes at once. */
    options({ account, sessionId }: AccountSession, existing: Passkey[], proved: boolean): WebAuthnOptions {
      const challenge = challenges.create({
        kind: proved ? 'proved_registration' : 'registration',
        accountUuid: account.uuid,
        sessionId,
      })
      const name = account.email ?? account.phone ?? account.uuid
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
        excludeCredentials: existing
          .filter(({ rpId }) => rpId === relyingParty.id)
          .map(({ credentialId, transports }) => ({ id: credentialId, type: 'public-key', transports })),
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        extensions: { credProps: true },
        hints: [],
      }
    },

    async register(
      { account, sessionId }: AccountSession,
      credential: Attestation,
      name: string | null,
      { addressBucket }: Source,
    ): Promise<Passkey> {
      await limits.charge(limits.counters.passkeyAttempts(addressBucket))
      const bytes = challengeOf(credential)
      const open = (kind: 'registration' | 'proved_registration') =>
        bytes && challenges.open(bytes, { kind, accountUuid: account.uuid, sessionId })
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
        name: mendDescription(name ?? '', NAME_CHARACTERS) || (authenticatorName(made.aaguid) ?? 'Passkey'),
        userHandle: first?.userHandle ?? challenge.random,
        rpId: relyingParty.id,
        proved: provedChallenge !== null,
      }
      const about = await notices.about(account, 'passkey_added', { values: { passkey: passkey.name } })
      const outcome = await store.add(
        { account, sessionId },
        passkey,
        challenge,
        MAXIMUM_PASSKEYS,
        about,
        now,
      )
      if (outcome === 'limit_reached') throw new AppError('passkey_limit')
      if (outcome !== 'added') throw new AppError('invalid_passkey')
      return { ...passkey, accountId: account.id, createdAt: now, lastUsedAt: null }
    },
  }
}
