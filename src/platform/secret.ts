/**
 * The server secrets of a configuration and what is derived from them (HKDF-SHA-256, RFC 5869), each use with a label of
 * its own, so that no key serves two purposes.
 *
 * A secret can be changed while everything stays in use. The current one seals and signs; what any accepted one sealed
 * or signed is opened. Lasting keys make what must not change with the secret, because it names stored rows: counters,
 * decoys, known devices, hashes of codes. They are kept in the database, sealed, and every replica uses the same ones,
 * whatever its current secret is (domain/secrets).
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** The uses whose keys outlive a change of the secret. */
export const lastingLabels = [
  'limit key',
  'code decoy',
  'code digits',
  'code hash',
  'known device',
  'known address',
  'refused address',
  'recovery code',
  'waiting password',
  'account code',
  'administration csrf',
  'idempotency key',
  'idempotent request',
  'stop removal',
  'undo link',
  'mailed invitation',
] as const
export type LastingLabel = (typeof lastingLabels)[number]

export type AcceptedSecret = ReturnType<typeof createAccepted>
export type ServerSecret = ReturnType<typeof createServerSecret>

/** A box that names its secret begins with this byte and the four bytes of the id. */
const NAMES_SECRET = 0xa7
const HEAD_BYTES = 5
const NONCE_BYTES = 12
const BODY_AT = 28

export function createServerSecret(current: Uint8Array, previous: Uint8Array[] = []) {
  const accepted: AcceptedSecret[] = []
  for (const each of [current, ...previous].map(createAccepted)) {
    if (!accepted.some(({ id }) => id === each.id)) accepted.push(each)
  }
  const own = accepted[0]!
  const lasting = new Map<string, Uint8Array>()

  function tryToOpen(label: string, box: Uint8Array) {
    const bytes = Buffer.from(box)
    const named = accepted.find((each) => headOf(each).equals(bytes.subarray(0, HEAD_BYTES)))
    if (named) {
      const opened = decrypt(named.keyOf(label), bytes.subarray(HEAD_BYTES))
      if (opened) return { bytes: opened, sealedBy: named }
    }
    for (const sealedBy of accepted) {
      const opened = decrypt(sealedBy.keyOf(label), bytes)
      if (opened) return { bytes: opened, sealedBy }
    }
    return null
  }

  return {
    /** The one that seals and signs. */
    current: own,
    /** The current one first, then the others. */
    accepted: accepted as readonly AcceptedSecret[],
    /** Works like `AcceptedSecret.tag`, with the lasting key of the label. */
    tag: (label: LastingLabel, ...parts: (string | Uint8Array)[]) =>
      tagWith(lasting.get(label) ?? own.keyOf(label), parts),
    /** The lasting keys from now on. They are derived from the current secret until the first call. */
    useLastingKeys(keys: ReadonlyMap<LastingLabel, Uint8Array>) {
      for (const [label, key] of keys) lasting.set(label, key)
    },
    /** AES-256-GCM under the current secret; opens only under the same label. */
    seal(label: string, plaintext: string | Uint8Array) {
      const box = encrypt(own.keyOf(label), Buffer.from(plaintext as string))
      // With a single secret there is nothing to tell apart, and versions that know no ids can open the box as well.
      return accepted.length > 1 ? Buffer.concat([headOf(own), box]) : box
    },
    /** Throws if the box was changed, or sealed under another label or a secret that is not accepted. */
    open(label: string, box: Uint8Array) {
      const opened = tryToOpen(label, box)
      if (opened === null) throw new Error(`a sealed value (${label}) opens under no accepted server secret`)
      return opened.bytes.toString('utf8')
    },
    /** The same for bytes, with the secret that opened it; null where `open` throws. */
    tryToOpen,
  }
}

function createAccepted(secret: Uint8Array) {
  const derive = (info: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, new Uint8Array(), info, length))
  const keys = new Map<string, Buffer>()
  const keyOf = (label: string) => {
    let key = keys.get(label)
    if (!key) {
      key = derive(`poterne ${label}`, 32)
      keys.set(label, key)
    }
    return key
  }
  return {
    /** Eight hexadecimal digits that name it in sealed values, in messages and in the database; they reveal nothing of it. */
    id: derive('poterne id of the secret', 4).toString('hex'),
    /** HMAC-SHA-256 over the parts, each preceded by its length, so that no two lists of parts collide. */
    tag: (label: string, ...parts: (string | Uint8Array)[]) => tagWith(keyOf(label), parts),
    /** The key that this secret gives for a use. */
    keyOf,
  }
}

const headOf = ({ id }: AcceptedSecret) => Buffer.concat([Buffer.of(NAMES_SECRET), Buffer.from(id, 'hex')])

function tagWith(key: Uint8Array, parts: (string | Uint8Array)[]): Buffer {
  const mac = createHmac('sha256', key)
  for (const part of parts) {
    const bytes = Buffer.from(part as string)
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    mac.update(length).update(bytes)
  }
  return mac.digest()
}

function encrypt(key: Uint8Array, plaintext: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** It returns null if the key is not the one it was encrypted with, or if it was changed. */
function decrypt(key: Uint8Array, box: Uint8Array): Buffer | null {
  if (box.length < BODY_AT) return null
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, NONCE_BYTES))
    decipher.setAuthTag(box.subarray(NONCE_BYTES, BODY_AT))
    return Buffer.concat([decipher.update(box.subarray(BODY_AT)), decipher.final()])
  } catch {
    return null
  }
}
