/**
 * The accounts, in PostgreSQL in every shape. The promise: a verified e-mail address or phone number belongs to one
 * account, and an unverified claim keeps nobody from registering, confirming or resetting. Each change is committed
 * together with the messages that it causes. The table is `accounts`.
 */

import { sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { retryConflicts } from '../../../platform/postgres/failure.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { defineStatement, pick } from '../../../platform/postgres/statement.ts'
import type { Language } from '../../../texts/languages.ts'
import { recordEvents } from '../../foundation/events/event-sql.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Account, AccountSession } from './account.ts'
import { accountRow, candidates, holder, sessionLives } from './account-sql.ts'
import { changeOwnFields, countFailedAttempt, renewPassword } from './changes-sql.ts'
import type { Profile } from './profile.ts'

/**
 * The purposes of naming an account by an identifier, each with the account that it finds.
 * - `login`: the one that verified it, else the oldest confirmed account that claims it, else the registration that waits;
 * - `second_step`: the same without the registration;
 * - `confirmation`: the registration that waits for it, where nobody has verified it;
 * - `reset`: the one that verified it, else the registration that waits for it, never a mere claim;
 * - `provider`: the one that verified it.
 * An anonymous registration never changes what an identifier means for somebody who signs in with it.
 */
const meant = {
  login: sql`coalesce(verified, claimed, waiting, named)`,
  second_step: sql`coalesce(verified, claimed)`,
  confirmation: sql`case when verified is null then coalesce(waiting, named) end`,
  reset: sql`coalesce(verified, waiting)`,
  provider: sql`verified`,
}
type IdentifierUse = keyof typeof meant

interface OwnChange {
  language?: Language | undefined
  /** The profile as it is to be, of the one that nobody else changes meanwhile. */
  merge?: ((before: Profile | null) => Profile | null) | undefined
  /** The version of the terms that the owner accepts now. */
  terms?: string | undefined
}

/** All candidates are read, so that each call takes the same work, whatever it is for. */
const findMeant = (use: IdentifierUse, kind: Identifier['kind']) =>
  defineStatement({
    name: `accounts.find_for_${use}_by_${kind}`,
    params: { key: 'text' },
    row: accountRow,
    sql(p) {
      const { verified, claimed, waiting, named } = candidates(p, kind)
      return sql`
    with candidates as materialized (
      select ${verified} as verified, ${claimed} as claimed, ${waiting} as waiting, ${named} as named)
    select ${accounts}.* from candidates join ${accounts} on ${accounts}.id = ${meant[use]}`
    },
  })

const findByIdentifier = Object.fromEntries(
  (Object.keys(meant) as IdentifierUse[]).map((use) => [
    use,
    { email: findMeant(use, 'email'), phone: findMeant(use, 'phone') },
  ]),
) as Record<IdentifierUse, Record<Identifier['kind'], ReturnType<typeof findMeant>>>

const findByUuid = defineStatement({
  name: 'accounts.find_by_uuid',
  params: { uuid: 'uuid' },
  row: accountRow,
  sql: (p) => sql`
  select * from ${accounts} where uuid = ${p.uuid}`,
})

const isTaken = defineStatement({
  name: 'accounts.is_taken',
  params: { email: 'text?', phone: 'text?' },
  row: { taken: 'boolean' },
  sql: (p) => sql`
  select coalesce(${holder({ key: p.email }, 'email')}, ${holder({ key: p.phone }, 'phone')}) is not null as taken`,
})

const findProfile = defineStatement({
  name: 'accounts.find_profile',
  params: { accountId: 'bigint' },
  row: pick(accountRow, 'profile'),
  sql: (p) => sql`select profile from ${accounts} where id = ${p.accountId} for update`,
})

const change = defineStatement({
  name: 'accounts.change',
  params: {
    accountId: 'bigint',
    sessionId: 'uuid',
    language: 'text?',
    setsProfile: 'boolean',
    profile: 'text?',
    terms: 'text?',
    now: 'timestamptz',
  },
  row: accountRow,
  sql: (p) => changeOwnFields(p, sql`id = ${p.accountId} and ${sessionLives(p)}`),
})

/** A crash may lose the count. Waiting for the disk would show a difference between known and unknown accounts. */
const noteFailure = defineStatement({
  name: 'accounts.note_failure',
  params: { accountId: 'bigint' },
  mayBeForgotten: true,
  sql: (p, unawaited) => sql`
  with ${unawaited}
  ${countFailedAttempt(p, sql`unawaited`, sql`unawaited.off is not null`)}`,
})

const renewDigest = defineStatement({
  name: 'accounts.renew_digest',
  params: { accountId: 'bigint', digestWhenChecked: 'text?', newDigest: 'text' },
  row: { passwordDigest: 'text?' },
  sql: renewPassword,
})

async function changeOwn(
  transaction: Executor,
  { account: { id: accountId, uuid }, sessionId }: AccountSession,
  { language, merge, terms }: OwnChange,
  now: Date,
): Promise<Account | null> {
  const before = merge ? await transaction.first(findProfile, { accountId }) : null
  const profile = merge && before ? merge(before.profile) : null
  const changed = await transaction.first(change, {
    ...{ accountId, sessionId, now, language: language ?? null, setsProfile: merge !== undefined },
    profile: profile && JSON.stringify(profile),
    terms: terms ?? null,
  })
  if (changed === null) return null
  const named = { language, profile: merge, terms }
  const fields = Object.keys(named).filter((name) => named[name as keyof typeof named])
  await recordEvents(transaction, [{ type: 'account.updated', account: uuid, data: { fields } }], now)
  return changed
}

export type AccountStore = ReturnType<typeof createAccountStore>

export function createAccountStore(database: Database) {
  return {
    findByIdentifier: ({ kind, key }: Identifier, use: IdentifierUse): Promise<Account | null> =>
      database.first(findByIdentifier[use][kind], { key }),
    findByUuid: (uuid: string): Promise<Account | null> => database.first(findByUuid, { uuid }),
    /** Tells whether one of them is a verified identifier, or belongs to an account that was made for somebody. */
    async isTaken(identifiers: Identifier[]): Promise<boolean> {
      const keyOf = (kind: Identifier['kind']) => identifiers.find((one) => one.kind === kind)?.key ?? null
      return (await database.first(isTaken, { email: keyOf('email'), phone: keyOf('phone') }))!.taken
    },
    /**
     * Changes what the owner may change without a proof: the language of messages, and fields of the profile. An error of
     * `merge` undoes it. It returns null if the session has ended or the account is gone.
     */
    change: (signedIn: AccountSession, wanted: OwnChange, now: Date): Promise<Account | null> =>
      retryConflicts(() =>
        database.transaction((transaction) => changeOwn(transaction, signedIn, wanted, now)),
      ),
    /** Counts like Devise's lockable. It does nothing in the same time for an id that does not exist (0). */
    noteFailure: (accountId: number): Promise<void> => database.run(noteFailure, { accountId }),
    /** Replaces the digest that the account was read with, unless it has another one by now. Returns the one that it has. */
    async renewDigest(account: Account, newDigest: string): Promise<string | null> {
      const { id: accountId, uuid, passwordDigest: digestWhenChecked } = account
      const renewed = await database.first(renewDigest, { accountId, digestWhenChecked, newDigest })
      return (renewed ?? (await database.first(findByUuid, { uuid })))?.passwordDigest ?? null
    },
  }
}
