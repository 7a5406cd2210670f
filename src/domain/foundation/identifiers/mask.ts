/** Shows a destination so that only somebody who already knows it recognises it. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'

const DOT = '•'

/**
 * `alice@example.com` → `a•••@example.com`; `+33612345678` → `+33 • •• •• •• 78`. The number of dots in an e-mail address
 * does not reveal its length. Expects the `destination` of a parsed identifier.
 */
export function maskDestination(destination: string): string {
  const at = destination.lastIndexOf('@')
  if (at > 0) return `${destination.slice(0, 1)}${DOT.repeat(3)}${destination.slice(at)}`
  const number = parsePhoneNumberFromString(destination)
  if (!number) return DOT.repeat(3)
  const callingCode = `+${number.countryCallingCode}`
  const national = number.formatInternational().slice(callingCode.length)
  const shownFrom = national.length - 2
  return callingCode + national.replace(/[0-9]/g, (digit, index: number) => (index < shownFrom ? DOT : digit))
}
