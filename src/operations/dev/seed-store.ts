/** The writes of seeding, which no route offers. */

import { lockByEmail } from '../../domain/accounts/core/changes-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'

const lock = defineStatement({
  name: 'dev.lock',
  params: { now: 'timestamptz', emailKey: 'text' },
  sql: lockByEmail,
})

export const lockSeededAccount = (database: Database, email: string, now: Date): Promise<void> =>
  database.run(lock, { emailKey: email, now })
