/** The sessions of applications, counted: the table is `sessions`. */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { sessions } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { lives } from '../core/session-sql.ts'

/** It reads the whole table: no index holds what a session belongs to, and few ask. */
const countSessions = defineStatement({
  name: 'application_log.count_sessions',
  params: { now: 'timestamptz' },
  row: { application: 'text', count: 'int' },
  sql: (p) => sql`
  select client_id as application, count(*)::int as count from ${sessions}
   where client_id is not null and ${lives(p)} group by client_id`,
})

export type ApplicationLogStore = ReturnType<typeof createApplicationLogStore>

export const createApplicationLogStore = (database: Database) => ({
  countSessions: async (now: Date): Promise<Map<string, number>> =>
    new Map(
      (await database.all(countSessions, { now })).map(({ application, count }) => [application, count]),
    ),
})
