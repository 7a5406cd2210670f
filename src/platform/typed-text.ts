/**
 * The one reading of what people type or paste where digits are meant: codes and telephone numbers. Keyboards, messages,
 * documents and contact lists write digits in other scripts, and put marks beside them that nobody sees.
 */

/** Decimal digits of every script, but for the letters of mathematics and of old computers. */
const DIGIT = /(?![\u{1d7ce}-\u{1d7ff}\u{1fbf0}-\u{1fbf9}])\p{Nd}/u
const INVISIBLE = /\p{Default_Ignorable_Code_Point}|\p{M}/gu
const PLUS = /[\uff0b\ufe62]/g
const BESIDE = String.raw`(?:(?!\+)[\p{P}\p{S}\p{Z}\t\r\n])+`
const AROUND = new RegExp(`^${BESIDE}|${BESIDE}$`, 'gu')

/** Digits as ASCII has them, without invisible marks, and without what stands around: quotes, brackets, punctuation. */
export const readTyped = (typed: string): string =>
  typed
    .replace(INVISIBLE, '')
    .replace(/[^\0-\x7f]/gu, (character) => (DIGIT.test(character) ? digitValue(character) : character))
    .replace(PLUS, '+')
    .replace(AROUND, '')

/** Only letters and digits are left: the others separate them. */
export const readCode = (typed: string): string => readTyped(typed).replace(/[\p{P}\p{S}\p{Z}\t\r\n]/gu, '')

/** Unicode has the digits of a script in one row, from zero to nine. */
function digitValue(digit: string): string {
  const point = digit.codePointAt(0) as number
  let zero = point
  while (DIGIT.test(String.fromCodePoint(zero - 1))) zero--
  return String((point - zero) % 10)
}
