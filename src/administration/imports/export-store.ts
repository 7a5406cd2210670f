/** Accounts page by page, with everything that another poterne needs to know of them. It writes nothing. */
import { sql } from 'drizzle-orm'
import { accountRow } from '../../domain/accounts/core/account-sql.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { accounts, identities, passkeys, totpFactors } from '../../platform/postgres/schema.ts'
import { defineStatement, json, type ValuesOf } from '../../platform/postgres/statement.ts'
import type { ImportedIdentity } from './line.ts'

/** As the database writes it: times with their zone, binary values in base64. */
interface StoredPasskey {
  id: string
  public_key: string
  user_handle: string
  counter: number
  name: string
  created_at: string
  last_used_at: string | null
  backup_eligible: boolean
  backed_up: boolean
  transports: string[]
  aaguid: string
  rp_id: string
}

const row = {
  ...accountRow,
  sealedSecret: 'bytea?',
  linked: json<ImportedIdentity[]>(),
  held: json<StoredPasskey[]>(),
} as const

const list = defineStatement({
  name: 'imports.export',
  params: { after: 'bigint', limit: 'int', rpId: 'text?' },
  row,
  sql: (p) => sql`
  select ${accounts}.*, sealed_secret,
         (select coalesce(jsonb_agg(jsonb_build_object('provider', provider, 'issuer', issuer, 'subject', subject, 'email', email)
                                    order by id), '[]')
            from ${identities} where account_id = ${accounts}.id) as linked,
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'id', credential_id, 'public_key', encode(public_key, 'base64'), 'user_handle', encode(user_handle, 'base64'),
                   'counter', counter, 'name', name, 'created_at', created_at, 'last_used_at', last_used_at,
                   'backup_eligible', backup_eligible, 'backed_up', backed_up, 'transports', transports, 'aaguid', aaguid, 'rp_id', rp_id)
                   order by created_at, credential_id), '[]')
            from ${passkeys} where account_id = ${accounts}.id and rp_id = ${p.rpId}) as held
    from ${accounts} left join ${totpFactors} on account_id = ${accounts}.id
   where ${accounts}.id > ${p.after} and not test_identity and (account_confirmed_at is not null or origin is not null)
   order by ${accounts}.id limit ${p.limit}`,
})

const last = defineStatement({
  name: 'imports.last_id',
  row: { id: 'bigint?' },
  sql: () => sql`select max(id) as id from ${accounts}`,
})

export type StoredAccount = ValuesOf<typeof row>
export type AccountExportStore = ReturnType<typeof createAccountExportStore>

export function createAccountExportStore(database: Database) {
  return {
    /** Registrations that wait, and test identities, are left out. Passkeys are those of this relying party. */
    list: (after: number, limit: number, rpId: string | null) => database.all(list, { after, limit, rpId }),
    /** The greatest id of all. */
    lastId: async (): Promise<number> => (await database.first(last, {}))?.id ?? 0,
  }
}
