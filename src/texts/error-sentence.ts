/** The sentence of an error code. Only one of them names something: the type of body that is wanted. */
import type { ErrorCode } from './errors.ts'
import type { Texts } from './texts.ts'

export const JSON_TYPE = 'application/json'
export const FORM_TYPE = 'application/x-www-form-urlencoded'

export const errorSentence = (code: ErrorCode, { errors }: Pick<Texts, 'errors'>, wantedType = JSON_TYPE) =>
  errors[code].replace('{type}', wantedType)
