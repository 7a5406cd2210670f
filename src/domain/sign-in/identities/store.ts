/**
 * The identities, in PostgreSQL in every shape. The promise: an identity (issuer and subject) belongs to one account,
 * and no account is left without a sign-in method. An account with an unverified claim keeps nothing from a stranger
 * when its owner comes. The table is `identities`.
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { violates } from '../../../platform/postgres/failure.ts'
import { accounts, identities } from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type Placeholders,
  type RowOf,
  type Statement,
} from '../../../platform/postgres/statement.ts'
import type { Language } from '../../../texts/languages.ts'
import { newCandidate, permitCtes, permitParamTypes } from '../../accounts/admission/permit-sql.ts'
import type { Permit } from '../../accounts/admission/service.ts'
import type { Account, AccountSession } from '../../accounts/core/account.ts'
import {
  accountRow,
  endOtherClaims,
  isSessionAlive,
  sessionLives,
  withHeldAccount,
} from '../../accounts/core/account-sql.ts'
import { addByProvider, isContested, takeRegistrationOver } from '../../accounts/core/opening-sql.ts'
import {
  type ForeseenRemoval,
  foreseenRow,
  otherSignInMethods,
  type Removal,
  signInMethodParamTypes,
  type UsableMethods,
  usableParams,
} from '../../accounts/core/sign-in-methods-sql.ts'
import type { ProvedIdentity } from '../../credentials/providers/provider.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import { changeAndRecord, recordEvents } from '../../foundation/events/event-sql.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'
import { addNotices } from '../../messages/outbox/queue-sql.ts'
import { deleteIdentities } from './identity-sql.ts'

interface NewSocialAccount {
  uuid: string
  /** Somebody was told that the account will have the uuid: it has no other. */
  isTold: boolean
  language: Language
  accountableType: string
  roleId: number
}

/** The e-mail address of a new account: verified by its identity, a mere claim, or missing. */
export type EmailOfNew = 'verified' | 'claimed' | 'none'

const identityParamTypes = { provider: 'text', issuer: 'text', subject: 'text', email: 'text?' } as const

const paramsOf = ({ provider, issuer, subject, email }: ProvedIdentity) => ({
  provider,
  issuer,
  subject,
  email: email?.address.destination ?? null,
})

const findAccount = defineStatement({
  name: 'identities.find_account',
  params: { issuer: 'text', subject: 'text' },
  row: accountRow,
  sql: (p) => sql`
  select ${accounts}.* from ${identities} join ${accounts} on ${accounts}.id = ${identities}.account_id
   where issuer = ${p.issuer} and subject = ${p.subject}`,
})

const linkParamTypes = {
  accountId: 'bigint',
  now: 'timestamptz',
  ...identityParamTypes,
} as const

const linkTo = (
  p: Placeholders<keyof typeof linkParamTypes>,
  condition: SQL,
  addedBy = sql`null::uuid`,
) => sql`
  insert into ${identities} (account_id, provider, issuer, subject, email, created_at, added_by)
  select id, ${p.provider}, ${p.issuer}, ${p.subject}, ${p.email}, ${p.now}, ${addedBy}
    from ${accounts} where id = ${p.accountId} and ${condition}
  on conflict (issuer, subject) do nothing
  returning id`

const link = defineStatement({
  name: 'identities.link',
  params: { ...linkParamTypes, sessionId: 'uuid', digestWhenChecked: 'text?', limit: 'int' },
  row: { id: 'bigint' },
  sql: (p) =>
    linkTo(
      p,
      sql`password_digest is not distinct from ${p.digestWhenChecked} and ${sessionLives(p)}
      and (select count(*) from ${identities} where account_id = ${p.accountId}) < ${p.limit}`,
      sql`${p.sessionId}`,
    ),
})

const linkByEmail = defineStatement({
  name: 'identities.link_by_email',
  params: { ...linkParamTypes, key: 'text' },
  row: { id: 'bigint' },
  sql: (p) =>
    linkTo(
      p,
      sql`email_key = ${p.key} and email_confirmed_at is not null
    and not exists (select 1 from ${identities} where account_id = ${p.accountId} and issuer = ${p.issuer})`,
      // It rests on the e-mail address, and goes with it.
      sql`(select email_added_by from ${accounts} where id = ${p.accountId})`,
    ),
})

/** It returns null for an account whose e-mail address is not verified by this. */
const provedNow = (p: Placeholders<'key' | 'now'>) => sql`case when ${p.key} is not null then ${p.now} end`

/**
 * Only a registration that nobody confirmed is taken over: it has opened nothing, so that its uuid is in no token. Any
 * other account loses its claim and stays what it was.
 */
const open = defineStatement({
  name: 'identities.open',
  params: {
    key: 'text?',
    accountEmail: 'text?',
    now: 'timestamptz',
    provider: 'text',
    subject: 'text',
    language: 'text',
    uuid: 'uuid',
    accountEmailKey: 'text?',
    accountableType: 'text',
    roleId: 'int',
    issuer: 'text',
    email: 'text?',
    isTold: 'boolean',
    ...permitParamTypes,
  },
  row: accountRow,
  sql: (p) => sql`
  with claimed as materialized (
    select id, invitation_id, terms_version, terms_accepted_at from ${accounts}
     where waiting_for = ${p.key} and account_confirmed_at is null and origin is null
       and (not ${p.isTold} or uuid = ${p.uuid})
     order by id limit 1 for update),
  candidate as (
    select false as exempt, not ${isContested(p.key)} as keeps, invitation_id, terms_version, terms_accepted_at from claimed
    union all ${newCandidate(sql`not exists (select 1 from claimed)`)}),
  ${permitCtes(p, sql`candidate`)},
  emptied as (${takeRegistrationOver(p, sql`claimed`)}),
  created as (${addByProvider(p, provedNow(p), sql`not exists (select 1 from claimed)`)}),
  opened as (select * from emptied union all select * from created),
  linked as (
    insert into ${identities} (account_id, provider, issuer, subject, email, created_at)
    select id, ${p.provider}, ${p.issuer}, ${p.subject}, ${p.email}, ${p.now} from opened),
  proved as (select id from opened),
  ${endOtherClaims(p, 'email', sql`proved`)}
  select * from opened`,
})

const list = defineStatement({
  name: 'identities.list',
  params: { accountId: 'bigint' },
  /** `email`: as the provider gave it when the identity was linked; null if it gave none, or an unverified one. */
  row: { id: 'bigint', provider: 'text', subject: 'text', email: 'text?', createdAt: 'timestamptz' },
  sql: (p) => sql`
  select id, provider, subject, email, created_at from ${identities} where account_id = ${p.accountId} order by id`,
})

/** Those of a provider, or one by its id. */
export type NamedIdentities = { provider: string } | { id: number }

const namedParamTypes = { accountId: 'bigint', provider: 'text?', id: 'bigint?' } as const
const namedParams = (accountId: number, named: NamedIdentities) => ({
  accountId,
  ...{ provider: null, id: null, ...named },
})
const isNamed = (p: Placeholders<keyof typeof namedParamTypes>) =>
  sql`account_id = ${p.accountId} and (provider = ${p.provider} or id = ${p.id})`

const foresee = defineStatement({
  name: 'identities.foresee_removal',
  params: { ...signInMethodParamTypes, ...namedParamTypes },
  row: foreseenRow,
  sql: (p) => sql`
  with removal as (
    select exists (select 1 from ${identities} where ${isNamed(p)}) as found,
           exists (${otherSignInMethods(p, {
             identities: sql`provider is distinct from ${p.provider} and id is distinct from ${p.id}`,
           })}) as opens)
  select found, opens, found and opens as may_go from removal`,
})

const drop = defineStatement({
  name: 'identities.drop',
  params: namedParamTypes,
  sql: (p) => deleteIdentities(isNamed(p)),
})

async function foreseeIn(
  executor: Pick<Executor, 'first'>,
  accountId: number,
  named: NamedIdentities,
  usable: UsableMethods,
): Promise<ForeseenRemoval> {
  const params = { ...namedParams(accountId, named), ...usableParams(usable) }
  return (await executor.first(foresee, params))!
}

const linked = (account: string, { provider }: ProvedIdentity): NewEvent => ({
  type: 'identity.linked',
  account,
  data: { provider },
})

/** An identity that is linked to an account. */
export type LinkedIdentity = RowOf<typeof list>

export type IdentityStore = ReturnType<typeof createIdentityStore>

export function createIdentityStore(database: Database) {
  /** One of the two statements, what it tells the owner, and its event. */
  const linkWith = <Params extends { accountId: number; now: Date }>(
    statement: Statement<Params, { id: number }>,
    params: Params,
    { event, notices }: { event: NewEvent; notices: NewMessage[] },
  ): Promise<boolean> =>
    withHeldAccount(database, params.accountId, async (transaction) => {
      if ((await transaction.first(statement, params)) === null) return false
      await Promise.all([
        addNotices(transaction, notices, params.now),
        recordEvents(transaction, [event], params.now),
      ])
      return true
    })

  return {
    findAccount: ({ issuer, subject }: ProvedIdentity) => database.first(findAccount, { issuer, subject }),
    /**
     * Links the identity to the account and queues the notices. It returns false if it is already linked to an account,
     * or if the account has `limit` identities. It is false, too, if the session has ended, or the password has changed
     * since the account was read.
     */
    link: (
      { account: { id, uuid, passwordDigest }, sessionId }: AccountSession,
      identity: ProvedIdentity,
      limit: number,
      notices: NewMessage[],
      now: Date,
    ): Promise<boolean> =>
      linkWith(
        link,
        {
          ...{ accountId: id, sessionId, digestWhenChecked: passwordDigest, limit, now },
          ...paramsOf(identity),
        },
        { event: linked(uuid, identity), notices },
      ),
    /**
     * The same, based only on the provider's statement about the e-mail address. It is false also if the account has lost
     * the verified address, or has another identity of that issuer: then the address was given to somebody else.
     */
    async linkByEmail({ id, uuid }: Account, identity: ProvedIdentity, notices: NewMessage[], now: Date) {
      const key = identity.email?.address.key
      if (key === undefined) return false
      const params = { accountId: id, key, now, ...paramsOf(identity) }
      return linkWith(linkByEmail, params, { event: linked(uuid, identity), notices })
    },
    /**
     * A confirmed account without a password for the identity. If the e-mail address is `verified`, this is the
     * registration that waits for the address, without its password and phone. Otherwise it is a new account. Other
     * claims to the address end. It returns null if the identity or the address was taken in the meantime, or if nothing
     * permits the account.
     */
    async open(
      identity: ProvedIdentity,
      account: NewSocialAccount,
      email: EmailOfNew,
      permit: Permit,
      now: Date,
    ): Promise<Account | null> {
      const own = email === 'none' ? undefined : identity.email?.address
      try {
        const params = {
          ...account,
          ...permit,
          ...paramsOf(identity),
          now,
          key: (email === 'verified' && own?.key) || null,
          accountEmailKey: own?.key ?? null,
          accountEmail: own?.destination ?? null,
        }
        const data = { provider: identity.provider }
        return await changeAndRecord(database, open, params, now, ({ uuid }) => [
          { type: 'account.registered', account: uuid, data },
          { type: 'identity.linked', account: uuid, data },
        ])
      } catch (error) {
        const others = ['identities_issuer_subject', 'accounts_email_proved', 'accounts_uuid_unique']
        if (others.some((name) => violates(error, name))) return null
        throw error
      }
    },
    /** Oldest first. */
    list: (accountId: number): Promise<LinkedIdentity[]> => database.all(list, { accountId }),
    /** The outcome that `unlink` would have now. */
    foreseeRemoval: (accountId: number, named: NamedIdentities, usable: UsableMethods) =>
      foreseeIn(database, accountId, named, usable),
    /**
     * Removes the identities from the account and queues the notices, unless no sign-in method would be left. Such a method is
     * a password with an identifier, a passkey of `usable.rpId`, or an identity of one of `usable.providers`. `sessionId`: null
     * for an administrator. `provider`: as the event names it.
     */
    unlink: (
      { account, sessionId }: { account: Account; sessionId: string | null },
      named: NamedIdentities,
      provider: string,
      usable: UsableMethods,
      notices: NewMessage[],
      now: Date,
    ): Promise<Removal> =>
      withHeldAccount(database, account.id, async (transaction) => {
        const [foreseen, lives] = await Promise.all([
          foreseeIn(transaction, account.id, named, usable),
          sessionId === null || isSessionAlive(transaction, { accountId: account.id, sessionId }),
        ])
        const event: NewEvent = { type: 'identity.unlinked', account: account.uuid, data: { provider } }
        if (lives && foreseen.mayGo)
          await Promise.all([
            transaction.run(drop, namedParams(account.id, named)),
            addNotices(transaction, notices, now),
            recordEvents(transaction, [event], now),
          ])
        return { ...foreseen, lives }
      }),
  }
}
