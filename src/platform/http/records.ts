/**
 * Records of answers, each as one list: a field is its schema and how it is read. So none is described and never shown, nor
 * read and, since its schema does not name it, left out of the answer.
 */
import type { Static, TObject, TOptional, TProperties, TSchema } from '@sinclair/typebox'

type Fields<Source, Schemas extends TProperties> = {
  [Name in keyof Schemas]: readonly [schema: Schemas[Name], read: (source: Source) => Read<Schemas[Name]>]
}

/** A field that may be absent is left out where its reader gives undefined. */
type Read<Schema extends TSchema> =
  Schema extends TOptional<TSchema> ? Static<Schema> | undefined : Static<Schema>

/** `recordOf<Passkey>()({ id: [t.String(), ({ id }) => id] })`: the schemas for an answer, and what reads them. */
export const recordOf =
  <Source>() =>
  <Schemas extends TProperties>(list: Fields<Source, Schemas>) => {
    const fields = Object.entries(list)
    return {
      fields: Object.fromEntries(fields.map(([name, [schema]]) => [name, schema])) as Schemas,
      read(source: Source): Static<TObject<Schemas>> {
        const record: Record<string, unknown> = {}
        for (const [name, [, read]] of fields) {
          const value = read(source)
          if (value !== undefined) record[name] = value
        }
        return record as Static<TObject<Schemas>>
      },
    }
  }

/** A time in an answer. */
export const iso = (time: Date): string => time.toISOString()
export const isoOrNull = (time: Date | null): string | null => time?.toISOString() ?? null
