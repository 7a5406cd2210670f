/** The result of reading a password hash of another system, and the alphabets in which they are written. */

export type ForeignPassword =
  /** The digest to store. */
  | { digest: string }
  /** Argon2id of `inner`, as a PHC string, goes into `wrap`, which gives the digest to store. */
  | { inner: string; wrap: (argon2id: string) => string }

export type RefusedPassword = { refused: 'invalid_value' | 'unsupported_hash' | 'hash_too_costly' }

export const refused = (code: RefusedPassword['refused']): RefusedPassword => ({ refused: code })

/** A reader of some spellings; null for those of others. */
export type Reader = (hash: string) => ForeignPassword | RefusedPassword | null

export const toBase64 = (bytes: Uint8Array | string) =>
  Buffer.from(bytes as string)
    .toString('base64')
    .replaceAll('=', '')

/** Bytes of base64 with or without padding, of either alphabet, and of passlib's with a dot; null if it is none. */
export function fromBase64(text: string): Buffer | null {
  const plain = text
    .replace(/[.-]/g, '+')
    .replaceAll('_', '/')
    .replace(/={0,2}$/, '')
  const bytes = Buffer.from(plain, 'base64')
  return toBase64(bytes) === plain ? bytes : null
}
