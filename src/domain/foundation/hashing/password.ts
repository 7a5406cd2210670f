/**
 * The rules for a password, and the one form in which it is hashed and compared. They follow NIST SP 800-63B-4, 3.1.1.2:
 * a minimum length and a list of common passwords, no composition rules, NFKC, and the whole password counts.
 */

import type { Config } from '../../../platform/config/types.ts'
import type { FieldError, FieldErrorCode, WeakPasswordReason } from '../../../texts/errors.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import { parsePhone } from '../identifiers/phone.ts'
import { commonPasswordLines } from './common-password-list.ts' with { type: 'macro' }

/** NIST requires that at least 64 are allowed; the maximum bounds the work for one password. */
export const MAXIMUM_CODE_POINTS = 256

/** NFKC joins only a few UTF-16 units into one code point, so a longer text is too long without being read. */
const MAXIMUM_UNITS = MAXIMUM_CODE_POINTS * 8

interface PasswordRules {
  /** It counts code points after NFKC. */
  minimumLength: number
  /** The words that everybody would try at this service first, folded: those of its name and of its host. */
  contextWords: readonly string[]
}

/** `serviceName`: what messages call the service. */
export function createPasswordRules(
  { password, server }: Pick<Config, 'password' | 'server'>,
  serviceName: string,
): PasswordRules {
  const host = new URL(server.baseUrl).hostname
  const labels = /[a-z]/.test(host) ? host.split('.') : []
  const names = [serviceName, 'poterne', host, ...labels].map(lettersAndDigits)
  const contextWords = [...new Set(names)].filter((word) => word.length >= 3)
  return {
    minimumLength: password.minimumLength,
    contextWords: contextWords.sort((one, other) => other.length - one.length),
  }
}

type PasswordForm =
  | { ok: true; password: string; codePoints: number }
  | { ok: false; code: Extract<FieldErrorCode, 'too_long' | 'invalid_characters'> }

/**
 * The form that is hashed and compared: NFKC. Texts with NUL or lone surrogates are refused: these would be cut or
 * replaced on the way to the hash, and different passwords would get the same digest.
 */
export function normalizePassword(typed: string): PasswordForm {
  if (typed.length > MAXIMUM_UNITS) return { ok: false, code: 'too_long' }
  if (!typed.isWellFormed() || typed.includes('\0')) return { ok: false, code: 'invalid_characters' }
  const password = typed.normalize('NFKC')
  const codePoints = [...password].length
  return codePoints > MAXIMUM_CODE_POINTS
    ? { ok: false, code: 'too_long' }
    : { ok: true, password, codePoints }
}

/**
 * Everything that is wrong with a new password; empty if it may be used. `identifiers` are those of its account.
 */
export function checkPassword(
  typed: string,
  confirmation: string,
  identifiers: readonly Identifier[],
  rules: PasswordRules,
): FieldError[] {
  const form = normalizePassword(typed)
  if (!form.ok) return [{ field: 'password', code: form.code }]
  const errors: FieldError[] = []
  const reason = weakness(form.password, form.codePoints, identifiers, rules)
  if (reason !== null) {
    const minimum = reason === 'too_short' ? { minimum: rules.minimumLength } : {}
    errors.push({ field: 'password', code: 'weak_password', reason, ...minimum })
  }
  const confirmed = normalizePassword(confirmation)
  if (!confirmed.ok || confirmed.password !== form.password) {
    errors.push({ field: 'password_confirmation', code: 'password_mismatch' })
  }
  return errors
}

function weakness(
  password: string,
  codePoints: number,
  identifiers: readonly Identifier[],
  { minimumLength, contextWords }: PasswordRules,
): WeakPasswordReason | null {
  if (codePoints < minimumLength) return 'too_short'
  const folded = password.toLowerCase()
  if (identifiers.some((identifier) => spells(folded, identifier))) return 'is_identifier'
  if (isMadeOf(contextWords, folded)) return 'is_service_name'
  return isStaircase(folded) || isCommon(folded) || isWordAndDigits(folded) ? 'common' : null
}

/** The rows of keyboards and the words that lead the lists of leaked passwords. */
const firstWords = new Set([
  'azerty',
  'qwerty',
  'qwertz',
  'azertyuiop',
  'qwertyuiop',
  'qwertzuiop',
  'password',
  'motdepasse',
  'passwort',
  'contrasena',
  'senha',
])

/** `azerty123456`, `4321password!`: such a word and digits in order, which the list does not hold in every length. */
function isWordAndDigits(folded: string): boolean {
  const [, before = '', word = '', after = ''] = /^([0-9]*)([a-z]+)([0-9]*)[!.?]?$/.exec(folded) ?? []
  const digits = [before, after].filter((part) => part !== '')
  return firstWords.has(word) && digits.every(isStaircase)
}

/** The lines are read here alone, since the build would write them into every place that reads them. */
const isCommon = (folded: string) => hasLine(commonPasswordLines(), folded)

/** A binary search in sorted lines; unlike a set of 18,000 strings it needs no preparation and no memory. */
function hasLine(lines: string, wanted: string): boolean {
  // Positions of line breaks: the wanted line is between them, or there is none.
  let low = 0
  let high = lines.length - 1
  while (low < high) {
    const start = lines.lastIndexOf('\n', (low + high) >> 1)
    const end = lines.indexOf('\n', start + 1)
    const line = lines.slice(start + 1, end)
    if (line === wanted) return true
    if (line < wanted) low = end
    else high = start
  }
  return false
}

/**
 * `aaaaaaaa`, `abcdefgh`, `87654321`: every step from one character to the next is the same: none, one up, or one down,
 * where 9 and 0 are neighbours. Only characters of a keyboard and at most 32 of them; longer ones are not common.
 */
function isStaircase(folded: string): boolean {
  if (!/^[ -~]{1,32}$/.test(folded)) return false
  const points = Array.from(folded, (character) => character.codePointAt(0) as number)
  const digits = /^[0-9]+$/.test(folded)
  return [-1, 0, 1].some((step) =>
    points.every((point, index) => {
      const difference = point - (index === 0 ? point - step : (points[index - 1] as number))
      return difference === step || (digits && difference === -9 * step && step !== 0)
    }),
  )
}

/**
 * True if the password is this identifier in any spelling, or the main part of it. That is the local part of an e-mail
 * address, or the digits of a phone number (NIST: the user name and derivatives of it).
 */
function spells(folded: string, identifier: Identifier): boolean {
  const text = folded.trim()
  if (identifier.kind === 'email') {
    const localPart = identifier.key.slice(0, identifier.key.lastIndexOf('@'))
    return [identifier.key, identifier.destination.toLowerCase(), localPart].includes(text)
  }
  if (identifier.country !== null && parsePhone(text, identifier.country)?.key === identifier.key) return true
  const digits = text.replace(/[\s().+/-]/g, '')
  return digits.length >= 8 && identifier.key.endsWith(digits)
}

const lettersAndDigits = (text: string) =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Tells whether these words, separators and at most four more digits (a year) are all that the password holds. */
function isMadeOf(words: readonly string[], folded: string): boolean {
  const whole = lettersAndDigits(folded)
  const rest = words.reduce((left, word) => left.replaceAll(word, ' '), whole)
  return rest !== whole && /^[0-9]{0,4}$/.test(rest.replaceAll(' ', ''))
}
