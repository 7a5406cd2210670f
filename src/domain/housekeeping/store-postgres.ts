/** Table `housekeeping`: one row, which says when the next round is due. */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import { housekeeping } from '../../platform/postgres/schema.ts'
import type { HousekeepingStore } from './store.ts'

/** A due time further ahead was written before the clock was set back, and is ignored. */
const HORIZON_MS = 600_000

const claim = statement<{ now: Date; nextAt: Date; horizon: Date }, { id: number }>(sql`
  update ${housekeeping} set next_at = ${param('nextAt', 'timestamptz')}
   where id = 1 and (next_at <= ${param('now', 'timestamptz')} or next_at > ${param('horizon', 'timestamptz')})
  returning id`)

export function createHousekeepingStore(database: Database): HousekeepingStore {
  return {
    async claimRound(now, nextAt) {
      const horizon = new Date(now.getTime() + HORIZON_MS)
      return (await database.first(claim, { now, nextAt, horizon })) !== null
    },
  }
}
