/**
 * Recovery codes, for who has lost the other factor: 80 random bits each, in Crockford's base32, which has no letters
 * that read like digits. They leave here once, for the person; the store gets keyed hashes bound to the account.
 */
import { randomBytes } from 'node:crypto'
import type { ServerSecret } from '../../platform/secret.ts'

export interface RecoveryCodes {
  /** Ten codes, `XXXX-XXXX-XXXX-XXXX`, and their hashes. */
  create(accountUuid: string): { codes: string[]; hashes: Uint8Array[] }
  /** Of what was typed, in any case and grouping; null when it has not the form of a recovery code. */
  hash(accountUuid: string, typed: string): Uint8Array | null
}

const COUNT = 10
/** 5 bits each: 80, of which NIST SP 800-63B-4, 3.1.2.2 asks no throttling. */
const LENGTH = 16
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const FORM = new RegExp(`^[${ALPHABET}]{${LENGTH}}$`)

export function createRecoveryCodes({ secret }: { secret: ServerSecret }): RecoveryCodes {
  const hash = (accountUuid: string, letters: string) => secret.tag('recovery code', accountUuid, letters)
  return {
    create(accountUuid) {
      const all = Array.from({ length: COUNT }, randomLetters)
      return {
        codes: all.map((letters) => letters.match(/.{4}/g)!.join('-')),
        hashes: all.map((letters) => hash(accountUuid, letters)),
      }
    },
    hash(accountUuid, typed) {
      const letters = typed
        .slice(0, 64)
        .replace(/[\s\p{Pd}]/gu, '')
        .toUpperCase()
        .replaceAll('O', '0')
        .replace(/[IL]/g, '1')
      return FORM.test(letters) ? hash(accountUuid, letters) : null
    },
  }
}

/** 256 is a multiple of 32: every letter is as likely as the others. */
function randomLetters(): string {
  return Array.from(randomBytes(LENGTH), (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}
