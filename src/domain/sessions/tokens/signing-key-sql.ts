/** The SQL by which other rooms remove signing keys. */
import { type SQL, sql } from 'drizzle-orm'
import { signingKeys } from '../../../platform/postgres/schema.ts'

export const deleteSigningKeys = (where: SQL): SQL => sql`delete from ${signingKeys} where ${where}`
