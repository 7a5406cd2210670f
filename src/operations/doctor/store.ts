/** The facts that PostgreSQL tells about itself. */

import { sql } from 'drizzle-orm'
import type { Config } from '../../platform/config/types.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { ownMigrations, readApplied } from '../../platform/postgres/migrate.ts'
import { findRights } from '../../platform/postgres/own-objects.ts'
import { column, defineStatement } from '../../platform/postgres/statement.ts'

const readFacts = defineStatement({
  name: 'doctor.facts',
  row: {
    version: 'int',
    encoding: 'text',
    user: 'text',
    mayCreate: 'boolean',
    server: 'text',
    address: 'text?',
  },
  sql: () => sql`
  select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
         current_user::text as "user",
         coalesce(host(inet_server_addr()) || ':' || inet_server_port(), 'a socket of this machine') as server,
         host(inet_server_addr()) as address,
         coalesce(has_schema_privilege(current_schema(), 'create'), false) as may_create`,
})

/** The bound is that of the server, of this database or of this user, whichever is the fewest. -1 is no limit. */
const countConnections = defineStatement({
  name: 'doctor.connections',
  row: { most: 'int', used: 'int' },
  sql: () => sql`
  with bounds as (
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as server,
           nullif((select datconnlimit from pg_database where datname = current_database()), -1) as database,
           nullif((select rolconnlimit from pg_roles where rolname = current_user), -1) as role),
  used as (
    select count(*) filter (where backend_type = 'client backend')::int as server,
           count(*) filter (where datname = current_database())::int as database,
           count(*) filter (where usename = current_user)::int as role
      from pg_stat_activity),
  lefts as (
    select bounds.server as most, used.server as used from bounds, used
    union all select bounds.database, used.database from bounds, used where bounds.database is not null
    union all select bounds.role, used.role from bounds, used where bounds.role is not null)
  select most, used from lefts order by most - used limit 1`,
})

/** It is null where this user may not see it. */
const findDirectory = defineStatement({
  name: 'doctor.directory',
  row: { directory: 'text?' },
  sql: () => sql`
  select case when pg_has_role('pg_read_all_settings', 'usage') then current_setting('data_directory') end as directory`,
})

const listPublishedKeys = defineStatement({
  name: 'doctor.published_keys',
  params: { now: 'timestamptz' },
  row: { kid: 'text' },
  sql: ({ now }) => sql`
  select kid from signing_keys where published_until is null or published_until > ${now} order by kid`,
})

/** Accounts that nothing but a sent code opens: they have neither a password nor a usable identity or passkey. */
const countCodeOnly = defineStatement({
  name: 'doctor.code_only_accounts',
  params: { usable: 'text', rpId: 'text?' },
  row: { count: 'int' },
  sql: (p) => sql`
  select count(*)::int as count from accounts
   where password_digest is null and account_confirmed_at is not null
     and (email_confirmed_at is not null or phone_confirmed_at is not null)
     and not exists (select 1 from identities where account_id = accounts.id
                        and provider in (select jsonb_array_elements_text(${p.usable}::jsonb)))
     and not exists (select 1 from passkeys where account_id = accounts.id and rp_id = ${p.rpId})`,
})

/** Keys and rights whose time of making has not come yet, so that a clock was wrong when they were made. */
const listMadeLater = defineStatement({
  name: 'doctor.made_later',
  params: { now: 'timestamptz' },
  row: {
    kind: column<'signing key' | 'token' | 'administrator'>('text'),
    name: 'text',
    madeAt: 'timestamptz',
  },
  sql: ({ now }) => sql`
  select 'signing key' as kind, kid as name, created_at as made_at from signing_keys where created_at > ${now}
  union all
  select 'signing key', kid, created_at from identity_keys where created_at > ${now}
  union all
  select 'token', name, created_at from administration_tokens where created_at > ${now} and revoked_at is null
  union all
  select 'administrator', coalesce(accounts.email, accounts.phone, accounts.uuid::text), administrators.created_at
    from administrators join accounts on accounts.id = account_id where administrators.created_at > ${now}
   order by kind, name limit 20`,
})

/** Those of the groups that no account is in. */
const findEmptyGroups = defineStatement({
  name: 'doctor.empty_groups',
  params: { groups: 'text' },
  row: { name: 'text' },
  sql: (p) => sql`
  select value as name from jsonb_array_elements_text(${p.groups}::jsonb)
   where not exists (select 1 from accounts where groups ? value)`,
})

export const createDoctorStore = (database: Database) => ({
  facts: async () => (await database.first(readFacts, {}))!,
  rights: async () => findRights(database, ownMigrations, (await readApplied(database)).length),
  connections: async () => (await database.first(countConnections, {}))!,
  directory: async () => (await database.first(findDirectory, {}))?.directory ?? null,
  codeOnlyAccounts: async ({ social, passkeys }: Pick<Config, 'social' | 'passkeys'>) => {
    const usable = JSON.stringify(social.providers.map(({ name }) => name))
    return (await database.first(countCodeOnly, { usable, rpId: passkeys.rpId }))!.count
  },
  emptyGroups: async (groups: string[]) =>
    groups.length === 0
      ? []
      : (await database.all(findEmptyGroups, { groups: JSON.stringify(groups) })).map(({ name }) => name),
  madeLater: (now: Date) => database.all(listMadeLater, { now }),
  publishedKeys: async (now: Date) => (await database.all(listPublishedKeys, { now })).map(({ kid }) => kid),
})

/** Without codes at sign-in these accounts have no way in but a reset of the password; null where there are none. */
export async function describeLockedOut(config: Config, database: Database): Promise<string | null> {
  if (config.codes.login) return null
  const count = await createDoctorStore(database).codeOnlyAccounts(config)
  return count === 0
    ? null
    : `${count} accounts have no way in but a sent code, which codes.login = false refuses: turn it on again, or let their owners choose a password by a reset`
}
