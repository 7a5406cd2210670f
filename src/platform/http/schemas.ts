/** Pieces of bodies and answers that have nothing to do with what they are about. */
import { type IntegerOptions, type Static, Type } from '@sinclair/typebox'
import { type TSchema, t } from 'elysia'

interface Note {
  examples?: unknown[]
  description?: string
}

export const nullable = <Schema extends TSchema>(schema: Schema, note: Note = {}) =>
  t.Union([schema, t.Null()], note)

/** A field that may be absent or null. */
export const optionalField = <Schema extends TSchema>(schema: Schema, note?: Note) =>
  t.Optional(nullable(schema, note))

/** The values that a schema admits, where a field that is left out may be undefined as well. */
export type Given<Schema extends TSchema> = {
  [Field in keyof Static<Schema>]: Static<Schema>[Field] | undefined
}

/** One of these words. */
export const oneWordOf = <const Word extends string>(words: readonly Word[], description: string) =>
  t.Unsafe<Word>(
    t.Union(
      words.map((word) => t.Literal(word)),
      { description },
    ),
  )

/**
 * A whole number in an answer. `t.Integer` of Elysia is for what is read: it takes the number as a text as well, and compiles
 * a check of its own where it is written.
 */
export const integer = (options: IntegerOptions = {}) => Type.Integer(options)

export const timeField = () => t.String({ description: 'ISO 8601, UTC, milliseconds', format: 'date-time' })

export const emailRefusedAtField = t.Optional(
  t.String({
    description:
      'Only where a mail server refused the e-mail address for good within the last day: the address may be wrong.',
    format: 'date-time',
  }),
)
