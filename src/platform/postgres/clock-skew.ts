/**
 * The difference between the clock of this machine and that of the database: replicas with one database agree through
 * it.
 */
import { sql } from 'drizzle-orm'
import type { Clock } from '../clock.ts'
import type { Database } from './database.ts'
import { defineStatement } from './statement.ts'

const readClock = defineStatement({
  name: 'clock.read',
  params: {},
  row: { ms: 'float8' },
  sql: () => sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`,
})

/** Milliseconds by which this machine is surely ahead of the database, behind it if negative; the way there is left out. */
export async function measureClockSkewMs(database: Database, clock: Clock): Promise<number> {
  const before = clock.now().getTime()
  const row = await database.first(readClock, {})
  const after = clock.now().getTime()
  const theirs = row!.ms
  if (theirs >= before && theirs <= after) return 0
  return theirs < before ? before - theirs : after - theirs
}
