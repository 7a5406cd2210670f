/** The passkeys, in PostgreSQL in every shape. The tables are `passkeys` and `spent_challenges`. */

import { sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { accounts, passkeys, spentChallenges, twoFactorRemovals } from '../../../platform/postgres/schema.ts'
import { defineStatement, type Placeholders, pick } from '../../../platform/postgres/statement.ts'
import { createExpirySweep } from '../../../platform/postgres/sweep.ts'
import type { Account, AccountSession } from '../../accounts/core/account.ts'
import { accountRow, isSessionAlive, withHeldAccount } from '../../accounts/core/account-sql.ts'
import {
  type ForeseenRemoval,
  foreseenRow,
  keepsSecondFactor,
  otherSignInMethods,
  type Removal,
  signInMethodParamTypes,
  type UsableFactors,
  usableParams,
} from '../../accounts/core/sign-in-methods-sql.ts'
import type { EventType, NewEvent } from '../../foundation/events/event.ts'
import {
  changeAndRecord,
  eventCtes,
  eventParams,
  eventParamTypes,
  recordEvents,
} from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices, noticeParams, queueNotices } from '../../messages/outbox/queue-sql.ts'
import type { NewSession, SignedInAccount } from '../../sessions/core/session.ts'
import {
  endTooMany,
  isFromNewDevice,
  otherSessions,
  signInCtes,
  signInParams,
  signInParamTypes,
} from '../../sessions/core/sign-in-sql.ts'
import type { OpenedChallenge } from './challenge.ts'
import { type Passkey, passkeyRow } from './passkey.ts'
import { deletePasskeys } from './passkey-sql.ts'
import type { Assertion, NewCredential } from './verification.ts'

export interface PasskeyUse {
  passkey: Passkey
  account: Account
  /** True if a removal of two factors waits that the use of this factor ends. */
  removalWaits: boolean
  challenge: OpenedChallenge
  assertion: Assertion
}

/** The reason why a valid signature is refused nevertheless. */
export type UseRefusal = 'challenge_spent' | 'counter_fell'

type NewPasskey = NewCredential & Pick<Passkey, 'id' | 'name' | 'userHandle' | 'rpId' | 'proved'>

/** Two of the passkey's columns have the names of the account's. */
const { id: _id, createdAt: _createdAt, ...ownColumns } = passkeyRow

const ownSelected = sql`account_id, credential_id, public_key, user_handle, counter, name, last_used_at,
         backup_eligible, backed_up, aaguid, rp_id, proved, transports`

const selected = sql`id, created_at, ${ownSelected}`

const find = defineStatement({
  name: 'passkeys.find',
  params: { credentialId: 'text' },
  row: {
    ...accountRow,
    ...ownColumns,
    passkeyId: 'uuid',
    passkeyCreatedAt: 'timestamptz',
    removalWaits: 'boolean',
  },
  sql: (p) => sql`
  select ${accounts}.*, ${ownSelected}, ${passkeys}.id as passkey_id,
         ${passkeys}.created_at as passkey_created_at,
         exists (select 1 from ${twoFactorRemovals} removal where removal.account_id = ${accounts}.id) as removal_waits
    from ${passkeys} join ${accounts} on ${accounts}.id = ${passkeys}.account_id
   where credential_id = ${p.credentialId}`,
})

const list = defineStatement({
  name: 'passkeys.list',
  params: { accountId: 'bigint' },
  row: passkeyRow,
  sql: (p) => sql`
  select ${selected} from ${passkeys} where account_id = ${p.accountId} order by created_at, id`,
})

const findHindrance = defineStatement({
  name: 'passkeys.find_hindrance',
  params: { accountId: 'bigint', credentialId: 'text', userHandle: 'bytea', limit: 'int' },
  row: { known: 'boolean', full: 'boolean', foreign: 'boolean' },
  sql: (p) => sql`
  select exists (select 1 from ${passkeys} where credential_id = ${p.credentialId}) as known,
         (select count(*) from ${passkeys} where account_id = ${p.accountId}) >= ${p.limit} as full,
         exists (select 1 from ${passkeys}
                  where account_id = ${p.accountId} and user_handle <> ${p.userHandle}) as "foreign"`,
})

/** Of many callers with one challenge one adds its passkey. */
const add = defineStatement({
  name: 'passkeys.add',
  params: {
    ...{
      accountId: 'bigint',
      sessionId: 'uuid',
      now: 'timestamptz',
      hash: 'bytea',
      expiresAt: 'timestamptz',
    },
    ...pick(passkeyRow, 'id', 'credentialId', 'publicKey', 'userHandle', 'counter', 'name', 'backupEligible'),
    ...pick(passkeyRow, 'backedUp', 'aaguid', 'rpId', 'proved'),
    transports: 'text',
  },
  row: { spent: 'boolean', added: 'boolean' },
  sql: (p) => sql`
  with spent as (
    insert into ${spentChallenges} (hash, expires_at) values (${p.hash}, ${p.expiresAt})
    on conflict do nothing returning hash),
  added as (
    insert into ${passkeys} (id, account_id, credential_id, public_key, user_handle, counter, name, created_at,
                             backup_eligible, backed_up, transports, aaguid, rp_id, added_by_session, proved)
    select ${p.id}, ${p.accountId}, ${p.credentialId}, ${p.publicKey}, ${p.userHandle}, ${p.counter}, ${p.name},
           ${p.now}, ${p.backupEligible}, ${p.backedUp}, ${p.transports}::jsonb, ${p.aaguid}, ${p.rpId},
           ${p.sessionId}, ${p.proved}
      from spent
    on conflict (credential_id) do nothing returning id)
  select exists (select 1 from spent) as spent, exists (select 1 from added) as added`,
})

const useParamTypes = {
  passkeyId: 'uuid',
  hash: 'bytea',
  challengeEndsAt: 'timestamptz',
  counter: 'bigint',
  backedUp: 'boolean',
  now: 'timestamptz',
} as const

/** CTEs. A counter of zero on both sides means that the authenticator does not count, as synced passkeys do not. */
const useCtes = (p: Placeholders<keyof typeof useParamTypes>) => sql`
  spent as (
    insert into ${spentChallenges} (hash, expires_at)
    values (${p.hash}, ${p.challengeEndsAt})
    on conflict do nothing returning hash),
  used as (
    update ${passkeys}
       set counter = ${p.counter}, backed_up = ${p.backedUp},
           last_used_at = ${p.now}
      from spent
     where id = ${p.passkeyId}
       and (counter < ${p.counter} or (counter = 0 and ${p.counter} = 0))
    returning id)`

const outcome = sql`exists (select 1 from spent) as spent, exists (select 1 from used) as used`

const use = defineStatement({
  name: 'passkeys.use',
  params: { ...useParamTypes, ...eventParamTypes },
  row: { spent: 'boolean', used: 'boolean' },
  sql: (p) => sql`with ${useCtes(p)}, ${eventCtes(p, sql`used`)} select ${outcome}`,
})

/** The events of the sign-in are those of the use too. */
const signIn = defineStatement({
  name: 'passkeys.sign_in',
  params: { ...useParamTypes, ...signInParamTypes },
  row: { ...accountRow, spent: 'boolean', used: 'boolean', others: 'int', isNewDevice: 'boolean' },
  sql: (p) => sql`
  with ${useCtes(p)}, ${signInCtes(p, sql`exists (select 1 from used)`)}
  select ${outcome}, ${otherSessions(p, sql`signed_in`)} as others, ${isFromNewDevice(p, sql`signed_in`)} as is_new_device, signed_in.*
    from (select 1) answer left join signed_in on true`,
})

const tellCopy = defineStatement({
  name: 'passkeys.tell_copy',
  params: { id: 'uuid', notices: 'text', now: 'timestamptz' },
  sql: (p) => sql`
  with copied as (select id from ${passkeys} where id = ${p.id}),
  notices as (${queueNotices(p, sql`copied`)})
  select 1 from copied`,
})

const rename = defineStatement({
  name: 'passkeys.rename',
  params: { accountId: 'bigint', id: 'uuid', name: 'text' },
  row: passkeyRow,
  sql: (p) => sql`
  update ${passkeys} set name = ${p.name} where account_id = ${p.accountId} and id = ${p.id} returning ${selected}`,
})

/** It may go if it is neither the last way in nor the last second factor. */
const foresee = defineStatement({
  name: 'passkeys.foresee_removal',
  params: { ...signInMethodParamTypes, id: 'uuid', appOpens: 'boolean' },
  row: foreseenRow,
  sql: (p) => {
    const stay = { passkeys: sql`id <> ${p.id}` }
    return sql`
  with named as (select rp_id from ${passkeys} where account_id = ${p.accountId} and id = ${p.id}),
  left_over as (${otherSignInMethods(p, stay)})
  select exists (select 1 from named) as found, exists (select 1 from left_over) as opens,
         exists (select 1 from named
                  where exists (select 1 from left_over)
                    and (rp_id is distinct from ${p.rpId} or ${keepsSecondFactor(p, stay)})) as may_go`
  },
})

const drop = defineStatement({
  name: 'passkeys.drop',
  params: { accountId: 'bigint', id: 'uuid' },
  sql: (p) => deletePasskeys(sql`account_id = ${p.accountId} and id = ${p.id}`),
})

const countForeign = defineStatement({
  name: 'passkeys.count_foreign',
  params: { rpId: 'text' },
  row: { count: 'int' },
  sql: (p) => sql`select count(*)::int as count from ${passkeys} where rp_id <> ${p.rpId}`,
})

const sweep = createExpirySweep(spentChallenges, 'passkeys.sweep', sql`hash`)

const useParams = ({ passkey, challenge, assertion }: PasskeyUse) => ({
  ...assertion,
  passkeyId: passkey.id,
  hash: challenge.hash,
  challengeEndsAt: challenge.expiresAt,
})

const refusalOf = ({ spent, used }: { spent: boolean; used: boolean }): UseRefusal | null =>
  !spent ? 'challenge_spent' : !used ? 'counter_fell' : null

const happened = (type: EventType, { uuid: account }: Account, passkey: string): NewEvent => ({
  type,
  account,
  data: { passkey },
})

async function foreseeIn(
  executor: Pick<Executor, 'first'>,
  accountId: number,
  id: string,
  { appOpens, ...usable }: UsableFactors,
): Promise<ForeseenRemoval> {
  return (await executor.first(foresee, { accountId, id, appOpens, ...usableParams(usable) }))!
}

export type PasskeyStore = ReturnType<typeof createPasskeyStore>

export function createPasskeyStore(database: Database) {
  return {
    /** The passkey of this credential and its account, whatever the state of the account. */
    async find(
      credentialId: string,
    ): Promise<Pick<PasskeyUse, 'passkey' | 'account' | 'removalWaits'> | null> {
      const row = await database.first(find, { credentialId })
      if (row === null) return null
      const passkey = { ...row, id: row.passkeyId, createdAt: row.passkeyCreatedAt } as Passkey
      return { passkey, account: row as unknown as Account, removalWaits: row.removalWaits }
    },
    list: (accountId: number): Promise<Passkey[]> => database.all(list, { accountId }),
    /**
     * Stores a passkey and spends its challenge, in one transaction with the notices. Of any number of callers with one
     * challenge exactly one gets `added`. `account_changed`: the session ended, or the account got its first passkey in
     * the meantime, so that this one would carry another user handle.
     */
    add: (
      { account, sessionId }: AccountSession,
      { transports, ...passkey }: NewPasskey,
      { hash, expiresAt }: OpenedChallenge,
      limit: number,
      notices: NewMessage[],
      now: Date,
    ): Promise<'added' | 'challenge_spent' | 'credential_known' | 'limit_reached' | 'account_changed'> =>
      withHeldAccount(database, account.id, async (transaction) => {
        const caller = { accountId: account.id, sessionId }
        const { credentialId, userHandle } = passkey
        const [lives, hindrance] = await Promise.all([
          isSessionAlive(transaction, caller),
          transaction.first(findHindrance, { accountId: account.id, credentialId, userHandle, limit }),
        ])
        const { known, full, foreign } = hindrance!
        if (!lives || foreign) return 'account_changed'
        if (known) return 'credential_known'
        if (full) return 'limit_reached'
        const stored = { ...passkey, transports: JSON.stringify(transports), ...caller, hash, expiresAt, now }
        const { spent, added } = (await transaction.first(add, stored))!
        if (!spent) return 'challenge_spent'
        // Another account stored the same credential meanwhile.
        if (!added) return 'credential_known'
        await Promise.all([
          addNotices(transaction, notices, now),
          recordEvents(transaction, [happened('passkey.added', account, passkey.id)], now),
        ])
        return 'added'
      }),
    /**
     * Uses the challenge up and stores the counter. A challenge whose counter went back is used up too, so that the
     * owner is notified only once.
     */
    async use(used: PasskeyUse, now: Date): Promise<'used' | UseRefusal> {
      const events = [happened('passkey.used', used.account, used.passkey.id)]
      const row = (await database.first(use, { ...useParams(used), ...eventParams(events, now), now }))!
      return refusalOf(row) ?? 'used'
    },
    /**
     * The same, and opens the session, in one statement. It returns null if the account has changed since it was read, as
     * SessionStore.signIn describes it.
     */
    async signIn(
      used: PasskeyUse,
      session: NewSession,
      now: Date,
    ): Promise<SignedInAccount | null | UseRefusal> {
      const { account, passkey } = used
      const use = { ...happened('passkey.used', account, passkey.id), sessionId: session.id }
      const row = (await database.first(signIn, {
        ...useParams(used),
        ...signInParams(account, session, now, [use]),
      }))!
      const refusal = refusalOf(row)
      if (refusal !== null || row.id === null) return refusal
      const { spent: _spent, used: _used, others, ...signedIn } = row
      await endTooMany(database, account.id, others, now)
      return signedIn
    },
    /** Queues the notices about a passkey whose counter went back. */
    async tellCopy(passkeyId: string, notices: NewMessage[], now: Date): Promise<void> {
      await database.all(tellCopy, { id: passkeyId, now, ...noticeParams(notices) })
    },
    rename: ({ id: accountId, uuid }: Account, id: string, name: string, now: Date) =>
      changeAndRecord(database, rename, { accountId, id, name }, now, () => ({
        type: 'account.updated',
        account: uuid,
        data: { fields: ['passkey_name'], passkey: id },
      })),
    /** The outcome that `remove` would have now. */
    foreseeRemoval: (accountId: number, id: string, usable: UsableFactors) =>
      foreseeIn(database, accountId, id, usable),
    /**
     * Nothing is removed without which nothing would open the account any more, or recovery codes alone would be its second
     * factor. Passkeys of another relying party than `usable.rpId` open nothing. `sessionId`: null for an administrator.
     */
    remove: (
      { account, sessionId }: { account: Account; sessionId: string | null },
      id: string,
      usable: UsableFactors,
      notices: NewMessage[],
      now: Date,
    ): Promise<Removal> =>
      withHeldAccount(database, account.id, async (transaction) => {
        const [foreseen, lives] = await Promise.all([
          foreseeIn(transaction, account.id, id, usable),
          sessionId === null || isSessionAlive(transaction, { accountId: account.id, sessionId }),
        ])
        if (lives && foreseen.mayGo)
          await Promise.all([
            transaction.run(drop, { accountId: account.id, id }),
            addNotices(transaction, notices, now),
            recordEvents(transaction, [happened('passkey.removed', account, id)], now),
          ])
        return { ...foreseen, lives }
      }),
    /** Counts the passkeys that belong to another relying party than this one. */
    countForeign: async (rpId: string) => (await database.first(countForeign, { rpId }))?.count ?? 0,
    /** Removes up to `limit` expired challenges and returns how many it removed. */
    sweep: (now: Date, limit: number) => sweep(database, { now, limit }),
  }
}
