/**
 * Verifies what a browser or an app returns for options, as WebAuthn Level 3 §7.1 and §7.2 require. The library checks
 * the type, the challenge, the origin, the relying party, the flags and the signature. This file refuses what the
 * library leaves open: use inside a frame of another site, and a user handle that names another account.
 */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import type { AssertionBody, Attestation } from '../../../platform/http/passkey-schemas.ts'
import type { Passkey } from './passkey.ts'

export interface RelyingParty {
  id: string
  /** Compared exactly. */
  origins: string[]
}

export type NewCredential = Pick<
  Passkey,
  'credentialId' | 'publicKey' | 'counter' | 'backupEligible' | 'backedUp' | 'transports' | 'aaguid'
>
export type Assertion = Pick<Passkey, 'counter' | 'backedUp'>

/**
 * It loads with the first passkey: it brings megabytes of parsers for certificates, which need Reflect's metadata
 * before them.
 */
async function library() {
  await import('reflect-metadata')
  const [server, { isoCBOR }] = await Promise.all([
    import('@simplewebauthn/server'),
    import('@simplewebauthn/server/helpers'),
  ])
  return { ...server, isoCBOR }
}

type Cbor = Pick<Awaited<ReturnType<typeof library>>, 'isoCBOR'>

/**
 * The attestation without its statement. Options ask for none, and a statement holds certificates of the caller's own:
 * checking those, the library would fetch the addresses that they name.
 */
function withoutStatement({ response, ...credential }: Attestation, { isoCBOR }: Cbor): Attestation {
  const decoded: unknown = isoCBOR.decodeFirst(Buffer.from(response.attestationObject, 'base64url'))
  const authData: unknown = decoded instanceof Map ? decoded.get('authData') : null
  if (!(authData instanceof Uint8Array)) throw new TypeError('an attestation without authenticator data')
  const bare = new Map<string, string | Map<string, never> | Uint8Array>([
    ['fmt', 'none'],
    ['attStmt', new Map<string, never>()],
    ['authData', authData],
  ])
  const attestationObject = Buffer.from(isoCBOR.encode(bare)).toString('base64url')
  return { ...credential, response: { ...response, attestationObject } }
}

/** EdDSA, ES256, RS256: COSE algorithms, the preferred one first. */
export const ALGORITHMS = [-8, -7, -257]

/** The longest credential id that WebAuthn Level 3 allows, in bytes. */
const MAXIMUM_ID_BYTES = 1023

/** The challenge that an answer was made over; null where the answer cannot even be read. */
export function challengeOf(credential: { response: { clientDataJSON: string } }): Uint8Array | null {
  const { challenge } = clientDataOf(credential)
  return typeof challenge === 'string' ? Buffer.from(challenge, 'base64url') : null
}

function clientDataOf({ response }: { response: { clientDataJSON: string } }): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'))
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Made in a frame of another origin: it is unknown what the person believed they confirmed. */
function isFramed(credential: { response: { clientDataJSON: string } }): boolean {
  const { crossOrigin, topOrigin } = clientDataOf(credential)
  return crossOrigin === true || topOrigin !== undefined
}

/** Tells the log of the mistake that integrators make most, a page whose origin the configuration does not list. */
export function causeOfRefusal(
  credential: { response: { clientDataJSON: string } },
  { origins }: RelyingParty,
): 'origin_not_listed' | undefined {
  const { origin } = clientDataOf(credential)
  return typeof origin === 'string' && !origins.includes(origin) ? 'origin_not_listed' : undefined
}

/** The new credential; null where anything about it is wrong. */
export async function verifyRegistration(
  credential: Attestation,
  challenge: Uint8Array,
  relyingParty: RelyingParty,
): Promise<NewCredential | null> {
  if (isFramed(credential)) return null
  const { verifyRegistrationResponse, isoCBOR } = await library()
  const verified = await (async () =>
    verifyRegistrationResponse({
      response: withoutStatement(credential, { isoCBOR }) as unknown as RegistrationResponseJSON,
      expectedChallenge: Buffer.from(challenge).toString('base64url'),
      expectedOrigin: relyingParty.origins,
      expectedRPID: relyingParty.id,
      requireUserPresence: true,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    }))().catch(() => null)
  if (!verified?.verified) return null
  const { credential: made, aaguid, credentialBackedUp, credentialDeviceType } = verified.registrationInfo
  if (Buffer.from(made.id, 'base64url').length > MAXIMUM_ID_BYTES) return null
  return {
    credentialId: made.id,
    publicKey: made.publicKey,
    counter: made.counter,
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
    transports: knownTransports(made.transports ?? []),
    aaguid,
  }
}

/**
 * The counter and the backup state of a signature by this passkey; null where anything about it is wrong. The counter
 * is compared where it is stored, in one step with storing it.
 */
export async function verifyAssertion(
  credential: AssertionBody,
  challenge: Uint8Array,
  relyingParty: RelyingParty,
  passkey: Pick<Passkey, 'credentialId' | 'publicKey' | 'userHandle' | 'backupEligible'>,
): Promise<Assertion | null> {
  const { userHandle } = credential.response
  if (isFramed(credential)) return null
  if (!userHandle || !Buffer.from(userHandle, 'base64url').equals(Buffer.from(passkey.userHandle)))
    return null
  const { verifyAuthenticationResponse } = await library()
  const verified = await verifyAuthenticationResponse({
    response: credential as unknown as AuthenticationResponseJSON,
    expectedChallenge: Buffer.from(challenge).toString('base64url'),
    expectedOrigin: relyingParty.origins,
    expectedRPID: relyingParty.id,
    requireUserVerification: true,
    credential: { id: passkey.credentialId, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
  }).catch(() => null)
  if (!verified?.verified) return null
  const { newCounter, credentialBackedUp, credentialDeviceType } = verified.authenticationInfo
  if ((credentialDeviceType === 'multiDevice') !== passkey.backupEligible) return null
  return { counter: newCounter, backedUp: credentialBackedUp }
}

const transports = new Set(['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'])

const knownTransports = (named: readonly string[]) => [...new Set(named)].filter((one) => transports.has(one))
