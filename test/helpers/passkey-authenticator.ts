/**
 * An authenticator in software: makes passkeys (ES256) and signs with them, as WebAuthn Level 3 §6 lays the bytes out.
 * Every field can be made wrong, which no browser would do. The attestation is none, unless a statement is given.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface CreationOptions {
  challenge: string
  rp: { id: string }
  user: { id: string }
}

export interface RequestOptions {
  challenge: string
  rpId: string
}

export interface AuthenticatorQuirks {
  origin?: string
  rpId?: string
  type?: string
  challenge?: string
  crossOrigin?: boolean
  topOrigin?: string
  userVerified?: boolean
  userPresent?: boolean
  backupEligible?: boolean
  backedUp?: boolean
  counter?: number
  userHandle?: string | null
  /** Replaces the client data after they were signed. */
  tamper?: boolean
}

export interface SoftPasskey {
  id: string
  userHandle: string
  privateKey: KeyObject
  counter: number
}

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')
const sha256 = (data: string | Uint8Array) => createHash('sha256').update(data).digest()

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}

/** A list of pairs is a map. */
export type Cbor = number | string | Uint8Array | [Cbor, Cbor][] | { list: Cbor[] }

/** The statement of an authenticator, and the key that signs it. */
export interface Attested {
  authData: Buffer
  clientDataHash: Buffer
  privateKey: KeyObject
}

/** RFC 8949, as far as an attestation needs it. */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value)
  if (typeof value === 'string') return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  if ('list' in value) return Buffer.concat([head(4, value.list.length), ...value.list.map(cbor)])
  return Buffer.concat([head(5, value.length), ...value.flatMap(([key, item]) => [cbor(key), cbor(item)])])
}

function authenticatorData(rpId: string, quirks: AuthenticatorQuirks, counter: number, attested?: Buffer) {
  const { userPresent = true, userVerified = true, backupEligible = true, backedUp = true } = quirks
  const flags =
    (userPresent ? 0x01 : 0) |
    (userVerified ? 0x04 : 0) |
    (backupEligible ? 0x08 : 0) |
    (backedUp ? 0x10 : 0) |
    (attested ? 0x40 : 0)
  const count = Buffer.alloc(4)
  count.writeUInt32BE(counter)
  return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)])
}

function clientData(type: string, challenge: string, origin: string, quirks: AuthenticatorQuirks): string {
  const { crossOrigin, topOrigin } = quirks
  return JSON.stringify({
    type: quirks.type ?? type,
    challenge: quirks.challenge ?? challenge,
    origin: quirks.origin ?? origin,
    crossOrigin: crossOrigin ?? false,
    ...(topOrigin !== undefined && { topOrigin }),
  })
}

/** RFC 9053: a public key on P-256, for ES256. */
export function coseKeyOf(publicKey: KeyObject): Buffer {
  const { x, y } = publicKey.export({ format: 'jwk' }) as { x: string; y: string }
  return cbor([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ])
}

interface CreationQuirks extends AuthenticatorQuirks {
  /** The length of the credential's id. */
  idBytes?: number
  aaguid?: string
  id?: string
  fmt?: string
  attStmt?: (attested: Attested) => Cbor
}

export function createPasskey(options: CreationOptions, origin: string, quirks: CreationQuirks = {}) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = quirks.id ? Buffer.from(quirks.id, 'base64url') : randomBytes(quirks.idBytes ?? 16)
  const key = coseKeyOf(publicKey)
  const aaguid = Buffer.from((quirks.aaguid ?? '0'.repeat(32)).replaceAll('-', ''), 'hex')
  const length = Buffer.from([id.length >> 8, id.length & 255])
  const counter = quirks.counter ?? 0
  const authData = authenticatorData(
    quirks.rpId ?? options.rp.id,
    quirks,
    counter,
    Buffer.concat([aaguid, length, id, key]),
  )
  const data = clientData('webauthn.create', options.challenge, origin, quirks)
  const attestation = cbor([
    ['fmt', quirks.fmt ?? 'none'],
    ['attStmt', quirks.attStmt?.({ authData, clientDataHash: sha256(data), privateKey }) ?? []],
    ['authData', authData],
  ])
  const passkey: SoftPasskey = { id: base64url(id), userHandle: options.user.id, privateKey, counter }
  const credential = {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    clientExtensionResults: { credProps: { rk: true } },
    response: {
      clientDataJSON: base64url(Buffer.from(data)),
      attestationObject: base64url(attestation),
      transports: ['internal', 'hybrid'],
    },
  }
  return { passkey, credential }
}

export function signWithPasskey(
  passkey: SoftPasskey,
  options: RequestOptions,
  origin: string,
  quirks: AuthenticatorQuirks = {},
) {
  const authData = authenticatorData(quirks.rpId ?? options.rpId, quirks, quirks.counter ?? passkey.counter)
  const data = clientData('webauthn.get', options.challenge, origin, quirks)
  const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), passkey.privateKey)
  const sent = quirks.tamper ? data.replace('"crossOrigin":false', '"crossOrigin":false,"a":1') : data
  const userHandle = quirks.userHandle === undefined ? passkey.userHandle : quirks.userHandle
  return {
    id: passkey.id,
    rawId: passkey.id,
    type: 'public-key',
    authenticatorAttachment: 'platform',
    clientExtensionResults: {},
    response: {
      clientDataJSON: base64url(Buffer.from(sent)),
      authenticatorData: base64url(authData),
      signature: base64url(signature),
      ...(userHandle !== null && { userHandle }),
    },
  }
}
