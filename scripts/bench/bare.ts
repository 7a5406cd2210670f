/** The limits: hashing alone, and bare round trips by postgres.js and ioredis, as many at once as there are clients. */
import { verify } from '@node-rs/argon2'
import Redis from 'ioredis'
import postgres from 'postgres'
import { PASSWORD } from '../../test/helpers/api-client.ts'
import { hashSettings } from './accounts.ts'
import { type Bench, CLIENTS } from './bench.ts'
import { ratePerSecond } from './compare.ts'
import type { Trips } from './trips.ts'

const digest = await Bun.password.hash(PASSWORD, hashSettings)

export const hashing = {
  'raw Bun.password.verify': () => Bun.password.verify(PASSWORD, digest),
  'raw verification by the addon': () => verify(digest, PASSWORD),
  'raw Bun.password.hash': () => Bun.password.hash(PASSWORD, hashSettings),
}

const ROWS = 10_000
const anyRow = () => 1 + Math.floor(Math.random() * ROWS)

/** Operations a second that make so many trips, one after the other, and nothing else. */
export async function openBareStores(bench: Bench) {
  const { database, redis: server } = await bench.newStores()
  const sql = postgres(database.url, { max: 10, fetch_types: false, onnotice: () => {} })
  const redis = new Redis(server.url)
  await sql`create table bare_rows (id int primary key, name text not null, counter int not null default 0)`
  await sql`insert into bare_rows (id, name) select n, 'row ' || n from generate_series(1, ${ROWS}::int) n`
  await sql`create table bare_inserts (id bigint primary key generated always as identity, name text not null)`
  await sql`analyze bare_rows`
  const kinds = {
    reads: async () => sql`select * from bare_rows where id = ${anyRow()}`,
    writes: async () => sql`update bare_rows set counter = counter + 1 where id = ${anyRow()}`,
    inserts: async () => sql`insert into bare_inserts (name) values ('row')`,
    redis: () => redis.set(`bare:${anyRow()}`, 'x', 'PX', 60_000),
  }
  const owed = { reads: 0, writes: 0, inserts: 0, redis: 0 }
  return {
    rate: (trips: Partial<Trips & { inserts: number }>) =>
      ratePerSecond(CLIENTS, bench.seconds, async () => {
        for (const kind of ['reads', 'writes', 'inserts', 'redis'] as const)
          for (owed[kind] += trips[kind] ?? 0; owed[kind] >= 1; ) {
            owed[kind]--
            await kinds[kind]()
          }
      }),
    async close() {
      await sql.end()
      redis.disconnect()
    },
  }
}
