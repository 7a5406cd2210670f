/**
 * Every table of schema.ts as backups and moves copy it, those that others refer to first. A new table is in the list by
 * being in the schema.
 */
import { is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import * as schema from './schema.ts'

export interface CopiedTable {
  name: string
  columns: readonly string[]
  /** The column that numbers its rows, whose sequence goes on where it was. */
  identity: string | null
}

const quote = (name: string) => `"${name}"`

function describe(table: PgTable): CopiedTable & { refersTo: string[] } {
  const { name, columns, foreignKeys } = getTableConfig(table)
  return {
    name,
    columns: columns.map((column) => column.name),
    identity: columns.find(({ generatedIdentity }) => generatedIdentity !== undefined)?.name ?? null,
    refersTo: foreignKeys.map((key) => getTableConfig(key.reference().foreignTable).name),
  }
}

export function copiedTables(): CopiedTable[] {
  const described = Object.values(schema)
    .filter((value) => is(value, PgTable))
    .map((table) => describe(table as PgTable))
  return [
    ...described.filter(({ refersTo }) => refersTo.length === 0),
    ...described.filter(({ refersTo }) => refersTo.length > 0),
  ]
}

/** Returns the query that COPY reads, for the rows that `where` selects. */
export const selectOf = ({ name, columns }: CopiedTable, where = 'true'): string =>
  `select ${columns.map(quote).join(', ')} from ${quote(name)} where ${where}`

/** Returns the target that COPY writes into. */
export const targetOf = (name: string, columns: readonly string[]): string =>
  `${quote(name)} (${columns.map(quote).join(', ')})`
