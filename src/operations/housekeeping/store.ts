/**
 * Decides which process runs the next round of housekeeping, by one row in PostgreSQL, in every shape. The row of
 * `housekeeping` says when the next round is due.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../platform/postgres/database.ts'
import { housekeeping } from '../../platform/postgres/schema.ts'
import { defineStatement } from '../../platform/postgres/statement.ts'

/** A due time further ahead was written before the clock was set back, and is ignored. */
const LONGEST_WAIT_MS = 600_000

const claim = defineStatement({
  name: 'housekeeping.claim',
  params: { nextAt: 'timestamptz', now: 'timestamptz', latestAt: 'timestamptz' },
  row: { id: 'int' },
  sql: (p) => sql`
  update ${housekeeping} set next_at = ${p.nextAt}
   where id = 1 and (next_at <= ${p.now} or next_at > ${p.latestAt})
  returning id`,
})

export type HousekeepingStore = ReturnType<typeof createHousekeepingStore>

export function createHousekeepingStore(database: Database) {
  return {
    /** It returns true for one caller among all replicas, until `nextAt`. */
    async claimRound(now: Date, nextAt: Date): Promise<boolean> {
      const latestAt = new Date(now.getTime() + LONGEST_WAIT_MS)
      return (await database.first(claim, { now, nextAt, latestAt })) !== null
    },
  }
}
