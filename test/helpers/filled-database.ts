/** Databases with many accounts, filled by SQL as their migrations were at the time. */
import { join } from 'node:path'
import postgres from 'postgres'
import type { Database } from '../../src/platform/postgres/database.ts'
import { applyMigrations, type Migration, ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { readFolder } from '../../src/platform/postgres/read-migrations.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { createDatabase } from './servers.ts'

export interface Series {
  migrations: readonly Migration[]
  /** The rows that are put into the tables once so many migrations are applied; `$1` is the number of accounts. */
  fills: Record<number, string[]>
}

/**
 * One account in fifty is an unverified registration, which others contest; one in ten has an app, one in a hundred is
 * locked.
 */
const EARLIER_FILLS: Series['fills'] = {
  1: [
    `insert into accounts (uuid, email, email_key, phone, password_digest, accountable_type, role_id,
                           account_confirmed_at, email_confirmed_at, phone_confirmed_at, locked_at, two_factor_enabled,
                           waiting_for, waiting_address, waiting_password_tag, waiting_contested, created_at,
                           updated_at, language)
     select gen_random_uuid(), 'person-' || i || '@example.com', 'person-' || i || '@example.com',
            '+3361' || lpad(i::text, 7, '0'),
            '$argon2id$v=19$m=8,t=1,p=1$' || repeat('A', 22) || '$' || repeat('B', 43), 'User', i % 3,
            case when i % 50 > 0 then now() end, case when i % 50 > 0 then now() end,
            case when i % 50 > 0 and i % 2 = 0 then now() end, case when i % 100 = 1 then now() end, i % 10 = 1,
            case when i % 50 = 0 then 'person-' || i || '@example.com' end,
            case when i % 50 = 0 then '192.0.2.1' end, case when i % 50 = 0 then '\\x01'::bytea end, i % 100 = 0,
            now() - i * interval '1 second', now(), 'fr' from generate_series(1, $1::int) i`,
    `insert into sessions (id, account_id, device_fingerprint, ip, amr, created_at, last_used_at, expires_at, ends_at,
                           refresh_hash)
     select gen_random_uuid(), id, 'device-' || twice, '192.0.2.1', 'pwd', now(), now(), now() + interval '30 days',
            now() + interval '90 days', sha256((id || '-' || twice)::text::bytea)
       from accounts, generate_series(1, 2) twice where id <= $1::int`,
    `insert into spent_refresh_tokens (hash, session_id)
     select sha256(id::text::bytea), id from sessions where account_id <= $1::int / 10`,
    `insert into messages (channel, destination, purpose, language, code_subject, code_purpose, created_at, attempts,
                           next_attempt_at, finished_at, outcome)
     select 'email', email, 'confirmation', 'fr', uuid, 'confirmation', now(), 1, now(),
            case when id % 100 > 0 then now() end, case when id % 100 > 0 then 'sent' end
       from accounts where id <= $1::int`,
    `insert into identities (account_id, provider, issuer, subject, created_at)
     select id, 'google', 'https://accounts.example', id::text, now() from accounts where id <= $1::int / 10`,
    `insert into totp_factors (account_id, sealed_secret, created_at, confirmed_at, last_step)
     select id, sha256(id::text::bytea), now(), now(), 1 from accounts where id <= $1::int and id % 10 = 1`,
  ],
  3: [
    `insert into recovery_codes (account_id, hashes)
     select id, array_fill(sha256(id::text::bytea), array[10]) from accounts where id <= $1::int and id % 10 = 1`,
  ],
  // The migration before this one ends every session.
  4: [
    `insert into sessions (id, account_id, device_fingerprint, ip, amr, created_at, last_used_at, expires_at, ends_at,
                           family_hash)
     select gen_random_uuid(), id, 'device-' || twice, '192.0.2.1', 'pwd', now(), now(), now() + interval '30 days',
            now() + interval '90 days', sha256((id || '-' || twice)::text::bytea)
       from accounts, generate_series(1, 2) twice where id <= $1::int`,
  ],
  9: [
    `insert into known_devices (account_id, tag, kind, sign_in, last_sign_in_at)
     select id, sha256(id::text::bytea), 'device', 1, now() from accounts where id <= $1::int`,
  ],
  11: [
    `update messages set gateway = 'smtp', account_uuid = code_subject where id <= $1::int and finished_at is not null`,
  ],
  16: [
    `insert into events (type, outcome, created_at, account, actor_type, actor_id, data)
     select 'session.created', 'success', now(), uuid, 'account', uuid::text, '{}' from accounts where id <= $1::int`,
  ],
}

/** The migrations from before the first release, which did everything that a migration may do: they try the migrator. */
export const earlier: Series = {
  migrations: readFolder(join(import.meta.dir, 'earlier-migrations')),
  fills: EARLIER_FILLS,
}

/** The same people in the tables of the present. */
const OWN_FILLS: Series['fills'] = {
  1: [
    `insert into accounts (uuid, email, email_key, phone, password_digest, accountable_type, role_id,
                           account_confirmed_at, email_confirmed_at, phone_confirmed_at, locked_at, two_factor_enabled,
                           waiting_for, created_at, updated_at, language)
     select gen_random_uuid(), 'person-' || i || '@example.com', 'person-' || i || '@example.com',
            '+3361' || lpad(i::text, 7, '0'),
            '$argon2id$v=19$m=8,t=1,p=1$' || repeat('A', 22) || '$' || repeat('B', 43), 'User', i % 3,
            case when i % 50 > 0 then now() end, case when i % 50 > 0 then now() end,
            case when i % 50 > 0 and i % 2 = 0 then now() end, case when i % 100 = 1 then now() end, i % 10 = 1,
            case when i % 50 = 0 then 'person-' || i || '@example.com' end,
            now() - i * interval '1 second', now(), 'fr' from generate_series(1, $1::int) i`,
    ...[...EARLIER_FILLS[4]!, ...EARLIER_FILLS[9]!, ...EARLIER_FILLS[16]!],
  ],
}
export const own: Series = { migrations: ownMigrations, fills: OWN_FILLS }

export interface FilledDatabase {
  url: string
  database: Database
  accounts: number
  /** Applies those before this number and fills what they made; says nothing of how long anybody waited. */
  advance(migrations: number): Promise<void>
  /** The names of what is applied, oldest first. */
  applied(): Promise<string[]>
  drop(): Promise<void>
}

/** Returns the numbers of migrations after which tables are filled, up to all of them. */
export const stages = ({ fills, migrations }: Series): number[] => [
  ...Object.keys(fills)
    .map(Number)
    .filter((count) => count > 1),
  migrations.length,
]

export async function createFilled(
  accounts: number,
  series: Series,
  { migrations = 1, server }: { migrations?: number; server?: { url: string } } = {},
): Promise<FilledDatabase> {
  const { url, drop } = await createDatabase({ migrated: false, ...(server && { server }) })
  const database = await connectServer({ url, poolSize: 2 })
  const client = postgres(url, { max: 1, onnotice: () => {} })
  let filled = 0
  const advance = async (count: number) => {
    await applyMigrations(database, new Date(), { migrations: series.migrations.slice(0, count) })
    for (const [at, texts] of Object.entries(series.fills)) {
      if (Number(at) <= filled || Number(at) > count) continue
      if (Number(at) < count && filled < Number(at)) {
        throw new Error(`the tables of migration ${at} are filled before ${count} is reached`)
      }
      for (const text of texts) await client.unsafe(text, [accounts])
      await client.unsafe('vacuum analyze')
    }
    filled = count
  }
  for (const count of [1, ...stages(series)].filter((each) => each < migrations)) await advance(count)
  await advance(migrations)
  return {
    ...{ url, database, accounts, advance },
    applied: async () =>
      (await client`select name from poterne_migrations order by number`).map(({ name }) => name as string),
    async drop() {
      await Promise.all([database.close(), client.end()])
      await drop()
    },
  }
}

/**
 * The migrations that a version after this one may have: more columns for tables whose rows statements give as a whole.
 */
export const laterMigrations: Migration[] = ['accounts', 'sessions', 'messages', 'accounts'].map(
  (table, index) => ({
    number: ownMigrations.length + index,
    ...{
      name: `later_${index}`,
      hash: `later_${index}`,
      oldestVersion: null,
      concurrent: false,
    },
    statements: [`alter table "${table}" add column "later_${index}" text default 'later'`],
  }),
)
