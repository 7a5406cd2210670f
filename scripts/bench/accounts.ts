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
import { SERVER_SECRET } from './poterne.ts'

export const PASSWORD = 'correct horse battery'
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

/** Does what autovacuum does within a minute: plans made while the tables were empty are made again. */
export const gatherStatistics = (databaseUrl: string) => onDatabase(databaseUrl, (sql) => sql`analyze`)

export interface AccountsOptions {
  first?: number
  count: number
}

type HashedAccountsOptions = AccountsOptions & { hash?: Bun.Password.Argon2Algorithm }

/** Confirmed by e-mail, password `PASSWORD`. */
export async function addAccounts(databaseUrl: string, options: HashedAccountsOptions): Promise<void> {
  const { text, params } = await insertAccounts(options)
  await onDatabase(databaseUrl, (sql) => sql.unsafe(text, params as string[]))
  await gatherStatistics(databaseUrl)
}

/** The watchdog ends a process whose statement takes longer than 24 s. */
const AT_ONCE = 10_000

/** The same, in an embedded database that is made there. */
export async function addEmbeddedAccounts(dataDir: string, options: HashedAccountsOptions): Promise<void> {
  const database = await openEmbedded(dataDir)
  await applyMigrations(database, new Date())
  const { first = 1, count } = options
  for (let start = first; start < first + count; start += AT_ONCE) {
    const batch = { ...options, first: start, count: Math.min(AT_ONCE, first + count - start) }
    await database.all(await insertAccounts(batch), {})
  }
  await database.all({ text: 'analyze', params: [] }, {})
  await database.close()
}

async function insertAccounts({ first = 1, count, hash = hashSettings }: HashedAccountsOptions) {
  const text = `
    insert into accounts (uuid, email, email_key, password_digest, accountable_type, role_id, created_at, updated_at,
                          language, account_confirmed_at, email_confirmed_at)
    select gen_random_uuid(), email, email, $1::text, 'User', 1, now(), now(), 'fr', now(), now()
      from (select 'person-' || n || '@bench.example' as email from generate_series($2::int, $3::int) n) people`
  return { text, params: [await Bun.password.hash(PASSWORD, hash), first, first + count - 1] }
}

/** The poterne that made this database has this secret. */
async function secretOf(databaseUrl: string): Promise<ServerSecret> {
  const secret = createServerSecret(Buffer.from(SERVER_SECRET, 'hex'))
  const rows = await onDatabase(
    databaseUrl,
    (sql) => sql<{ label: LastingLabel; sealed_key: Buffer }[]>`select label, sealed_key from lasting_keys`,
  )
  const opened = rows.map(
    ({ label, sealed_key }) => [label, secret.tryToOpen(LASTING_KEY, sealed_key)!.bytes] as const,
  )
  secret.useLastingKeys(new Map(opened))
  return secret
}

/** Waiting for the code that comes with each; a code lives an hour. */
export async function addWaiting(
  { databaseUrl, redisUrl, keyPrefix }: { databaseUrl: string; redisUrl: string; keyPrefix: string },
  { first = 1, count }: AccountsOptions,
): Promise<{ identifier: string; otp: string }[]> {
  const digest = await Bun.password.hash(PASSWORD, cheapHash)
  const rows = await onDatabase(
    databaseUrl,
    (sql) => sql<{ uuid: string; email: string }[]>`
      insert into accounts (uuid, email, email_key, password_digest, accountable_type, role_id, created_at, updated_at,
                            language, waiting_for)
      select gen_random_uuid(), email, email, ${digest}, 'User', 1, date_trunc('milliseconds', now()),
             date_trunc('milliseconds', now()), 'fr', email
        from (select 'waiting-' || n || '@bench.example' as email
                from generate_series(${first}::int, ${first + count - 1}::int) n) people
      returning uuid, email`,
  )
  await gatherStatistics(databaseUrl)
  const redis = openRedis({ mode: 'single', urls: [redisUrl], master: null, keyPrefix })
  try {
    await redis.ready()
    const codes = createCodeService({
      // No code is attempted here.
      stores: { codes: createRedisCodeStore(redis), attempts: {} as AttemptStore },
      secret: await secretOf(databaseUrl),
      clock: { now: () => new Date() },
      config: { codes: { lifetimeSeconds: 3600, attempts: 5, attemptsPerDay: 20, login: true } },
    })
    return await Promise.all(
      rows.map(async ({ uuid, email }) => {
        const binding = {
          purpose: 'confirmation',
          group: 'stranger',
          subject: uuid,
          destination: email,
        } as const
        const seed = codes.createSeed()
        await codes.put(binding, seed, null)
        return { identifier: email, otp: codes.reveal(binding, seed) }
      }),
    )
  } finally {
    await redis.close()
  }
}
