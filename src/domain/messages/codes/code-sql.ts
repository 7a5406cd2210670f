/** The SQL by which a restored database forgets its codes. */
import { sql } from 'drizzle-orm'
import { codes } from '../../../platform/postgres/schema.ts'

export const deleteCodes = sql`delete from ${codes}`
