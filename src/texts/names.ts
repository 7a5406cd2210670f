/** Names in messages and on pages: those that people chose for devices and passkeys, and those of sign-in providers. */

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

/** Neither line breaks nor invisible direction marks, and no longer than a name is. */
export function oneLine(value: string, length = 60): string {
  const flat = value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
  return [...flat].slice(0, length).join('').trim()
}

/** The spelling that providers use for their own names, where a capital letter is not enough. */
const providerNames: Record<string, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  linkedin: 'LinkedIn',
  paypal: 'PayPal',
  entra: 'Microsoft Entra',
  adfs: 'AD FS',
  azure: 'Microsoft Azure',
  auth0: 'Auth0',
  onelogin: 'OneLogin',
  franceconnect: 'FranceConnect',
  x: 'X',
}

/** A provider as people read it: `github` is "GitHub", `my_company` is "My Company". */
export const nameOfProvider = (name: string): string =>
  providerNames[name] ??
  name
    .split(/[_-]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')
