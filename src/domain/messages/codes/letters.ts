/**
 * Codes of 16 letters: 80 bits in Crockford's base32, which has no letters that look like digits. People read them from
 * a message or from paper. The database holds a salted SHA-256 of each, bound to a subject and independent of the
 * server secret, so that it still works after the secret has changed.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { readCode } from '../../../platform/typed-text.ts'
import { LONGEST_TYPED } from './digits.ts'

/** 5 bits each, 80 in all, for which NIST SP 800-63B-4, 3.1.2.2 requires no throttling. */
const LENGTH = 16
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const FORM = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)

export const SALT_BYTES = 16
/** The salt, then the hash. */
export const SALTED_BYTES = SALT_BYTES + 32

/** Tells whether the typed text, in any case and grouping, has the form of such a code. */
export const isLetterCode = (typed: string) => FORM.test(lettersOf(typed))

/** Returns the typed code without its grouping and with the letters that were meant. */
export function lettersOf(typed: string): string {
  return readCode(typed.slice(0, LONGEST_TYPED).normalize('NFKC'))
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
}

/** `XXXX-XXXX-XXXX-XXXX` */
export const groupLetters = (letters: string) => letters.match(/.{4}/g)!.join('-')

/** 256 is a multiple of 32, so that all letters are equally likely. It takes at least 16 bytes. */
export const lettersFrom = (bytes: Uint8Array) =>
  Array.from(bytes.subarray(0, LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')

export const randomLetters = () => lettersFrom(randomBytes(LENGTH))

/** 48 bytes, with a fresh salt unless one is given. */
export function saltedHash(subject: string, letters: string, salt: Uint8Array = randomBytes(SALT_BYTES)) {
  const hash = createHash('sha256').update(salt).update(subject).update(letters).digest()
  return Buffer.concat([salt, hash])
}

export function matchesSalted(stored: Uint8Array, subject: string, letters: string): boolean {
  const hash = saltedHash(subject, letters, stored.subarray(0, SALT_BYTES))
  return hash.length === stored.length && timingSafeEqual(hash, stored)
}
