/** Finds the people that events name, and administrators by a part of their names: PostgreSQL, in every storage shape. */

import { sql } from 'drizzle-orm'
import type { Database } from '../../platform/postgres/database.ts'
import { accounts, administrators } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'

const findNames = defineStatement({
  name: 'administration_events.find_names',
  params: { uuids: 'text' },
  row: { uuid: 'uuid', name: 'text' },
  sql: (p) => sql`
  select uuid, coalesce(email, phone, uuid::text) as name from ${accounts}
   where uuid in (select value::uuid from jsonb_array_elements_text(${p.uuids}::jsonb))`,
})

const MAXIMUM_ADMINISTRATORS = 100

const findAdministrators = defineStatement({
  name: 'administration_events.find_administrators',
  params: { part: 'text' },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  select uuid from ${administrators} join ${accounts} on id = account_id
   where position(${p.part} in account_search_text(email_key, phone, username, profile)) > 0
   order by id limit ${sql.raw(String(MAXIMUM_ADMINISTRATORS))}`,
})

/** Who made something: an administrator by the uuid alone, so that nothing of the person stays after an erasure. */
interface Made {
  creatorType: string | null
  creatorId: string | null
  creatorName: string | null
}

/** The same, with the names that administrators have now. */
export async function withCreators<Item extends Made>(
  store: Pick<AuditTrailStore, 'findNames'>,
  items: Item[],
): Promise<Item[]> {
  const uuidOf = ({ creatorType, creatorId }: Made) => (creatorType === 'administrator' && creatorId) || ''
  const names = await store.findNames([...new Set(items.map(uuidOf).filter(Boolean))])
  return items.map((item) => ({ ...item, creatorName: names.get(uuidOf(item)) ?? item.creatorName }))
}

export type AuditTrailStore = ReturnType<typeof createAuditTrailStore>

export function createAuditTrailStore(database: Database) {
  return {
    /** Returns the names of accounts by their uuids; those that are gone are left out. */
    async findNames(uuids: string[]): Promise<Map<string, string>> {
      if (uuids.length === 0) return new Map()
      const rows = await database.all(findNames, { uuids: JSON.stringify(uuids) })
      return new Map(rows.map(({ uuid, name }) => [uuid, name]))
    },
    /** The uuids of administrators of whom a contact, a username or a name contains this part; it is in lower case. */
    findAdministrators: async (part: string): Promise<string[]> =>
      (await database.all(findAdministrators, { part })).map(({ uuid }) => uuid),
  }
}
