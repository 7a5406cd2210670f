/** Finds the names of the administrators that events name, in PostgreSQL, in every storage shape. */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

export interface AuditTrailStore {
  /** Returns the names of accounts by their uuids; those that are gone are left out. */
  findNames(uuids: string[]): Promise<Map<string, string>>
}

const findNames = defineStatement({
  name: 'administration_events.find_names',
  params: { uuids: 'text' },
  row: { uuid: 'uuid', name: 'text' },
  sql: (p) => sql`
  select uuid, coalesce(email, phone, uuid::text) as name from ${accounts}
   where uuid in (select value::uuid from jsonb_array_elements_text(${p.uuids}::jsonb))`,
})

export function createAuditTrailStore(database: Database): AuditTrailStore {
  return {
    async findNames(uuids) {
      if (uuids.length === 0) return new Map()
      const rows = await database.all(findNames, { uuids: JSON.stringify(uuids) })
      return new Map(rows.map(({ uuid, name }) => [uuid, name]))
    },
  }
}
