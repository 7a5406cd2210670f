/**
 * The parameters of the stored digests, without the digests, from the table of accounts: in the order of
 * the accounts' ids; a piece takes a few milliseconds.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'

/**
 * Digests of bcrypt differ from the seventh character on, all others from their fourth dollar sign on. Those that are never
 * verified cost no work.
 */
const groups = defineStatement({
  name: 'hashing.groups',
  params: { after: 'bigint', limit: 'int' },
  row: { work: 'text?', last: 'float8', count: 'int' },
  sql: (p) => sql`
  select work, max(id)::float8 as last, count(*)::int as count
    from (select id,
                 case when password_digest ~ '^\\$2[aby]\\$' then '$2b' || substr(password_digest, 4, 3)
                      when starts_with(password_digest, '$2') then null
                      else substring(password_digest from '^\\$[^$]*\\$[^$]*\\$[^$]*') end as work
            from ${accounts} where id > ${p.after} order by id limit ${p.limit}) piece
   group by work`,
})

export type DigestStore = ReturnType<typeof createDigestStore>

export function createDigestStore(database: Database) {
  return {
    /**
     * The parameters of the digests of up to `limit` accounts after this id, each once, as `workOf` names them. `last` is
     * the id to continue after; null if there are no more accounts.
     */
    async listWork(after: number, limit: number): Promise<{ works: string[]; last: number | null }> {
      const found = await database.all(groups, { after, limit })
      const count = found.reduce((sum, group) => sum + group.count, 0)
      return {
        works: found.map(({ work }) => work).filter((work) => work !== null),
        last: count < limit ? null : Math.max(...found.map(({ last }) => last)),
      }
    },
  }
}
