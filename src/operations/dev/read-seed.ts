/** Reads the people of `serve --dev --seed FILE`, one JSON object a line, before anything is started. */
import { parseDigest } from '../../domain/foundation/hashing/digest.ts'
import { findMisshapen, findUnknown } from '../../platform/http/body-shape.ts'
import { parseTime } from '../../platform/http/read-values.ts'
import { en } from '../../texts/en.ts'
import type { FieldError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import { fieldSentence } from '../../texts/sentences.ts'
import { type SeedLine, seedLine } from './seed-schema.ts'

/** The people, or one sentence for each line that cannot be taken. */
export function readSeed(
  text: string,
  languages: readonly Language[],
): { people: SeedLine[] } | { problems: string[] } {
  const body = seedLine(languages)
  const people: SeedLine[] = []
  const problems: string[] = []
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue
    const person = parse(line)
    const wrong =
      person === null
        ? ['expected one JSON object on this line']
        : [
            ...[...findUnknown({ body }, person, ''), ...findMisshapen({ body }, person)].map(describeField),
            ...findWrong(person),
          ]
    if (wrong.length > 0) problems.push(`line ${index + 1}: ${wrong.join('; ')}`)
    else people.push(person as SeedLine)
  }
  return problems.length > 0 ? { problems } : { people }
}

export const describeField = (error: FieldError): string => `${error.field}: ${fieldSentence(error, en)}`

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

/** What the schema cannot say. */
function findWrong({ password, ...person }: Record<string, unknown>): string[] {
  const hash = (password as { hash?: unknown } | null | undefined)?.hash
  return [
    ...['email_verified_at', 'phone_verified_at'].flatMap((field) => {
      const value = person[field]
      const isWrong = value === false || (typeof value === 'string' && parseTime(value) === null)
      return isWrong ? [`${field}: expected a time such as 2026-07-01T12:00:00Z, or true`] : []
    }),
    ...(typeof hash === 'string' && parseDigest(hash) === null
      ? ['password.hash: expected a hash of bcrypt or Argon2, as $2b$… or $argon2id$v=19$…']
      : []),
  ]
}
