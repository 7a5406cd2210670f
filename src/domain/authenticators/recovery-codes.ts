/**
 * Recovery codes, for people who have lost their other factor: 80 random bits each, in Crockford's base32, which has no
 * letters that look like digits. They are shown once. The store gets a salted SHA-256 of each, bound to the account and
 * independent of the server secret, so that they still work after the secret has changed.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ServerSecret } from '../../platform/secret.ts'
import { decoyRecoveryHashes } from '../decoys/decoys.ts'

export interface RecoveryCodes {
  /** Ten codes, `XXXX-XXXX-XXXX-XXXX`, and their hashes. */
  create(accountUuid: string): { codes: string[]; hashes: Uint8Array[] }
  /** Whether the typed text, in any case and grouping, has the form of a recovery code. */
  isRecoveryCode(typed: string): boolean
  /** The stored hash that belongs to this code, or null. The work is always that of ten hashes. */
  match(accountUuid: string, typed: string, hashes: Uint8Array[]): Uint8Array | null
}

const COUNT = 10
/** 5 bits each, 80 in all, for which NIST SP 800-63B-4, 3.1.2.2 requires no throttling. */
const LENGTH = 16
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const FORM = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)

const SALT_BYTES = 16
/** Older versions stored a keyed hash without a salt; these remain valid until they are replaced. */
const KEYED_BYTES = 32
const decoyHashes = decoyRecoveryHashes(COUNT, SALT_BYTES + 32)

export function createRecoveryCodes({ secret }: { secret: ServerSecret }): RecoveryCodes {
  function hashLike(stored: Uint8Array, accountUuid: string, letters: string): Buffer {
    return stored.length === KEYED_BYTES
      ? secret.tag('recovery code', accountUuid, letters)
      : saltedHash(stored.subarray(0, SALT_BYTES), accountUuid, letters)
  }

  return {
    create(accountUuid) {
      const all = Array.from({ length: COUNT }, randomLetters)
      return {
        codes: all.map((letters) => letters.match(/.{4}/g)!.join('-')),
        hashes: all.map((letters) => saltedHash(randomBytes(SALT_BYTES), accountUuid, letters)),
      }
    },
    isRecoveryCode: (typed) => FORM.test(lettersOf(typed)),
    match(accountUuid, typed, hashes) {
      const letters = lettersOf(typed)
      const padded = [...hashes, ...decoyHashes.slice(hashes.length)]
      const matches = padded.map((stored) => {
        const hash = hashLike(stored, accountUuid, letters)
        return hash.length === stored.length && timingSafeEqual(hash, stored)
      })
      return hashes[matches.indexOf(true)] ?? null
    },
  }
}

/** The salt, then the hash: 48 bytes. */
function saltedHash(salt: Uint8Array, accountUuid: string, letters: string): Buffer {
  const hash = createHash('sha256').update(salt).update(accountUuid).update(letters).digest()
  return Buffer.concat([salt, hash])
}

function lettersOf(typed: string): string {
  return typed
    .slice(0, 64)
    .replace(/[\s\p{Pd}]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
}

/** 256 is a multiple of 32, so that all letters are equally likely. */
function randomLetters(): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}
