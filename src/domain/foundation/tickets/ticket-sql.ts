/** The SQL by which a restored database forgets its tickets. */
import { sql } from 'drizzle-orm'
import { tickets } from '../../../platform/postgres/schema.ts'

export const deleteTickets = sql`delete from ${tickets}`
