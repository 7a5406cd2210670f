/** The SQL by which other rooms add and remove identities. */
import { type SQL, sql } from 'drizzle-orm'
import { identities } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'

export const deleteIdentities = (where: SQL): SQL => sql`delete from ${identities} where ${where}`

/** Those that came with an import. `rows`: JSON, with the id of the account. */
export const addImportedIdentities = (p: Placeholders<'rows' | 'now'>): SQL => sql`
  insert into ${identities} (account_id, provider, issuer, subject, email, created_at)
  select account, provider, issuer, subject, email, ${p.now}
    from jsonb_to_recordset(${p.rows}::jsonb) as line (
         account bigint, provider text, issuer text, subject text, email text)`
