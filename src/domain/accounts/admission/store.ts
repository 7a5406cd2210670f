/** Invitations, in PostgreSQL in every shape. The promise: one is used as often as it says, and never by a refused call. */
import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { retryConflicts } from '../../../platform/postgres/failure.ts'
import { invitations } from '../../../platform/postgres/schema.ts'
import { defineStatement, type ParamsOf, rowOf, type ValuesOf } from '../../../platform/postgres/statement.ts'
import { createAgeSweep, daysBefore } from '../../../platform/postgres/sweep.ts'
import type { Actor, NewEvent } from '../../foundation/events/event.ts'
import { changeAndRecord, changeWithEvents } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices } from '../../messages/outbox/queue-sql.ts'
import { isContested } from '../core/opening-sql.ts'

const invitationRow = rowOf(invitations)
export type Invitation = ValuesOf<typeof invitationRow>

const findBy = <const Type extends 'bytea' | 'bigint' | 'uuid'>(name: string, type: Type, column: SQL) =>
  defineStatement({
    name: `invitations.find_by_${name}`,
    params: { value: type },
    row: invitationRow,
    sql: (p) => sql`select * from ${invitations} where ${column} = ${p.value}`,
  })

const findByHash = findBy('hash', 'bytea', sql`hash`)
const findById = findBy('id', 'bigint', sql`id`)
const findByUuid = findBy('uuid', 'uuid', sql`uuid`)

const add = defineStatement({
  name: 'invitations.add',
  params: {
    uuid: 'uuid',
    hash: 'bytea',
    roleId: 'int?',
    groups: 'text',
    domain: 'text?',
    uses: 'int',
    note: 'text?',
    createdAt: 'timestamptz',
    expiresAt: 'timestamptz',
    creatorType: 'text',
    creatorId: 'text?',
    creatorName: 'text?',
  },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  insert into ${invitations} (uuid, hash, role_id, groups, domain, uses, note, created_at, expires_at, creator_type, creator_id,
                              creator_name)
  values (${p.uuid}, ${p.hash}, ${p.roleId}, ${p.groups}::jsonb, ${p.domain}, ${p.uses}, ${p.note}, ${p.createdAt},
          ${p.expiresAt}, ${p.creatorType}, ${p.creatorId}, ${p.creatorName})
  returning uuid`,
})

type NewInvitation = Omit<ParamsOf<typeof add>, 'groups' | 'creatorType' | 'creatorId' | 'creatorName'> & {
  groups: string[]
  creator: Actor
}

const list = defineStatement({
  name: 'invitations.list',
  params: { before: 'bigint?', limit: 'int' },
  row: invitationRow,
  sql: (p) => sql`
  select * from ${invitations} where id < coalesce(${p.before}, 9223372036854775807) order by id desc limit ${p.limit}`,
})

const revoke = defineStatement({
  name: 'invitations.revoke',
  params: { uuid: 'uuid', now: 'timestamptz' },
  row: { uuid: 'uuid' },
  sql: (p) => sql`
  update ${invitations} set revoked_at = ${p.now} where uuid = ${p.uuid} and revoked_at is null returning uuid`,
})

const contested = defineStatement({
  name: 'invitations.is_contested',
  params: { contact: 'text', tag: 'bytea?' },
  row: { contested: 'boolean' },
  sql: (p) => sql`select ${isContested(p.contact, p.tag)} as contested`,
})

/** The time that an invitation stays in lists after its end. */
const KEPT_DAYS = 30

const sweep = createAgeSweep(invitations, 'invitations.sweep', sql`id`, sql`expires_at`)

export type InvitationStore = ReturnType<typeof createInvitationStore>

export function createInvitationStore(database: Database) {
  return {
    findByHash: (hash: Uint8Array): Promise<Invitation | null> => database.first(findByHash, { value: hash }),
    findById: (id: number): Promise<Invitation | null> => database.first(findById, { value: id }),
    find: (uuid: string): Promise<Invitation | null> => database.first(findByUuid, { value: uuid }),
    /** `messages` are queued with it. */
    async add({ creator, groups, ...invitation }: NewInvitation, messages: NewMessage[] = []): Promise<void> {
      const { uuid, uses, domain, roleId, createdAt, expiresAt } = invitation
      const params = {
        ...invitation,
        groups: JSON.stringify(groups),
        creatorType: creator.type,
        creatorId: creator.id,
        creatorName: creator.name,
      }
      const data = {
        invitation: uuid,
        uses,
        groups,
        expires_at: expiresAt.toISOString(),
        ...(domain !== null && { domain }),
        ...(roleId !== null && { role_id: roleId }),
      }
      const event: NewEvent = { type: 'invitation.created', account: null, data }
      await retryConflicts(() =>
        database.transaction(async (transaction) => {
          await changeWithEvents(transaction, add, params, createdAt, () => event)
          await addNotices(transaction, messages, createdAt)
        }),
      )
    },
    /** Newest first, before the one with this number (null: from the newest one), also those that cannot be used any more. */
    list: (before: number | null, limit: number) => database.all(list, { before, limit }),
    /** It returns false where there is none, or where it was revoked before. */
    async revoke(uuid: string, now: Date): Promise<boolean> {
      const event: NewEvent = { type: 'invitation.revoked', account: null, data: { invitation: uuid } }
      return (await changeAndRecord(database, revoke, { uuid, now }, now, () => event)) !== null
    },
    /** Tells whether registrations, or the call with this `tag`, named the contact with different passwords. */
    isContested: async (contact: string, tag: Uint8Array | null): Promise<boolean> =>
      (await database.first(contested, { contact, tag }))!.contested,
    sweep: (now: Date, limit: number) => sweep(database, { before: daysBefore(now, KEPT_DAYS), limit }),
  }
}
