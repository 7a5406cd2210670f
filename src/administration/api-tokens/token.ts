/**
 * The form of a token: `pot_adm_`, 22 random characters (131 bits) and a checksum of six. By the checksum, scanners for
 * leaked secrets know a token, and a mistyped one is refused without a question to the database.
 */
import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'pot_adm_'
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 22
const CHECKSUM_LENGTH = 6
const FORM = /^pot_adm_([0-9A-Za-z]{22})([0-9A-Za-z]{6})$/

/** Bytes from here on would make some characters likelier than others. */
const FAIR_BYTES = 256 - (256 % ALPHABET.length)

export const createToken = (): string => createSecretText(PREFIX)

/** A secret of that form with another beginning. */
export function createSecretText(prefix: string): string {
  let random = ''
  while (random.length < RANDOM_LENGTH) {
    for (const byte of randomBytes(32)) {
      if (byte < FAIR_BYTES && random.length < RANDOM_LENGTH) random += ALPHABET[byte % ALPHABET.length]
    }
  }
  return prefix + random + checksumOf(random)
}

/** Tells whether the text has the form of a token, its checksum included. */
export function isToken(text: string): boolean {
  const [, random = '', checksum] = FORM.exec(text) ?? []
  return checksum !== undefined && checksum === checksumOf(random)
}

/** Returns the hash that is stored. 131 random bits need no slow hash. */
export const hashOfApiToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** CRC-32 in base 62, filled with zeros on the left. */
function checksumOf(random: string): string {
  let rest = Bun.hash.crc32(random)
  let digits = ''
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET[rest % ALPHABET.length] + digits
    rest = Math.floor(rest / ALPHABET.length)
  }
  return digits
}
