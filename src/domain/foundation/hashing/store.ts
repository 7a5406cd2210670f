/** The families of the stored digests, without the digests, from the table of accounts. */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import type { Family } from './digest.ts'

const { passwordDigest } = accounts

/** The last family in the order of names, before the one that `condition` names. */
const last = (condition: SQL) => sql`
    select digest_family(${passwordDigest}) as family, digest_number(${passwordDigest}) as number from ${accounts}
     where ${passwordDigest} is not null and digest_family(${passwordDigest}) ${condition}
     order by digest_family(${passwordDigest}) desc, digest_number(${passwordDigest}) desc limit 1`

/** Reads one entry of the index `accounts_digests` for each family, however many accounts there are. */
const families = defineStatement({
  name: 'hashing.families',
  row: { family: 'text', number: 'int' },
  sql: () => sql`
  with recursive largest as (
    (${last(sql`is not null`)})
    union all
    select next.family, next.number from largest, lateral (${last(sql`< largest.family`)}) next)
  select family, number from largest`,
})

const counted = defineStatement({
  name: 'hashing.counted_families',
  row: { family: 'text', number: 'int', count: 'int' },
  sql: () => sql`
  select digest_family(${passwordDigest}) as family, max(digest_number(${passwordDigest})) as number, count(*)::int as count
    from ${accounts} where ${passwordDigest} is not null and digest_family(${passwordDigest}) is not null
   group by 1 order by 3 desc, 1`,
})

export type DigestStore = Pick<ReturnType<typeof createDigestStore>, 'listFamilies'>

interface CountedFamily extends Family {
  count: number
}

export function createDigestStore(database: Database) {
  return {
    /** The families in use, each with its largest number. */
    listFamilies: (): Promise<Family[]> => database.all(families, {}),
    /** The same, with the number of accounts of each: reads every account. */
    countFamilies: (): Promise<CountedFamily[]> => database.all(counted, {}),
  }
}
