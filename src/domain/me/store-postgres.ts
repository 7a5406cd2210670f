/** Table `accounts` and, by its foreign keys, whatever belongs to a row of it: see erasure-store.ts. */
import { sql } from 'drizzle-orm'
import { type Database, param, statement } from '../../platform/postgres/database.ts'
import {
  accounts,
  contactChanges,
  eventDetails,
  events,
  identities,
  messages,
  sessions,
} from '../../platform/postgres/schema.ts'
import { sessionLives, updateLockedAccount } from '../accounts/store-postgres.ts'
import type { NewEvent } from '../events/event.ts'
import type { ErasureStore, SecurityCounts } from './store.ts'

/** Codes in a store die with what they are bound to: the account's uuid, or that of the pending change. */
const erase = statement<
  { accountId: number; sessionId: string; digestWhenChecked: string | null },
  { uuid: string }
>(sql`
  with gone as (
    delete from ${accounts}
     where id = ${param('accountId', 'bigint')} and ${sessionLives}
       and password_digest is not distinct from ${param('digestWhenChecked', 'text')}
    returning id, uuid),
  dropped as (
    delete from ${messages}
     where outcome is null and code_subject in (
       select uuid from gone
       union all
       select code_subject from ${contactChanges} join gone on gone.id = ${contactChanges}.account_id)),
  forgotten as (
    delete from ${eventDetails} using ${events}, gone
     where ${events}.account = gone.uuid and event_id = ${events}.id)
  select uuid from gone`)

const count = statement<{ accountId: number; now: Date }, SecurityCounts>(sql`
  select (select count(*)::int from ${identities} where account_id = ${param('accountId', 'bigint')}) as identities,
         (select count(*)::int from ${sessions}
           where account_id = ${param('accountId', 'bigint')} and revoked_at is null
             and expires_at > ${param('now', 'timestamptz')}) as sessions`)

export function createErasureStore(database: Database): ErasureStore {
  return {
    count: async (accountId, now) => (await database.first(count, { accountId, now }))!,
    async erase({ account, sessionId }, now) {
      const params = { accountId: account.id, sessionId, digestWhenChecked: account.passwordDigest }
      const eventsOf = ({ uuid }: { uuid: string }): NewEvent[] => [{ type: 'account.erased', account: uuid }]
      return (await updateLockedAccount(database, erase, params, { at: now, eventsOf })) !== null
    },
  }
}
