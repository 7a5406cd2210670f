/** The sentence of an error code, in which only one names something: the type of body that is wanted. Or what the team says. */
import type { ErrorCode, OwnMessage } from './errors.ts'
import { type Language, primaryTag } from './languages.ts'
import type { Texts } from './texts.ts'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

export const errorSentence = (code: ErrorCode, { errors }: Pick<Texts, 'errors'>, wantedType = JSON_TYPE) =>
  errors[code].replace('{type}', wantedType)

/** What the team's own program says, where it speaks the language or has a text for everybody. */
export const ownSentence = (message: OwnMessage | undefined, language: Language): string | undefined =>
  message?.byLanguage[language] ?? message?.byLanguage[primaryTag(language)] ?? message?.otherwise
