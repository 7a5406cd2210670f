/** The type of the configured values, derived from the table, so that the reading code follows the schema. */
import type { KeyRule } from './rules.ts'
import type { Keys, Section, schema } from './schema.ts'

type Schema = typeof schema
type SectionName = keyof Schema

/** snake_case to camelCase. */
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name

type NameOf<Key extends string, Entry> =
  Entry extends KeyRule<unknown, infer Suffix> ? `${Camel<Key>}${Suffix}` : never
type ValueOf<Entry> = Entry extends KeyRule<infer Value, string> ? Value : never

/** `{ access_lifetime: Rule<number, 'Seconds'> }` gives `{ accessLifetimeSeconds: number }`. */
export type Values<Entries extends Keys> = {
  [Key in keyof Entries & string as NameOf<Key, Entries[Key]>]: ValueOf<Entries[Key]>
}

type SectionValues<Entry extends Section> = Entry extends { entries: KeyRule<infer Value> }
  ? Value
  : Entry extends { rows: infer Rows extends Keys }
    ? Values<Rows>[]
    : FixedSectionValues<Entry>

type FixedSectionValues<Entry extends Section> = Values<Entry['keys']> & {
  [List in keyof Entry['lists'] & string as Camel<List>]: Values<Entry['lists'][List]['keys']>[]
}

/** The values of the whole table. An absent optional section is null. */
export type SchemaValues = {
  [Name in SectionName as Camel<Name>]:
    | SectionValues<Schema[Name]>
    | (Schema[Name]['optional'] extends false ? never : null)
}
