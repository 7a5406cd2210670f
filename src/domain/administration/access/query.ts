/** Reads the fields of a query. All of them throw `validation_failed` with the name of the field. */
import { AppError } from '../../../errors.ts'

export const invalid = (...fields: string[]) =>
  new AppError('validation_failed', {
    fields: fields.map((field) => ({ field, code: 'invalid_value' as const })),
  })

export function readTime(field: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined
  const time = new Date(text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) throw invalid(field)
  return time
}

export function readNumber(field: string, text: string, maximum = Number.MAX_SAFE_INTEGER): number {
  const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (!(number <= maximum)) throw invalid(field)
  return number
}
