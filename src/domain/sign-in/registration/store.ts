/**
 * The registrations that wait for the confirmation of their contact, in PostgreSQL in every shape: accounts that
 * nobody confirmed, and who named which contact. The tables are `accounts` and `registration_claims`, and the rows of
 * the outbox that registering causes.
 */

import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import type { Database, Executor } from '../../../platform/postgres/database.ts'
import { retryConflicts } from '../../../platform/postgres/failure.ts'
import { accounts } from '../../../platform/postgres/schema.ts'
import { column, defineStatement, type Placeholders } from '../../../platform/postgres/statement.ts'
import { daysBefore } from '../../../platform/postgres/sweep.ts'
import type { Language } from '../../../texts/languages.ts'
import { permitCtes, permitParamTypes } from '../../accounts/admission/permit-sql.ts'
import type { Permit } from '../../accounts/admission/service.ts'
import type { Account } from '../../accounts/core/account.ts'
import {
  accountRow,
  endOtherClaims,
  holder,
  unqualifiedColumns,
  verifyIdentifier,
} from '../../accounts/core/account-sql.ts'
import {
  addClaims,
  addRegistration,
  confirmApart,
  confirmRegistration,
  isContested,
  openedProfile,
  registrationParamTypes,
  sweepClaims,
  sweepRegistrations,
} from '../../accounts/core/opening-sql.ts'
import type { Profile } from '../../accounts/core/profile.ts'
import type { NewEvent } from '../../foundation/events/event.ts'
import {
  changeAndRecord,
  eventCtes,
  eventParams,
  eventParamTypes,
} from '../../foundation/events/event-sql.ts'
import type { Email } from '../../foundation/identifiers/email.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Phone } from '../../foundation/identifiers/phone.ts'
import {
  messageParams,
  messageParamTypes,
  queueMessage,
  queueOwnersNotice,
  supersedePending,
} from '../../messages/outbox/queue-sql.ts'

export interface Registration {
  /** Used if this is the first registration that waits for the identifier. */
  uuid: string
  email: Email | null
  phone: Phone | null
  /** It is null for a registration without a password. */
  passwordDigest: string | null
  /** A short keyed tag of the password for each contact. Two different tags mean that two people may have named it. */
  emailTag: Uint8Array | null
  phoneTag: Uint8Array | null
  language: Language
  accountableType: string
  roleId: number
  /** The invitation that the sending call named: it counts at the confirmation if nobody else registers the contact. */
  invitationId: number | null
  terms: string | null
  profile: Profile | null
  codeSeed: Uint8Array
  /** True if the owner of a taken identifier gets a notice; otherwise as much is queued for nobody. */
  tellsOwner: boolean
}

/** A password that is sent with the code of a confirmation, and its tag, as in a registration. */
export interface NamedPassword {
  digest: string
  tag: Uint8Array
}

const { codeSubject: _, ...withoutSubject } = messageParamTypes

/** The subject of the code is the account's uuid. A replaced registration keeps it, and with it the budget of the day. */
const registerBy = (kind: Identifier['kind']) => {
  const stored = kind === 'email' ? accounts.email : accounts.phone
  return defineStatement({
    name: `registration.register_by_${kind}`,
    params: {
      ...registrationParamTypes,
      emailTag: 'bytea?',
      phoneTag: 'bytea?',
      tellsOwner: 'boolean',
      ...withoutSubject,
    },
    row: { uuid: 'uuid', messageId: 'bigint', contested: 'boolean' },
    sql: (p) => sql`
    with owner as (
      select uuid, language, ${stored} as destination from ${accounts}
       where id = ${holder(p, kind)}),
    registered as (${addRegistration(p, sql`not exists (select 1 from owner)`)}),
    claimed as (${addClaims(p, sql`not exists (select 1 from owner)`)}),
    replaced as (${supersedePending({ ...p, codeSubject: sql`(select uuid from registered)` })}),
    code as (${queueMessage({ ...p, codeSubject: sql`registered.uuid` }, sql`registered`)}
      returning id),
    notice as (${queueOwnersNotice({
      now: p.now,
      source: sql`owner`,
      channel: p.messageChannel,
      // The message goes to the owner's own spelling, not to that of the person who registers.
      destination: sql`case when ${p.tellsOwner} then owner.destination else '' end`,
      purpose: 'account_exists',
      language: sql`owner.language`,
      accountUuid: sql`owner.uuid`,
      causedBy: p,
      isForNobody: sql`not ${p.tellsOwner}`,
    })}
      returning id)
    select uuid, code.id as message_id, ${isContested(p.key, kind === 'email' ? p.emailTag : p.phoneTag)} as contested
      from registered, code
    union all select uuid, notice.id, false from owner, notice`,
  })
}

const register = { email: registerBy('email'), phone: registerBy('phone') }

/** The registration as the caller read it; one that was sent again since then is a different one. */
const isThatRegistration = (p: Placeholders<'uuid' | 'seenAt'>) => sql`
  uuid = ${p.uuid} and account_confirmed_at is null and updated_at = ${p.seenAt}`

/** Nothing of a contested registration is kept. */
const contested = (p: Placeholders<'isForeign' | 'key' | 'tag'>) =>
  sql`contested as materialized (select ${p.isForeign} or ${isContested(p.key, p.tag)} as yes)`

/** An account apart from the registration, which waits for another contact. */
const opensApart = (p: Placeholders<'isForeign' | 'key' | 'tag'>) => sql`
  waiting_for <> ${p.key}
  and ((${p.isForeign} and origin is null) or ${isContested(sql`waiting_for`, p.tag)})`

const confirmBy = (kind: Identifier['kind']) => {
  const { key: keyColumn } = unqualifiedColumns[kind]
  return defineStatement({
    name: `registration.confirm_by_${kind}`,
    params: {
      key: 'text',
      tag: 'bytea?',
      now: 'timestamptz',
      digest: 'text?',
      uuid: 'uuid',
      seenAt: 'timestamptz',
      profile: 'text?',
      byAdministrator: 'boolean',
      isForeign: 'boolean',
      ...permitParamTypes,
      ...eventParamTypes,
    },
    row: accountRow,
    sql: (p) => sql`
    with ${contested(p)},
    candidate as materialized (
      select ${p.byAdministrator} or origin is not null as exempt, not contested.yes as keeps,
             case when not ${p.byAdministrator} then invitation_id end as invitation_id, terms_version, terms_accepted_at
        from ${accounts}, contested
       where ${isThatRegistration(p)} and ${keyColumn} = ${p.key}
         for update of ${sql.raw('accounts')}),
    ${permitCtes(p, sql`candidate`)},
    proved as (${confirmRegistration(
      p,
      kind,
      sql`contested`,
      sql`${isThatRegistration(p)} and ${keyColumn} = ${p.key}`,
    )}),
    ${endOtherClaims(p, kind, sql`proved`)},
    ${eventCtes(p, sql`proved`)}
    select * from proved`,
  })
}

const confirm = { email: confirmBy('email'), phone: confirmBy('phone') }

/**
 * Somebody who verifies the other contact of a registration that two people sent gets a separate account. The contact
 * that the registration waits for may belong to another person, who can still confirm it.
 */
const confirmApartBy = (kind: Identifier['kind']) => {
  const { key: keyColumn } = unqualifiedColumns[kind]
  return defineStatement({
    name: `registration.confirm_apart_by_${kind}`,
    params: {
      key: 'text',
      tag: 'bytea?',
      uuid: 'uuid',
      seenAt: 'timestamptz',
      newUuid: 'uuid',
      now: 'timestamptz',
      digest: 'text?',
      profile: 'text?',
      isForeign: 'boolean',
      ...permitParamTypes,
    },
    row: accountRow,
    sql: (p) => sql`
    with ${contested(p)},
    registration as (
      select * from ${accounts}
       where ${isThatRegistration(p)} and ${keyColumn} = ${p.key} and ${opensApart(p)}
         for update),
    candidate as materialized (
      select false as exempt, not contested.yes as keeps, invitation_id, terms_version, terms_accepted_at
        from registration, contested),
    ${permitCtes(p, sql`candidate`)},
    proved as (${confirmApart(p, kind, { registration: sql`registration`, contested: sql`contested` })}),
    ${endOtherClaims(p, kind, sql`proved`)}
    select * from proved`,
  })
}

const confirmedApart = { email: confirmApartBy('email'), phone: confirmApartBy('phone') }

/** The account as these would open it now. */
const foresee = defineStatement({
  name: 'registration.foresee',
  params: {
    key: 'text',
    tag: 'bytea?',
    uuid: 'uuid',
    seenAt: 'timestamptz',
    profile: 'text?',
    isForeign: 'boolean',
  },
  row: { isApart: 'boolean', profile: column<Profile | null>('jsonb') },
  sql: (p) => sql`
    with ${contested(p)}
    select coalesce(${opensApart(p)}, false) as is_apart,
           ${openedProfile(p, sql`${accounts}`, sql`contested.yes`)} as profile
      from ${accounts}, contested where ${isThatRegistration(p)}`,
})

/** Time enough to find the message; afterwards the identifier is free again. */
const REGISTRATION_DAYS = 7

/** What a confirmation knows beside the contact that it verifies. */
interface ConfirmedBy {
  digest: string | null
  tag: Uint8Array | null
  profile: string | null
  byAdministrator: boolean
  isForeign: boolean
}

const confirmParams = (
  { uuid, updatedAt }: Account,
  key: string,
  permit: Permit,
  now: Date,
  by: Partial<ConfirmedBy>,
) => ({
  ...{ ...permit, uuid, seenAt: updatedAt, key, now },
  ...{ digest: null, tag: null, profile: null, byAdministrator: false, isForeign: false, ...by },
})

const eventsOfConfirmation =
  (contact: Identifier['kind']) =>
  ({ uuid: account }: Pick<Account, 'uuid'>): NewEvent[] => [
    { type: 'account.registered', account, data: { contact } },
    { type: 'account.confirmed', account, data: { contact } },
  ]

export type RegistrationStore = ReturnType<typeof createRegistrationStore>

export function createRegistrationStore(database: Database) {
  return {
    /**
     * Adds the registration, or replaces the one that waits for the same identifier, and queues its code. A taken
     * identifier queues a notice to the owner instead. Returns the subject of the code and the id of the message in both
     * cases.
     */
    async register({ email, phone, codeSeed, profile, ...registration }: Registration, now: Date) {
      const primary = (email ?? phone)!
      const row = await database.first(register[primary.kind], {
        ...registration,
        ...messageParams({
          channel: primary.kind === 'email' ? 'email' : 'sms',
          destination: primary.destination,
          purpose: 'confirmation',
          language: registration.language,
          code: { subject: registration.uuid, purpose: 'confirmation', group: 'stranger', seed: codeSeed },
        }),
        profile: profile && JSON.stringify(profile),
        now,
        key: primary.key,
        email: email?.destination ?? null,
        emailKey: email?.key ?? null,
        phone: phone?.key ?? null,
      })
      return row!
    },
    /**
     * Makes the verified identifier the account's own and ends every other claim to it. It returns null if the account
     * was confirmed or registered again since `updatedAt`, or if somebody else verified the identifier first. The same
     * holds if nothing permits the account: then the registration stays. The account gets `password` if the caller named
     * one, otherwise the registered one. If registrations named the identifier with different passwords, it gets none,
     * and no other unverified contact stays. So it is where the caller found that what was registered `isForeign`.
     */
    async confirm(
      account: Account,
      { kind, key }: Identifier,
      password: NamedPassword | null,
      by: {
        permit: Permit
        profile?: Profile | null
        isForeign?: boolean
        /** Of an account apart from the registration. */
        newUuid?: string
      },
      now: Date,
    ): Promise<Account | null> {
      const params = confirmParams(account, key, by.permit, now, {
        digest: password?.digest ?? null,
        tag: password?.tag ?? null,
        profile: by.profile ? JSON.stringify(by.profile) : null,
        isForeign: by.isForeign ?? false,
      })
      const eventsOf = eventsOfConfirmation(kind)
      return verifyIdentifier(kind, () =>
        retryConflicts(async () => {
          const apart =
            account.waitingFor === key
              ? null
              : await changeAndRecord(
                  database,
                  confirmedApart[kind],
                  { ...params, newUuid: by.newUuid ?? randomUUID() },
                  now,
                  eventsOf,
                )
          return apart ?? database.first(confirm[kind], { ...params, ...eventParams(eventsOf(account), now) })
        }),
      )
    },
    /**
     * The same for an administrator, who vouches for the contact that the account waits for, in the transaction of what else
     * they change of it.
     */
    confirmByAdministrator: (
      transaction: Executor,
      account: Account,
      { kind, key }: Identifier,
      permit: Permit,
      now: Date,
    ): Promise<Account | null> =>
      verifyIdentifier(kind, () =>
        transaction.first(confirm[kind], {
          ...confirmParams(account, key, permit, now, { byAdministrator: true }),
          ...eventParams(eventsOfConfirmation(kind)(account), now),
        }),
      ),
    /** The account as `confirm` would open it now; null where the registration is not the one that the caller read. */
    foresee: (
      { uuid, updatedAt }: Account,
      { key }: Identifier,
      { tag, isForeign, profile }: { tag: Uint8Array | null; isForeign: boolean; profile: Profile | null },
    ) =>
      database.first(foresee, {
        ...{ uuid, seenAt: updatedAt, key, tag, isForeign },
        profile: profile && JSON.stringify(profile),
      }),
    /** Removes registrations that nobody confirmed within a week after the last one was sent; returns their number. */
    sweep: (now: Date, limit: number) =>
      sweepRegistrations(database, { before: daysBefore(now, REGISTRATION_DAYS), limit }),
    /** Removes the password tags of registrations after a week, unless an unconfirmed account still names the contact. */
    sweepClaims: (now: Date, limit: number) =>
      sweepClaims(database, { before: daysBefore(now, REGISTRATION_DAYS), limit }),
  }
}
