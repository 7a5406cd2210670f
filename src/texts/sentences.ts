/** The sentences of errors, in the words of one language. */
import type { ErrorCode, FieldError, OwnMessage } from './errors.ts'
import { type Language, primaryTag } from './languages.ts'
import type { Texts } from './texts.ts'

/** Puts values in the place of `{name}`, as they are: a `$` in one of them means nothing. */
export const fillSentence = (sentence: string, values: Record<string, string>): string =>
  sentence.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)

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

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** One code names something: the type of body that is wanted. */
export const errorSentence = (code: ErrorCode, { errors }: Pick<Texts, 'errors'>, wantedType = JSON_TYPE) =>
  errors[code].replace('{type}', wantedType)

/** What the team's own program says, where it speaks the language or has a text for everybody. */
export const ownSentence = (message: OwnMessage | undefined, language: Language): string | undefined =>
  message?.byLanguage[language] ?? message?.byLanguage[primaryTag(language)] ?? message?.otherwise

/**
 * A text as it is printed: with curly apostrophes, and with what French sets apart from a word in the line of that word.
 * SMS keep straight apostrophes: curly ones would cost them more than half of their length.
 */
export const typographic = (text: string): string =>
  text
    .replaceAll("'", '’')
    .replace(/ (?=[:;!?»])/g, '\u00a0')
    .replaceAll('« ', '«\u00a0')
