/** Codes of six digits, as people type them: those that are sent, and those of an authenticator app. */
import { readCode } from '../../../platform/typed-text.ts'

export const CODE_DIGITS = 6

/** With spaces and marks between the characters; nobody types more. */
export const LONGEST_TYPED = 200

const FORM = new RegExp(`^[0-9]{${CODE_DIGITS}}$`)

/** Returns the six digits that were meant; null where it can be no such code. */
export function digitsOf(typed: string): string | null {
  if (typed.length > LONGEST_TYPED) return null
  const digits = readCode(typed)
  return FORM.test(digits) ? digits : null
}
