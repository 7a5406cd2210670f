/**
 * Turning two factors off for somebody who lost them, at once or after a delay in which the owner can stop it:
 * PostgreSQL, in every storage shape. The promise: one removal waits for an account; it is stopped or done, by one of
 * any number of callers. The table is `two_factor_removals`.
 */

import { sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, twoFactorRemovals } from '../../../platform/postgres/schema.ts'
import { column, defineStatement, type ValuesOf } from '../../../platform/postgres/statement.ts'
import type { Account } from '../../accounts/core/account.ts'
import { accountRow, updateLockedAccount, withHeldAccount } from '../../accounts/core/account-sql.ts'
import { setTwoFactors } from '../../accounts/core/changes-sql.ts'
import { addRemoval, deleteRemovals, dropFactors } from '../../credentials/authenticators/factors-sql.ts'
import type { Actor, NewEvent } from '../../foundation/events/event.ts'
import { changeAndRecord, recordEvents } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices, noticeParams, noticeParamTypes, queueNotices } from '../../messages/outbox/queue-sql.ts'

/** The one who deletes the row that waits has it: the owner who stops it, or this. */
const take = defineStatement({
  name: 'two_factor_removals.take',
  params: { accountId: 'bigint', id: 'uuid?' },
  row: { id: 'uuid' },
  sql: (p) => sql`
  ${deleteRemovals(sql`account_id = ${p.accountId} and (${p.id} is null or id = ${p.id})`)} returning id`,
})

const waitingRow = { id: 'uuid', dueAt: 'timestamptz' } as const
export type WaitingRemoval = ValuesOf<typeof waitingRow>

export interface DueRemoval extends WaitingRemoval {
  account: Account
  /** The administrator who asked for it. */
  actor: Actor
}

const request = defineStatement({
  name: 'two_factor_removals.request',
  params: {
    accountId: 'bigint',
    id: 'uuid',
    dueAt: 'timestamptz',
    actorType: 'text',
    actorId: 'text?',
    actorName: 'text?',
    now: 'timestamptz',
    ...noticeParamTypes,
  },
  row: { ...waitingRow, isNew: 'boolean' },
  sql: (p) => sql`
  with older as (select id, due_at from ${twoFactorRemovals} where account_id = ${p.accountId}),
  requested as (${addRemoval(
    p,
    sql`${accounts} where id = ${p.accountId} and two_factor_enabled and not exists (select 1 from older)`,
  )}),
  notices as (${queueNotices(p, sql`requested`)})
  select id, due_at, true as is_new from requested union all select id, due_at, false from older`,
})

/** One that is being stopped or done at this moment is waited for. */
const tellAgain = defineStatement({
  name: 'two_factor_removals.tell_again',
  params: { id: 'uuid', now: 'timestamptz', ...noticeParamTypes },
  row: { id: 'uuid' },
  sql: (p) => sql`
  with waiting as (select id from ${twoFactorRemovals} where id = ${p.id} and due_at > ${p.now} for share),
  notices as (${queueNotices(p, sql`waiting`)})
  select id from waiting`,
})

const stop = defineStatement({
  name: 'two_factor_removals.stop',
  params: { id: 'uuid' },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  ${deleteRemovals(sql`${twoFactorRemovals}.id = ${p.id} and ${accounts}.id = account_id`, sql`${accounts}`)}
  returning ${accounts}.uuid`,
})

const find = defineStatement({
  name: 'two_factor_removals.find',
  params: { accountId: 'bigint' },
  row: waitingRow,
  sql: (p) => sql`select id, due_at from ${twoFactorRemovals} where account_id = ${p.accountId}`,
})

const waits = defineStatement({
  name: 'two_factor_removals.waits',
  params: { id: 'uuid' },
  row: { id: 'uuid' },
  sql: (p) => sql`select id from ${twoFactorRemovals} where id = ${p.id}`,
})

const listDue = defineStatement({
  name: 'two_factor_removals.list_due',
  params: { now: 'timestamptz', limit: 'int' },
  row: {
    ...accountRow,
    removalId: 'uuid',
    removalDueAt: 'timestamptz',
    removalActorType: column<Actor['type']>('text'),
    removalActorId: 'text?',
    removalActorName: 'text?',
  },
  sql: (p) => sql`
  select account.*, removal.id as removal_id, removal.due_at as removal_due_at,
         removal.actor_type as removal_actor_type, removal.actor_id as removal_actor_id,
         removal.actor_name as removal_actor_name
    from ${twoFactorRemovals} removal join ${accounts} account on account.id = removal.account_id
   where removal.due_at <= ${p.now} order by removal.due_at limit ${p.limit}`,
})

export type TwoFactorRemovalStore = ReturnType<typeof createTwoFactorRemovalStore>

export function createTwoFactorRemovalStore(database: Database) {
  return {
    /**
     * Turns two factors off, removes the app and the recovery codes, and the removal that waits. Removes only the one
     * with `id`, if that is given and still waits. It returns false if they were off, or if it was stopped.
     */
    remove: ({ id: accountId, uuid }: Account, id: string | null, notices: NewMessage[], now: Date) =>
      withHeldAccount(database, accountId, async (transaction, held) => {
        const [account, taken] = await Promise.all([held, transaction.first(take, { accountId, id })])
        if (!account?.twoFactorEnabled || (id !== null && taken === null)) return false
        await Promise.all([
          transaction.run(setTwoFactors, { accountId, isOn: false, now }),
          dropFactors(transaction, accountId),
          addNotices(transaction, notices, now),
          recordEvents(transaction, [{ type: 'two_factor.disabled', account: uuid }], now),
        ])
        return true
      }),
    /**
     * The one that waits already stays: it is returned instead, and nobody is told again. It returns null if two factors
     * are off.
     */
    async request(
      { id: accountId, uuid }: Account,
      { id, dueAt, actor }: WaitingRemoval & { actor: Actor },
      notices: NewMessage[],
      now: Date,
    ): Promise<WaitingRemoval | null> {
      const params = {
        ...{ accountId, id, dueAt, now, ...noticeParams(notices) },
        ...{ actorType: actor.type, actorId: actor.id, actorName: actor.name },
      }
      const row = await updateLockedAccount(database, request, params, ({ isNew }) =>
        isNew ? [requested(uuid, dueAt)] : [],
      )
      return row && { id: row.id, dueAt: row.dueAt }
    },
    /** It returns false, and queues nothing, where the removal is due or does not wait any more. */
    tellAgain: async (id: string, notices: NewMessage[], now: Date): Promise<boolean> =>
      (await database.first(tellAgain, { id, now, ...noticeParams(notices) })) !== null,
    /** It returns false where it does not wait any more. */
    stop: async (id: string, now: Date): Promise<boolean> =>
      (await changeAndRecord(database, stop, { id }, now, ({ uuid }) => ({
        type: 'undo.used',
        account: uuid,
        data: { stopped: 'two_factor_removal' },
      }))) !== null,
    waits: async (id: string): Promise<boolean> => (await database.first(waits, { id })) !== null,
    find: (accountId: number): Promise<WaitingRemoval | null> => database.first(find, { accountId }),
    async listDue(now: Date, limit: number): Promise<DueRemoval[]> {
      const rows = await database.all(listDue, { now, limit })
      return rows.map(
        ({ removalId, removalDueAt, removalActorType, removalActorId, removalActorName, ...account }) => ({
          id: removalId,
          dueAt: removalDueAt,
          account,
          actor: { type: removalActorType, id: removalActorId, name: removalActorName },
        }),
      )
    },
  }
}

const requested = (account: string, dueAt: Date): NewEvent => ({
  type: 'account.updated',
  account,
  data: { fields: ['two_factor_removal'], due_at: dueAt.toISOString() },
})
