/** The SQL by which other rooms add and remove passkeys. */
import { type SQL, sql } from 'drizzle-orm'
import { passkeys } from '../../../platform/postgres/schema.ts'
import type { Placeholders } from '../../../platform/postgres/statement.ts'
import {
  keepsSecondFactor,
  otherSignInMethods,
  signInMethodParamTypes,
} from '../../accounts/core/sign-in-methods-sql.ts'

/** `source`: from where the condition reads, if it is more than the passkey. */
export const deletePasskeys = (where: SQL, source?: SQL): SQL =>
  sql`delete from ${passkeys} ${source ? sql`using ${source}` : sql``} where ${where}`

export const passkeyRemovalParamTypes = {
  ...signInMethodParamTypes,
  id: 'uuid',
  appOpens: 'boolean',
} as const

/** CTEs of the removal of one passkey. It is in `may_go` if it is neither the last way in nor the last second factor. */
export const namedPasskey = (p: Placeholders<keyof typeof passkeyRemovalParamTypes>): SQL => {
  const stay = { passkeys: sql`id <> ${p.id}` }
  return sql`
  named as (select id, rp_id from ${passkeys} where account_id = ${p.accountId} and id = ${p.id}),
  left_over as (${otherSignInMethods(p, stay)}),
  may_go as (
    select id from named
     where exists (select 1 from left_over)
       and (rp_id is distinct from ${p.rpId} or ${keepsSecondFactor(p, stay)}))`
}

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
