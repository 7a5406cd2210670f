/** What seeding does and no route offers. */

import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { accounts } from '../../platform/postgres/schema.ts'

const lock = statement<{ emailKey: string; now: Date }>(sql`
  update ${accounts} set locked_at = ${param('now', 'timestamptz')}
   where email_key = ${param('emailKey', 'text')} and email_confirmed_at is not null and locked_at is null`)

export async function lockSeededAccount(database: Database, email: string, now: Date): Promise<void> {
  await database.all(lock, { emailKey: email, now })
}
