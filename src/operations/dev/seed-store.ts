/** The writes of seeding, which no route offers. */

import { setAsSeeded } from '../../domain/accounts/core/changes-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { defineStatement, type ValuesOf } from '../../platform/postgres/statement.ts'

const params = {
  uuid: 'uuid',
  passwordDigest: 'text?',
  emailVerifiedAt: 'timestamptz?',
  phoneVerifiedAt: 'timestamptz?',
  lockedAt: 'timestamptz?',
} as const

const set = defineStatement({ name: 'dev.set_as_seeded', params, sql: setAsSeeded })

export const setSeededAccount = (database: Database, values: ValuesOf<typeof params>): Promise<void> =>
  database.run(set, values)
