/** Tables `usernames` and `username_keys`: which account each username belongs to for good. */
import { createHmac } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accounts, usernameKeys, usernames } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'

export const findUsernameKey = defineStatement({
  name: 'usernames.find_key',
  row: { key: 'text' },
  sql: () => sql`select encode(key, 'hex') as key from ${usernameKeys}`,
})

const take = defineStatement({
  name: 'usernames.take',
  params: { hash: 'bytea', account: 'uuid' },
  row: { account: 'uuid?' },
  sql: (p) => sql`
  insert into ${usernames} as kept (hash, account) values (${p.hash}, ${p.account})
  on conflict (hash) do update set account = excluded.account where kept.account = excluded.account
  returning account`,
})

const isTaken = defineStatement({
  name: 'usernames.is_taken',
  params: { hash: 'bytea', account: 'uuid' },
  row: { taken: 'boolean' },
  sql: (p) => sql`
  select exists (
    select from ${usernames} where hash = ${p.hash} and account is distinct from ${p.account}) as taken`,
})

async function hashUsername(executor: Executor, name: string): Promise<Buffer> {
  const { key } = (await executor.first(findUsernameKey, {}))!
  return createHmac('sha256', Buffer.from(key, 'hex')).update(name).digest()
}

/** False if it is, or ever was, another account's. Of many callers with one name, one gets it. */
export async function takeUsername(transaction: Executor, name: string, account: string): Promise<boolean> {
  const hash = await hashUsername(transaction, name)
  return (await transaction.first(take, { hash, account })) !== null
}

/** Tells whether `takeUsername` would refuse it now: what is refused early counts nothing. */
export async function isUsernameTaken(executor: Executor, name: string, account: string): Promise<boolean> {
  const hash = await hashUsername(executor, name)
  return (await executor.first(isTaken, { hash, account }))!.taken
}

/** The hashes under which these usernames are kept. */
export async function hashUsernames(
  executor: Executor,
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const { key } = (await executor.first(findUsernameKey, {}))!
  const hashOf = (name: string) => createHmac('sha256', Buffer.from(key, 'hex')).update(name).digest('hex')
  return new Map(names.map((name) => [name, hashOf(name)]))
}

/** Usernames of an import. `rows`: JSON of hash, in hexadecimal, and uuid. Violates the key where one is taken. */
export const addImportedUsernames = (p: Placeholders<'rows'>): SQL => sql`
  insert into ${usernames} (hash, account)
  select decode(hash, 'hex'), account from jsonb_to_recordset(${p.rows}::jsonb) as line (hash text, account uuid)`

/** A backup of a version without usernames came with a key of its own, under which there is no hash. */
const keepKey = defineStatement({
  name: 'usernames.keep_key',
  params: { key: 'text' },
  row: { key: 'text' },
  sql: (p) => sql`
  update ${usernameKeys} set key = decode(${p.key}, 'hex')
   where key = decode(${p.key}, 'hex') or not exists (select from ${usernames})
  returning encode(key, 'hex') as key`,
})

const keep = defineStatement({
  name: 'usernames.keep',
  params: { usernames: 'text' },
  sql: (p) => sql`
  insert into ${usernames} (hash, account)
  select decode(kept.hash, 'hex'), ${accounts}.uuid
    from jsonb_to_recordset(${p.usernames}::jsonb) as kept (hash text, account uuid)
    left join ${accounts} on ${accounts}.uuid = kept.account
  on conflict do nothing`,
})

/** Usernames that were given since a backup stay kept after it is restored, even if their account is not there. */
export async function keepUsernames(
  restored: Executor,
  known: { usernames: { hash: string; account: string | null }[]; usernameKey: string | null },
): Promise<void> {
  if (known.usernameKey === null) return
  // Hashes under another key mean nothing here.
  if ((await restored.first(keepKey, { key: known.usernameKey })) === null) return
  await restored.run(keep, { usernames: JSON.stringify(known.usernames) })
}
