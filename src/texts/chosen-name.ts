/** Cleans names that people chose for devices and passkeys, so that a message can show them without a link or a number. */
import { oneLine } from './one-line.ts'

const MAXIMUM_LENGTH = 40
/** Enough for every script: stacked further, they run over other lines. */
const MARKS = /(\p{M}{4})\p{M}+/gu
const NOT_IN_NAMES = /[^\p{L}\p{M}\p{Nd} '’()&+_-]+/gu
/** So many digits are a telephone number, which some programs make a link of. */
const NUMBERS = /\p{Nd}(?:[ '’()&+_-]*\p{Nd}){6,}/gu

/**
 * A name that somebody chose, as messages show it: nothing in it can be read, or made, a link, an address or a number
 * to call. It returns empty where no letter or digit is left.
 */
export function chosenName(value: string): string {
  const plain = value
    // First, since it makes plain dots and slashes of some other signs.
    .normalize('NFKC')
    .replace(NOT_IN_NAMES, ' ')
    .replace(NUMBERS, ' ')
    .replace(/(^|[ '’()&+_-])\p{M}+/gu, '$1')
    .replace(MARKS, '$1')
    .replace(/ {2,}/g, ' ')
  return /[\p{L}\p{Nd}]/u.test(plain) ? oneLine(plain, MAXIMUM_LENGTH) : ''
}
