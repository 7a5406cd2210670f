import type { FieldError } from './errors.ts'
import type { Texts } from './texts.ts'

/** Returns the problem of a field, in words. */
export function fieldSentence(
  { code, reason, minimum, maximum, nearest }: FieldError,
  { fields, weak_password, sentences }: Texts,
): string {
  if (reason) return weak_password[reason].replace('{minimum}', String(minimum ?? ''))
  if (code === 'invalid_value' && maximum !== undefined)
    return sentences.number_between
      .replace('{minimum}', String(minimum ?? 0))
      .replace('{maximum}', String(maximum))
  const said = fields[code].replace('{nearest}', nearest ?? '')
  // A route that takes no field has no nearest name.
  return code === 'unknown_field' && nearest
    ? `${said} ${sentences.nearest_name.replace('{nearest}', nearest)}`
    : said
}
