/**
 * Two replicas, PostgreSQL with a synchronous standby, Redis with Sentinel, under a load of registrations: the primary, the
 * Redis master and one replica are killed in turn. Every acknowledged account is there, and the service answers again
 * within 10 s of each loss.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { newEmail, registration } from '../helpers/api-client.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import {
  createDatabase,
  type PostgresServer,
  promote,
  type RedisSentinel,
  startPostgres,
  startRedisSentinel,
  startStandby,
} from '../helpers/servers.ts'
import type { Settings } from '../helpers/service.ts'

setDefaultTimeout(180_000)

const SERVICE_BACK_MS = 10_000
const CLIENTS = 6
const SETTLED_MS = 1500

let primary: PostgresServer
let standby: PostgresServer
let redis: RedisSentinel
let name: string
const replicas: Executable[] = []

beforeAll(async () => {
  ;[primary, redis] = await Promise.all([startPostgres(), startRedisSentinel()])
  ;({ name } = await createDatabase({ server: primary }))
  standby = await startStandby(primary)
  const storage: Settings = {
    server: { secret: 'ab'.repeat(32) },
    database: {
      url: `postgres://postgres@127.0.0.1:${primary.port},127.0.0.1:${standby.port}/${name}?target_session_attrs=read-write`,
      pool_size: 5,
    },
    redis: { mode: 'sentinel', urls: redis.urls, master: redis.masterName },
  }
  const first = await startExecutable({ storage })
  replicas.push(first, await startExecutable({ storage, smtp: first.smtp, gateway: first.gateway }))
})
afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()))
  await Promise.all([primary?.stop(), standby?.stop(), redis?.stop()])
})

/** Clients that register at one replica after the other, as behind a proxy, and remember what was acknowledged. */
function putUnderLoad() {
  const acknowledged: { email: string; at: number }[] = []
  let stopped = false
  let turn = 0
  const client = async () => {
    while (!stopped) {
      const email = newEmail()
      const replica = replicas[turn++ % replicas.length] as Executable
      const answer = await replica.post('register', registration(email)).catch(() => null)
      if (answer?.status === 201) acknowledged.push({ email, at: performance.now() })
      else await Bun.sleep(50)
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, client))
  return {
    acknowledged,
    stop: async () => {
      stopped = true
      await clients
    },
  }
}

test('the loss of each machine in turn loses nothing that was acknowledged', async () => {
  const load = putUnderLoad()
  const backAfter: Record<string, number> = {}
  const lose = async (what: string, trouble: () => Promise<unknown>) => {
    await Bun.sleep(SETTLED_MS)
    const at = performance.now()
    await trouble()
    const firstAfter = () => load.acknowledged.find((each) => each.at > at + 500)
    while (firstAfter() === undefined && performance.now() - at < 3 * SERVICE_BACK_MS) await Bun.sleep(20)
    backAfter[what] = Math.round((firstAfter()?.at ?? Number.POSITIVE_INFINITY) - at)
  }
  await lose('primary of PostgreSQL', async () => {
    await primary.kill()
    await promote(standby)
  })
  await lose('master of Redis', () => redis.master.kill())
  await lose('one replica', () => (replicas[0] as Executable).kill('SIGKILL'))
  await Bun.sleep(SETTLED_MS)
  await load.stop()

  const sql = postgres(standby.url.replace(/postgres$/, name), { max: 1 })
  const emails = load.acknowledged.map(({ email }) => email)
  const kept = await sql`select email from accounts where email = any(${emails})`
  await sql.end()
  expect(emails.length).toBeGreaterThan(50)
  expect(kept).toHaveLength(emails.length)
  for (const [what, ms] of Object.entries(backAfter))
    expect([what, ms < SERVICE_BACK_MS]).toEqual([what, true])
})
