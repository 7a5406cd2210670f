/** What seeding does and no route offers. */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

const lock = defineStatement({
  name: 'dev.lock',
  params: { now: 'timestamptz', emailKey: 'text' },
  sql: (p) => sql`
  update ${accounts} set locked_at = ${p.now}
   where email_key = ${p.emailKey} and email_confirmed_at is not null and locked_at is null`,
})

export async function lockSeededAccount(database: Database, email: string, now: Date): Promise<void> {
  await database.all(lock, { emailKey: email, now })
}
