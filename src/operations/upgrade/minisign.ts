/**
 * Verifying signatures made by minisign (https://jedisct1.github.io/minisign/): Ed25519 over the file, or over its
 * BLAKE2b-512 hash, and a second signature over the trusted comment.
 */
import { createHash, createPublicKey, verify } from 'node:crypto'

export interface PublicKey {
  /** 8 bytes in hexadecimal, which name the key in its signatures. */
  id: string
  key: ReturnType<typeof createPublicKey>
}

/** The DER header of an Ed25519 public key (RFC 8410), before its 32 bytes. */
const ED25519_HEADER = Buffer.from('302a300506032b6570032100', 'hex')
const KEY_BYTES = 42
const SIGNATURE_BYTES = 74
const GLOBAL_SIGNATURE_BYTES = 64

/** `text`: the last line of a `.pub` file, 56 characters of base64. It returns null if it is no such key. */
export function readPublicKey(text: string): PublicKey | null {
  const bytes = Buffer.from(text.trim(), 'base64')
  if (bytes.length !== KEY_BYTES || bytes.subarray(0, 2).toString('latin1') !== 'Ed') return null
  const key = createPublicKey({
    key: Buffer.concat([ED25519_HEADER, bytes.subarray(10)]),
    format: 'der',
    type: 'spki',
  })
  return { id: bytes.subarray(2, 10).toString('hex'), key }
}

/** Tells whether one of the keys made this signature (the text of a `.minisig` file) over `content`. */
export function isSignedBy(keys: PublicKey[], content: Uint8Array, signature: string): boolean {
  const [, first = '', comment = '', second = ''] = signature.split('\n').map((line) => line.trimEnd())
  const made = Buffer.from(first, 'base64')
  const overComment = Buffer.from(second, 'base64')
  const prefix = 'trusted comment: '
  if (made.length !== SIGNATURE_BYTES || overComment.length !== GLOBAL_SIGNATURE_BYTES) return false
  if (!comment.startsWith(prefix)) return false
  const algorithm = made.subarray(0, 2).toString('latin1')
  if (algorithm !== 'Ed' && algorithm !== 'ED') return false
  const signed = algorithm === 'ED' ? createHash('blake2b512').update(content).digest() : content
  const bytes = made.subarray(10)
  const key = keys.find(({ id }) => id === made.subarray(2, 10).toString('hex'))?.key
  if (key === undefined || !verify(null, signed, key, bytes)) return false
  return verify(null, Buffer.concat([bytes, Buffer.from(comment.slice(prefix.length))]), key, overComment)
}
