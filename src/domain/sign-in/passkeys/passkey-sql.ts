/** The SQL by which other rooms add and remove passkeys. */
import { type SQL, sql } from 'drizzle-orm'
import { passkeys } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'

export const deletePasskeys = (where: SQL): SQL => sql`delete from ${passkeys} where ${where}`

/** Those that came with an import. `rows`: JSON, with the id of the account; the binary values are base64. */
export const addImportedPasskeys = (p: Placeholders<'rows' | 'rpId'>): SQL => sql`
  insert into ${passkeys} (id, account_id, credential_id, public_key, user_handle, counter, name, created_at, last_used_at,
                           backup_eligible, backed_up, transports, aaguid, rp_id, proved)
  select gen_random_uuid(), account, credential_id, decode(public_key, 'base64'), decode(user_handle, 'base64'), counter, name,
         created_at, last_used_at, backup_eligible, backed_up, transports, aaguid, ${p.rpId}, true
    from jsonb_to_recordset(${p.rows}::jsonb) as line (
         account bigint, credential_id text, public_key text, user_handle text, counter bigint, name text,
         created_at timestamptz, last_used_at timestamptz, backup_eligible boolean, backed_up boolean, transports jsonb,
         aaguid text)`
