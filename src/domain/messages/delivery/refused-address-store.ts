/**
 * The tags of e-mail addresses that a mail server refused: PostgreSQL, in every storage shape. The table is
 * `refused_addresses`.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { refusedAddresses } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../../platform/postgres/sweep.ts'

const put = defineStatement({
  name: 'refused_addresses.put',
  params: { tag: 'bytea', now: 'timestamptz' },
  sql: (p) => sql`
  insert into ${refusedAddresses} (tag, refused_at) values (${p.tag}, ${p.now})
  on conflict (tag) do update set refused_at = excluded.refused_at`,
})

const find = defineStatement({
  name: 'refused_addresses.find',
  params: { tag: 'bytea', since: 'timestamptz' },
  row: { refusedAt: 'timestamptz' },
  sql: (p) => sql`
  select refused_at from ${refusedAddresses}
   where tag = ${p.tag} and refused_at > ${p.since}`,
})

const sweep = createAgeSweep(refusedAddresses, 'refused_addresses.sweep', sql`tag`, sql`refused_at`)

export type RefusedAddressStore = ReturnType<typeof createRefusedAddressStore>

export function createRefusedAddressStore(database: Database) {
  return {
    put: (tag: Uint8Array, now: Date): Promise<void> => database.run(put, { tag, now }),
    /** The address was refused last at this time; null if that was not since `since`. */
    find: async (tag: Uint8Array, since: Date): Promise<Date | null> =>
      (await database.first(find, { tag, since }))?.refusedAt ?? null,
    sweep: (now: Date, limit: number) => sweep(database, { before: daysBefore(now, 1), limit }),
  }
}
