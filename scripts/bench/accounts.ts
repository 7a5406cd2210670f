/** Accounts by the thousand, written by SQL: confirmed ones that share one digest, and ones that wait for a code. */
import postgres from 'postgres'
import { LASTING_KEY } from '../../src/domain/credentials/secrets/sealed-tables.ts'
import type { AttemptStore } from '../../src/domain/messages/codes/attempt-store.ts'
import { createCodeService } from '../../src/domain/messages/codes/service.ts'
import { createRedisCodeStore } from '../../src/domain/messages/codes/store-redis.ts'
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { openRedis } from '../../src/platform/redis/connection.ts'
import { createServerSecret, type LastingLabel, type ServerSecret } from '../../src/platform/secret.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { PASSWORD } from '../../test/helpers/api-client.ts'
import { type Poterne, SERVER_SECRET } from './bench.ts'

export const emailOf = (number: number) => `person-${number}@bench.example`

/** poterne's defaults: see src/platform/config/schema.ts. */
export const hashSettings = { algorithm: 'argon2id', memoryCost: 19456, timeCost: 2 } as const

export const cheapHash = { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } as const

/** Runs SQL on a database, on a connection of its own, with no time limit. */
export async function onDatabase<T>(url: string, work: (sql: postgres.Sql) => PromiseLike<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

interface Accounts {
  first?: number
  count: number
  hash?: Bun.Password.Argon2Algorithm
}

async function insertion(
  { first = 1, count, hash = hashSettings }: Accounts,
  state: 'confirmed' | 'waiting',
) {
  const [name, waitingFor, confirmedAt] =
    state === 'confirmed' ? ['person', 'null::text', 'now'] : ['waiting', 'email', 'null::timestamptz']
  const text = `
    insert into accounts (uuid, email, email_key, password_digest, accountable_type, role_id, created_at, updated_at,
                          language, waiting_for, account_confirmed_at, email_confirmed_at)
    select gen_random_uuid(), email, email, $1::text, 'User', 1, now, now, 'fr', ${waitingFor}, ${confirmedAt}, ${confirmedAt}
      from date_trunc('milliseconds', now()) now,
           (select '${name}-' || n || '@bench.example' as email from generate_series($2::int, $3::int) n) people
    returning uuid, email`
  return { text, params: [await Bun.password.hash(PASSWORD, hash), first, first + count - 1] }
}

/** Gathers statistics as autovacuum does within a minute: plans made while the tables were empty are made again. */
async function insert(databaseUrl: string, { text, params }: Awaited<ReturnType<typeof insertion>>) {
  return onDatabase(databaseUrl, async (sql) => {
    const rows = await sql.unsafe<{ uuid: string; email: string }[]>(text, params)
    await sql`analyze`
    return rows
  })
}

/** Confirmed by e-mail, password `PASSWORD`. */
export async function addAccounts(databaseUrl: string, accounts: Accounts): Promise<void> {
  await insert(databaseUrl, await insertion(accounts, 'confirmed'))
}

/** The watchdog ends a process whose statement takes longer than 24 s. */
const AT_ONCE = 10_000

/** The same, in an embedded database that is made there. */
export async function addEmbeddedAccounts(dataDir: string, accounts: Accounts): Promise<void> {
  const database = await openEmbedded(dataDir)
  await applyMigrations(database, new Date())
  for (let first = 1; first <= accounts.count; first += AT_ONCE) {
    const count = Math.min(AT_ONCE, accounts.count - first + 1)
    await database.all(await insertion({ ...accounts, first, count }, 'confirmed'), {})
  }
  await database.all({ text: 'analyze', params: [] }, {})
  await database.close()
}

/** The poterne that made this database has this secret. */
async function secretOf(databaseUrl: string): Promise<ServerSecret> {
  const secret = createServerSecret(Buffer.from(SERVER_SECRET, 'hex'))
  const keys = await onDatabase(
    databaseUrl,
    (sql) => sql<{ label: LastingLabel; sealed_key: Buffer }[]>`select label, sealed_key from lasting_keys`,
  )
  const opened = keys.map((key) => [key.label, secret.tryToOpen(LASTING_KEY, key.sealed_key)!.bytes] as const)
  secret.useLastingKeys(new Map(opened))
  return secret
}

/** Waiting for the code that comes with each; a code lives an hour. */
export async function addWaiting(
  { database, redis: { url, key_prefix: keyPrefix } }: Pick<Poterne, 'database' | 'redis'>,
  accounts: Accounts,
): Promise<{ identifier: string; otp: string }[]> {
  const rows = await insert(database.url, await insertion({ ...accounts, hash: cheapHash }, 'waiting'))
  const redis = openRedis({ mode: 'single', urls: [url], master: null, keyPrefix })
  await redis.ready()
  const codes = createCodeService({
    // No code is attempted here.
    stores: { codes: createRedisCodeStore(redis), attempts: {} as AttemptStore },
    secret: await secretOf(database.url),
    clock: { now: () => new Date() },
    config: { codes: { lifetimeSeconds: 3600, attempts: 5, attemptsPerDay: 20, login: true } },
  })
  const put = async ({ uuid, email }: { uuid: string; email: string }) => {
    const to = { purpose: 'confirmation', group: 'stranger', subject: uuid, destination: email } as const
    const seed = codes.createSeed()
    await codes.put(to, seed, null)
    return { identifier: email, otp: codes.reveal(to, seed) }
  }
  const waiting = await Promise.all(rows.map(put))
  await redis.close()
  return waiting
}
