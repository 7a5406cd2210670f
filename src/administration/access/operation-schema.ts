/** The parts that the operations of administration share: text in queries, roles and scopes, "it is done", their descriptions. */

import { t } from 'elysia'
import { answer, success } from '../../platform/http/answers.ts'
import { component } from '../../platform/http/components.ts'
import { documented } from '../../platform/http/documented.ts'
import { oneWordOf } from '../../platform/http/schemas.ts'
import { roles, scopes } from './access.ts'

/** A field of a query; what it says is read by the service. */
export const queryText = (description: string) => t.Optional(t.String({ description, maxLength: 300 }))

/** One of some words, which the service reads. */
export const queryWord = (description: string, words: readonly string[]) =>
  t.Optional(t.String({ description, enum: words, maxLength: 300 }))

/** Read by `readNumber`. */
export const numberText = (description: string) =>
  t.Optional(t.String({ description, pattern: '^[0-9]{1,16}$', maxLength: 300 }))

/** Read by `readTime`. */
export const timeText = (meaning?: string) =>
  t.Optional(
    t.String({
      description: [meaning, 'RFC 3339, or only the day; UTC where it names no zone']
        .filter(Boolean)
        .join(': '),
      examples: ['2026-07-01T12:00:00Z', '2026-07-01'],
      maxLength: 300,
    }),
  )

/** The answer to a call that gives nothing back, once its work is done. */
export async function done(work: Promise<unknown>) {
  await work
  return success({})
}
export const doneAnswer = answer('Done', {}, 'It is done.')

/** The tag of each operation in the description follows from its path. */
export const detail = documented('Administration')

export const administratorRoleField = component('Role', oneWordOf(roles, 'What an administrator may do.'))
export const scopeField = component('Scope', oneWordOf(scopes, 'What a token may do.'))
