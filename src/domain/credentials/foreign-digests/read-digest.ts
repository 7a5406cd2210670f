/**
 * Reads password hashes as other systems store them into the one form for each kind that src/domain/foundation/hashing
 * verifies. Nothing is hashed here: of a hash that is too fast by itself, the caller makes Argon2id.
 */
import { type ConfiguredWork, isOwnKind, readDigest as readStored } from '../../foundation/hashing/digest.ts'
import { readBcrypt } from './bcrypt.ts'
import {
  type ForeignPassword,
  type Reader,
  type RefusedPassword,
  refused,
  toBase64,
} from './foreign-password.ts'
import { readPbkdf2 } from './pbkdf2.ts'
import { readScrypt } from './scrypt.ts'
import { readFastHash, readPlainDigest } from './wrapped.ts'

const HASH = new Set(['hash', 'pepper'])
const DIGEST = new Set(['algorithm', 'hash', 'salt', 'encoding', 'order'])
const LONGEST = 2000
const LONGEST_PEPPER_BYTES = 256

/** `value`: the field `password` of a line of an import. */
export function readForeignPassword(
  value: unknown,
  configured: ConfiguredWork,
): ForeignPassword | RefusedPassword {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('invalid_value')
  const fields = value as Record<string, unknown>
  const allowed = fields.algorithm === undefined ? HASH : DIGEST
  if (!Object.entries(fields).every(([name, each]) => allowed.has(name) && isShortText(each)))
    return refused('invalid_value')
  const { hash, pepper, ...parts } = fields as Record<string, string>
  if (hash === undefined) return refused('invalid_value')
  if (parts.algorithm !== undefined) return readPlainDigest({ ...parts, hash, algorithm: parts.algorithm })
  if (pepper !== undefined && Buffer.byteLength(pepper) > LONGEST_PEPPER_BYTES)
    return refused('invalid_value')
  return pepper ? (readBcrypt(hash, pepper) ?? refused('unsupported_hash')) : readHash(hash, configured)
}

/** A lone surrogate would be replaced on its way to the hash. */
const isShortText = (value: unknown) =>
  typeof value === 'string' && value.length <= LONGEST && value.isWellFormed()

const readers: Reader[] = [readBcrypt, readPbkdf2, readScrypt, readFastHash]

function readHash(spelled: string, configured: ConfiguredWork): ForeignPassword | RefusedPassword {
  const hash = spelled.startsWith('argon2$') ? spelled.slice('argon2'.length) : spelled
  // Bcrypt has several names for the one algorithm.
  const stored = hash.startsWith('$2') ? null : readStored(hash, configured)
  if (stored === 'too_costly') return refused('hash_too_costly')
  if (stored !== null) return isCanonical(hash) ? { digest: hash } : refused('unsupported_hash')
  for (const read of readers) {
    const found = read(hash)
    if (found !== null) return 'digest' in found ? checked(found.digest) : found
  }
  return refused('unsupported_hash')
}

/** What a reader made is a digest within the bounds. */
function checked(digest: string): ForeignPassword | RefusedPassword {
  const stored = readStored(digest)
  if (stored === 'too_costly') return refused('hash_too_costly')
  return stored === null ? refused('unsupported_hash') : { digest }
}

/** Bun.password refuses base64 whose unused bits are set. */
function isCanonical(digest: string): boolean {
  if (!isOwnKind(digest) && !digest.startsWith('$argon2')) return true
  const parts = digest.split('$').slice(-2)
  return parts.every((part) => toBase64(Buffer.from(part, 'base64')) === part)
}
