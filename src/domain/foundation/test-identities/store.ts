/** Reads the accounts that the identifiers of test identities belong to, and writes nothing. */
import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement } from '../../../platform/postgres/statement.ts'
import type { Identifier } from '../identifiers/identifier.ts'

const isOrdinary = defineStatement({
  name: 'test_identities.is_ordinary',
  params: { email: 'text?', phone: 'text?' },
  row: { yes: 'boolean' },
  sql: (p) => sql`
  select exists (
    select 1 from ${accounts} where email_key = ${p.email} and not test_identity and email_confirmed_at is not null
    union all
    select 1 from ${accounts} where phone = ${p.phone} and not test_identity and phone_confirmed_at is not null
    union all
    select 1 from ${accounts}
     where waiting_for = coalesce(${p.email}, ${p.phone}) and not test_identity and origin is not null) as yes`,
})

export type TestIdentityStore = ReturnType<typeof createTestIdentityStore>

export function createTestIdentityStore(database: Database) {
  return {
    /** Tells whether an account that no test identity opened has verified it, or was made for somebody and waits for it. */
    async isOrdinary({ kind, key }: Identifier): Promise<boolean> {
      const named = { email: kind === 'email' ? key : null, phone: kind === 'phone' ? key : null }
      return (await database.first(isOrdinary, named))!.yes
    },
  }
}
