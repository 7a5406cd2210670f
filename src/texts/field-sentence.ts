import type { FieldError } from '../errors.ts'
import type { Texts } from './texts.ts'

/** Returns the problem of a field, in words. */
export const fieldSentence = (
  { code, reason, minimum, nearest = '' }: FieldError,
  { fields, weak_password }: Texts,
): string =>
  reason
    ? weak_password[reason].replace('{minimum}', String(minimum ?? ''))
    : fields[code].replace('{nearest}', nearest)
