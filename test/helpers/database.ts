/** The acts of tests on the database of a service that no route offers: act as an administrator, look at rows. */
import { spyOn } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import type { TestService } from './service.ts'

const lock = statement<{ identifier: string; lockedAt: Date | null }>(sql`
  update accounts set locked_at = ${param('lockedAt', 'timestamptz')}
   where email = ${param('identifier', 'text')} or phone = ${param('identifier', 'text')}`)

/** Locks as an administrator does; null unlocks. */
export async function lockAccount(service: TestService, identifier: string, lockedAt: Date | null) {
  await service.inside.database.all(lock, { identifier, lockedAt })
}

const unverifyEmail = statement<{ email: string }>(sql`
  update accounts set origin = 'import', email_confirmed_at = null where email_key = ${param('email', 'text')}`)

/** An import leaves an account so whose address it does not vouch for. */
export async function makeImported(service: TestService, email: string) {
  await service.inside.database.all(unverifyEmail, { email })
}

const addIdentity = statement<{ email: string; provider: string }>(sql`
  insert into identities (account_id, provider, issuer, subject, created_at)
  select id, ${param('provider', 'text')}, 'https://' || ${param('provider', 'text')}, uuid, now() from accounts
   where email_key = ${param('email', 'text')}`)

/** An identity of a provider that the configuration may not have any more. */
export async function linkIdentity(service: TestService, email: string, provider: string) {
  await service.inside.database.all(addIdentity, { email, provider })
}

const digest = statement<{ identifier: string }, { digest: string | null }>(sql`
  select password_digest as digest from accounts where email = ${param('identifier', 'text')}`)
const replaceDigest = statement<{ identifier: string; digest: string | null }>(sql`
  update accounts set password_digest = ${param('digest', 'text')} where email = ${param('identifier', 'text')}`)

export async function digestOf({ inside: { database } }: TestService, identifier: string) {
  return (await database.first(digest, { identifier }))?.digest
}

/** Sets it as an import does; null takes the password away. */
export async function setDigest(service: TestService, identifier: string, digest: string | null) {
  await service.inside.database.all(replaceDigest, { identifier, digest })
}

const tables = statement<Record<string, never>, { name: string }>(sql`
  select table_name as name from information_schema.tables where table_schema = 'public' order by 1`)

/** Every row of every table as text, bytes in hexadecimal: what a stolen backup holds. */
export async function dumpTables({ inside: { database } }: TestService): Promise<string> {
  const parts: string[] = []
  for (const { name } of await database.all(tables, {})) {
    const rows = statement<Record<string, never>, { line: string }>(
      sql`select ${sql.identifier(name)}::text as line from ${sql.identifier(name)}`,
    )
    for (const { line } of await database.all(rows, {})) parts.push(`${name} ${line}`)
  }
  return parts.join('\n')
}

export async function countRows({ inside: { database } }: TestService, table: string, where = sql`true`) {
  const counted = statement<Record<string, never>, { count: number }>(
    sql`select count(*)::int as count from ${sql.identifier(table)} where ${where}`,
  )
  return (await database.first(counted, {}))!.count
}

const countDeadlocks = statement<Record<string, never>, { count: number }>(sql`
  select deadlocks::int as count, pg_stat_clear_snapshot()
    from pg_stat_database where datname = current_database()`)

/** The deadlocks that PostgreSQL has found in the database so far; it says so a second after the last statement. */
export async function deadlocks({ inside: { database } }: TestService): Promise<number> {
  await Bun.sleep(1100)
  return (await database.first(countDeadlocks, {}))!.count
}

export const confirmedAccounts = (service: TestService) =>
  countRows(service, 'accounts', sql`account_confirmed_at is not null`)

/** Adds as many more sessions of the account that signed in last. */
export async function multiplySessions({ inside: { database } }: TestService, count: number) {
  const multiply = statement<{ count: number }>(sql`
    insert into sessions (id, account_id, amr, created_at, last_used_at, expires_at, ends_at, family_hash)
    select gen_random_uuid(), last.account_id, last.amr, last.created_at, last.last_used_at, last.expires_at,
           last.ends_at, sha256(number::text::bytea)
      from (select * from sessions order by created_at desc limit 1) last,
           generate_series(1, ${param('count', 'int')}) number`)
  await database.all(multiply, { count })
}

export async function renameTable({ inside: { database } }: TestService, from: string, to: string) {
  const rename = sql`alter table ${sql.identifier(from)} rename to ${sql.identifier(to)}`
  await database.all(statement<Record<string, never>>(rename), {})
}

/** Records every statement from now on; `ownStatements` are those about sessions (the outbox runs its own). */
export function spyOnStatements({ inside: { database } }: TestService) {
  const spies = [spyOn(database, 'first'), spyOn(database, 'all'), spyOn(database, 'transaction')]
  const texts = () =>
    spies.flatMap((spy) =>
      spy.mock.calls.map(([query]) => (query as { text?: string }).text ?? 'transaction'),
    )
  return {
    ownStatements: () => texts().filter((text) => text === 'transaction' || text.includes('"sessions"')),
    restore: () => {
      for (const spy of spies) spy.mockRestore()
    },
  }
}
