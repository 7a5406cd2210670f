/** The SQL by which other rooms remove identities. */
import { type SQL, sql } from 'drizzle-orm'
import { identities } from '../../../platform/postgres/schema.ts'

/** `source`: from where the condition reads, if it is more than the identity. */
export const deleteIdentities = (where: SQL, source?: SQL): SQL =>
  sql`delete from ${identities} ${source ? sql`using ${source}` : sql``} where ${where}`
