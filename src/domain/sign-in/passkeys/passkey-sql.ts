/** The SQL by which other rooms remove passkeys. */
import { type SQL, sql } from 'drizzle-orm'
import { passkeys } from '../../../platform/postgres/schema.ts'

/** `source`: from where the condition reads, if it is more than the passkey. */
export const deletePasskeys = (where: SQL, source?: SQL): SQL =>
  sql`delete from ${passkeys} ${source ? sql`using ${source}` : sql``} where ${where}`
