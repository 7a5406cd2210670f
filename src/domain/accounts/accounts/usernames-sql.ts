/** Table `usernames`: which account each username belongs to for good. */
import { sql } from 'drizzle-orm'
import type { Executor } from '../../../platform/postgres/database.ts'
import { accounts, usernames } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

const take = defineStatement({
  name: 'usernames.take',
  params: { hash: 'bytea', account: 'uuid' },
  row: { account: 'uuid?' },
  sql: (p) => sql`
  insert into ${usernames} as kept (hash, account) values (${p.hash}, ${p.account})
  on conflict (hash) do update set account = excluded.account where kept.account = excluded.account
  returning account`,
})

/** False if it is, or ever was, another account's. Of many callers with one name, one gets it. */
export async function takeUsername(
  transaction: Executor,
  hash: Uint8Array,
  account: string,
): Promise<boolean> {
  return (await transaction.first(take, { hash, account })) !== null
}

/** Those that were given since a backup stay kept after it is restored, also where their account is not there. */
export const keepUsernames = defineStatement({
  name: 'usernames.keep',
  params: { usernames: 'text' },
  sql: (p) => sql`
  insert into ${usernames} (hash, account)
  select decode(kept.hash, 'hex'), ${accounts}.uuid
    from jsonb_to_recordset(${p.usernames}::jsonb) as kept (hash text, account uuid)
    left join ${accounts} on ${accounts}.uuid = kept.account
  on conflict do nothing`,
})
