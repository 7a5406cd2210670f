/**
 * The limit of what the stores allow: bare round trips from Bun by postgres.js and ioredis. They are as many and of the
 * kinds an operation makes, one after the other in each of so many loops, and nothing else.
 */
import Redis from 'ioredis'
import postgres from 'postgres'
import { answerQuestions } from '../child-side.ts'
import type { Trips } from '../trips.ts'

export interface StoresQuestion {
  /** The trips of one operation; parts of one are made every so many operations. */
  trips: Partial<Trips & { inserts: number }>
  atOnce: number
  seconds: number
}

const ROWS = 10_000
const { DATABASE_URL = '', REDIS_URL = '' } = process.env
const sql = postgres(DATABASE_URL, { max: 10, fetch_types: false, onnotice: () => {} })
const redis = new Redis(REDIS_URL)
await sql`create table bare_rows (id int primary key, name text not null, counter int not null default 0)`
await sql`insert into bare_rows (id, name) select n, 'row ' || n from generate_series(1, ${ROWS}::int) n`
await sql`create table bare_inserts (id bigint primary key generated always as identity, name text not null)`
await sql`analyze bare_rows`

const anyRow = () => 1 + Math.floor(Math.random() * ROWS)
const kinds = {
  reads: async () => sql`select * from bare_rows where id = ${anyRow()}`,
  writes: async () => sql`update bare_rows set counter = counter + 1 where id = ${anyRow()}`,
  inserts: async () => sql`insert into bare_inserts (name) values ('row')`,
  redis: () => redis.set(`bare:${anyRow()}`, 'x', 'PX', 60_000),
}

/** Answers how many operations a second. */
await answerQuestions(async ({ trips, atOnce, seconds }: StoresQuestion) => {
  const endMs = performance.now() + seconds * 1000
  const beginMs = performance.now() + Math.min(1000, seconds * 200)
  let done = 0
  const loop = async () => {
    const owed = { reads: Math.random(), writes: Math.random(), inserts: Math.random(), redis: Math.random() }
    while (performance.now() < endMs) {
      for (const kind of ['reads', 'writes', 'inserts', 'redis'] as const)
        for (owed[kind] += trips[kind] ?? 0; owed[kind] >= 1; owed[kind]--) await kinds[kind]()
      const nowMs = performance.now()
      if (nowMs >= beginMs && nowMs < endMs) done++
    }
  }
  await Promise.all(Array.from({ length: atOnce }, loop))
  return done / ((endMs - beginMs) / 1000)
})
