/**
 * Recovery codes, for people who have lost their other factor (their form is in codes/letters.ts). They are shown once; the
 * store gets a salted hash of each.
 */
import { timingSafeEqual } from 'node:crypto'
import type { ServerSecret } from '../../../platform/secret.ts'
import { decoyRecoveryHashes } from '../../foundation/decoys/decoys.ts'
import {
  groupLetters,
  isLetterCode,
  lettersOf,
  randomLetters,
  SALT_BYTES,
  SALTED_BYTES,
  saltedHash,
} from '../../messages/codes/letters.ts'

const COUNT = 10
/** Older versions stored a keyed hash without a salt; these remain valid until they are replaced. */
const KEYED_BYTES = 32
const decoyHashes = decoyRecoveryHashes(COUNT, SALTED_BYTES)

export function createRecoveryCodes({ secret }: { secret: ServerSecret }) {
  function hashLike(stored: Uint8Array, accountUuid: string, letters: string): Buffer {
    return stored.length === KEYED_BYTES
      ? secret.tag('recovery code', accountUuid, letters)
      : saltedHash(accountUuid, letters, stored.subarray(0, SALT_BYTES))
  }

  return {
    /** Ten codes, `XXXX-XXXX-XXXX-XXXX`, and their hashes. */
    create(accountUuid: string): { codes: string[]; hashes: Uint8Array[] } {
      const all = Array.from({ length: COUNT }, randomLetters)
      return {
        codes: all.map(groupLetters),
        hashes: all.map((letters) => saltedHash(accountUuid, letters)),
      }
    },
    /** Tells whether the typed text, in any case and grouping, has the form of a recovery code. */
    isRecoveryCode: isLetterCode,
    /** The stored hash that belongs to this code, or null. The work is always that of ten hashes. */
    match(accountUuid: string, typed: string, hashes: Uint8Array[]): Uint8Array | null {
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
