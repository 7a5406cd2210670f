/**
 * The CTEs that every erasure has in common, when it happens and when it is repeated after a restore. A contact that the
 * account merely claimed belongs to somebody else.
 */
import { type SQL, sql } from 'drizzle-orm'
import { accounts, replacedContacts } from '../../../platform/postgres/schema.ts'

/** `gone`: the accounts, which are deleted; `destinations`: their contacts, those of the last seven days included. */
export const deleteAccounts = (where: SQL): SQL => sql`
  gone as (
    delete from ${accounts}
     where ${where}
    returning id, uuid, case when email_confirmed_at is not null then email_key end as email,
              case when phone_confirmed_at is not null then phone end as phone),
  destinations as (
    select email as destination from gone where email is not null
    union select phone from gone where phone is not null
    union select destination_key from ${replacedContacts} join gone on gone.id = account_id)`
