/**
 * Every table of poterne, for all three storage shapes. `bun run migration` writes the SQL under drizzle/ from it.
 * Times are timestamptz with milliseconds. Nothing secret is stored in clear: codes and tokens are keyed or plain
 * hashes, keys and TOTP secrets are sealed under the server secret.
 */
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  customType,
  date,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { Language } from '../../texts/languages.ts'

/**
 * The fields of a profile: bodies, answers, the export, the account's own page and the claims of applications follow from this
 * list. `autocomplete`
 * is null for what people are not asked for on the page; a page needs a text of the field's name.
 */
export const profileFields = {
  name: { description: 'The whole name, as it is to be shown', autocomplete: 'name' },
  given_name: { description: 'The first name', autocomplete: 'given-name' },
  family_name: { description: 'The last name', autocomplete: 'family-name' },
  zoneinfo: { description: 'A time zone, such as Europe/London', autocomplete: null },
  picture: { description: 'The address of a picture', autocomplete: null },
} as const
export type ProfileField = keyof typeof profileFields
/** Each at most 200 characters; 2 KiB together. */
export type Profile = { [Field in ProfileField]?: string }

const bytea = customType<{ data: Uint8Array }>({ dataType: () => 'bytea' })
const time = (name: string) => timestamp(name, { precision: 3, withTimezone: true })
const id = () => bigint('id', { mode: 'number' })

/** The 24 fields clients see come first; the private ones after `updatedAt` never leave the service. */
export const accounts = pgTable(
  'accounts',
  {
    failedAttempts: integer('failed_attempts').notNull().default(0),
    id: id().primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid('uuid').notNull().unique(),
    /** The person's own spelling, to which messages go; `emailKey` is what is compared. */
    email: text('email'),
    phone: text('phone'),
    /** It is null if no password opens this account (contested registration, social account). */
    passwordDigest: text('password_digest'),
    accountableType: text('accountable_type').notNull(),
    /** Null means the account's own id. */
    accountableId: bigint('accountable_id', { mode: 'number' }),
    roleId: integer('role_id').notNull(),
    rememberCreatedAt: time('remember_created_at'),
    signInCount: integer('sign_in_count').notNull().default(0),
    currentSignInAt: time('current_sign_in_at'),
    lastSignInAt: time('last_sign_in_at'),
    currentSignInIp: text('current_sign_in_ip'),
    lastSignInIp: text('last_sign_in_ip'),
    accountConfirmedAt: time('account_confirmed_at'),
    unlockToken: text('unlock_token'),
    lockedAt: time('locked_at'),
    twoFactorEnabled: boolean('two_factor_enabled').notNull().default(false),
    provider: text('provider').notNull().default('local'),
    providerUid: text('provider_uid'),
    createdAt: time('created_at').notNull(),
    updatedAt: time('updated_at').notNull(),

    /** The comparable form of `email`. */
    emailKey: text('email_key'),
    emailConfirmedAt: time('email_confirmed_at'),
    phoneConfirmedAt: time('phone_confirmed_at'),
    language: text('language').$type<Language>().notNull(),
    /**
     * The owner last replaced the password then. It is null if that never happened, or happened before this was kept.
     */
    passwordChangedAt: time('password_changed_at'),
    /** The words of an operator: why the account is locked, and a JSON object of the operator's own. */
    lockedReason: text('locked_reason'),
    metadata: jsonb('metadata').$type<Record<string, unknown>>(),
    /** The identifier (comparable form) that this registration waits to have verified; null once confirmed. */
    waitingFor: text('waiting_for'),
    /** The maker of an account that did not register by itself: no registration replaces or joins it. */
    origin: text('origin').$type<'administrator' | 'import'>(),
    /** The present contact was added then, in that session. It is null for the contact that came with the account. */
    emailAddedAt: time('email_added_at'),
    emailAddedBy: uuid('email_added_by'),
    phoneAddedAt: time('phone_added_at'),
    phoneAddedBy: uuid('phone_added_by'),
    /** The words of owners about themselves, which nobody verified; `picture` is an administrator's. */
    profile: jsonb('profile').$type<Profile>(),
    /** It is in lower case. The table `usernames` says that it is this account's. */
    username: text('username'),
    /** Written by administrators and invitations; null: none. */
    groups: jsonb('groups').$type<string[]>(),
    /** Access tokens of before are refused; a whole second. */
    tokensNotBefore: time('tokens_not_before'),
    /** Raised by what ends every trusted device: a change of password or of two factors, a lock. */
    trustEpoch: integer('trust_epoch').notNull().default(0),
    /** Opened by one of `[[test_identities]]`: its code is published, so the account can do next to nothing, for good. */
    testIdentity: boolean('test_identity').notNull().default(false),
    /** The invitation that a registration named, or that opened the account. */
    invitationId: bigint('invitation_id', { mode: 'number' }),
    /** The version of the terms that was accepted, and the time. For a registration, the sender accepted them. */
    termsVersion: text('terms_version'),
    termsAcceptedAt: time('terms_accepted_at'),
  },
  (table) => [
    uniqueIndex('accounts_email_proved').on(table.emailKey).where(sql`${table.emailConfirmedAt} is not null`),
    uniqueIndex('accounts_phone_proved').on(table.phone).where(sql`${table.phoneConfirmedAt} is not null`),
    uniqueIndex('accounts_waiting_for').on(table.waitingFor).where(sql`${table.waitingFor} is not null`),
    // Any part of a contact, a name or a username: the statement that searches repeats this expression. New entries are
    // gathered, because each account has some thirty, and entered together once they fill 256 kB.
    index('accounts_parts')
      .using(
        'gin',
        sql`account_trigrams(account_search_text(${table.emailKey}, ${table.phone}, ${table.username}, ${table.profile}))`,
      )
      .with({ gin_pending_list_limit: 256 }),
    index('accounts_locked').on(table.id).where(sql`${table.lockedAt} is not null`),
    index('accounts_role').on(table.roleId, table.id),
    index('accounts_created').on(table.createdAt, table.id),
    // Each lookup reads one entry, however many accounts and registrations name the contact. Most accounts have one contact,
    // and the one that is missing has no entry.
    index('accounts_email_claimed')
      .on(table.emailKey, table.id)
      .where(
        sql`${table.emailKey} is not null and ${table.emailConfirmedAt} is null and ${table.accountConfirmedAt} is not null`,
      ),
    index('accounts_phone_claimed')
      .on(table.phone, table.id)
      .where(
        sql`${table.phone} is not null and ${table.phoneConfirmedAt} is null and ${table.accountConfirmedAt} is not null`,
      ),
    index('accounts_email_registered')
      .on(table.emailKey, table.id)
      .where(sql`${table.emailKey} is not null and ${table.accountConfirmedAt} is null`),
    index('accounts_phone_registered')
      .on(table.phone, table.id)
      .where(sql`${table.phone} is not null and ${table.accountConfirmedAt} is null`),
    index('accounts_email_made').on(table.emailKey).where(sql`${table.origin} is not null`),
    index('accounts_phone_made').on(table.phone).where(sql`${table.origin} is not null`),
    // The families of password digests: one look finds the next one (domain/foundation/hashing/families.ts).
    index('accounts_digests')
      .on(sql`digest_family(${table.passwordDigest})`, sql`digest_number(${table.passwordDigest})`)
      .where(sql`${table.passwordDigest} is not null`),
    index('accounts_unconfirmed').on(table.createdAt).where(sql`${table.accountConfirmedAt} is null`),
  ],
)

/** The account that a row belongs to, and with which it is erased. */
const ownerId = () =>
  bigint('account_id', { mode: 'number' })
    .notNull()
    .references(() => accounts.id, { onDelete: 'cascade' })

/** An invitation is for people who are not known by name: anybody with the code may open an account. */
export const invitations = pgTable(
  'invitations',
  {
    id: id().primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid('uuid').notNull().unique(),
    /** SHA-256 of the code, which has 80 bits. */
    hash: bytea('hash').notNull().unique(),
    /** The profile that an account gets from it. */
    roleId: integer('role_id'),
    groups: jsonb('groups').$type<string[]>().notNull(),
    /** The account must have a verified e-mail address of this domain. */
    domain: text('domain'),
    uses: integer('uses').notNull(),
    used: integer('used').notNull().default(0),
    note: text('note'),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    revokedAt: time('revoked_at'),
    creatorType: text('creator_type').notNull(),
    creatorId: text('creator_id'),
    creatorName: text('creator_name'),
  },
  (table) => [index('invitations_expires_at').on(table.expiresAt)],
)

/** Devices on which a login needs no second step, until `expiresAt` or until something changes that protects the account. */
export const trustedDevices = pgTable(
  'trusted_devices',
  {
    /** SHA-256 of the token. */
    hash: bytea('hash').primaryKey(),
    accountId: ownerId(),
    /** It is made as in `known_devices`. */
    deviceTag: bytea('device_tag').notNull(),
    /** A hash of the contacts and factors that the account had then. */
    bound: text('bound').notNull(),
    /** The session that made it, and the one that used it last; no references, since sessions are swept. */
    sessionId: uuid('session_id').notNull(),
    lastSessionId: uuid('last_session_id'),
    createdAt: time('created_at').notNull(),
    lastUsedAt: time('last_used_at'),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [
    index('trusted_devices_account').on(table.accountId),
    index('trusted_devices_expires_at').on(table.expiresAt),
  ],
)

/**
 * The key of the HMACs in `usernames`, which the migration made. One row. It is not sealed, so that it stays the same whatever
 * becomes of the server secret.
 */
export const usernameKeys = pgTable('username_keys', {
  id: integer('id').primaryKey(),
  key: bytea('key').notNull(),
})

/**
 * Every username that an account ever had, as an HMAC, so that none goes to another account. The account is forgotten when
 * it is erased.
 */
export const usernames = pgTable(
  'usernames',
  {
    hash: bytea('hash').primaryKey(),
    account: uuid('account').references(() => accounts.uuid, { onDelete: 'set null' }),
  },
  (table) => [index('usernames_account').on(table.account)],
)

/**
 * With which passwords a contact was named in registrations, until it is verified: a short keyed tag of each, to see
 * that two people may have named it. It stays where the registration is replaced by one that does not name it.
 */
export const registrationClaims = pgTable(
  'registration_claims',
  {
    /** Comparable form. */
    contact: text('contact').notNull(),
    /** It is empty; the version before kept the client's address here. */
    address: text('address').notNull(),
    passwordTag: bytea('password_tag').notNull(),
    /** It was last named then. */
    createdAt: time('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.contact, table.address, table.passwordTag] }),
    index('registration_claims_created_at').on(table.createdAt),
  ],
)

/**
 * One-time codes of the shapes without Redis (unlogged: see the migration). There is at most one per subject and
 * purpose.
 */
export const codes = pgTable(
  'codes',
  {
    subject: uuid('subject').notNull(),
    purpose: text('purpose').notNull(),
    hash: bytea('hash').notNull(),
    attempts: integer('attempts').notNull().default(0),
    expiresAt: time('expires_at').notNull(),
    usedAt: time('used_at'),
    /** The message that it goes out with; 0 if there is none. */
    messageId: bigint('message_id', { mode: 'number' }).notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.purpose] }),
    index('codes_expires_at').on(table.expiresAt),
  ],
)

/** Counters of the shapes without Redis (unlogged). `state` is what the rule of the key needs, see domain/foundation/limits. */
export const limits = pgTable(
  'limits',
  {
    key: text('key').primaryKey(),
    state: jsonb('state').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('limits_expires_at').on(table.expiresAt)],
)

/**
 * Codes that an administrator has made for an account: one open of each kind. A code is removed when it is used; what is
 * left of its life decides nothing else.
 */
export const accountCodes = pgTable(
  'account_codes',
  {
    accountId: ownerId(),
    kind: text('kind').$type<'recovery' | 'invitation'>().notNull(),
    id: uuid('id').notNull(),
    /** Salt and salted hash. */
    hash: bytea('hash').notNull(),
    /** The contact to which it was sent, in comparable form; null where the administrator saw it. */
    sentTo: text('sent_to'),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    /** Using a temporary access code then removes every passkey and identity. */
    removeFactors: boolean('remove_factors').notNull().default(false),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.kind] }),
    uniqueIndex('account_codes_id').on(table.id),
    index('account_codes_expires_at').on(table.expiresAt),
  ],
)

/** Short-lived values taken or found by key, of the shapes without Redis (unlogged): first factors, social states. */
export const tickets = pgTable(
  'tickets',
  {
    key: text('key').primaryKey(),
    value: jsonb('value').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('tickets_expires_at').on(table.expiresAt)],
)

/** Wrong codes a day; logged on purpose, in every shape: a Redis flush or a crash must not reopen it. */
export const codeBudgets = pgTable(
  'code_budgets',
  {
    subject: uuid('subject').notNull(),
    purpose: text('purpose').notNull(),
    day: date('day', { mode: 'string' }).notNull(),
    wrong: integer('wrong').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.purpose, table.day] }),
    index('code_budgets_day').on(table.day),
  ],
)

/**
 * Wrong codes in a row (until the right one), by who tries and what is tried; logged, as the budgets are. From the
 * hundredth on one try a day is allowed, and `lastDay` says which day had it.
 */
export const codeFailures = pgTable(
  'code_failures',
  {
    subject: uuid('subject').notNull(),
    callerGroup: text('caller_group').notNull(),
    factor: text('factor').notNull(),
    inARow: integer('in_a_row').notNull(),
    lastDay: date('last_day', { mode: 'string' }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.subject, table.callerGroup, table.factor] }),
    index('code_failures_last_day').on(table.lastDay),
  ],
)

/** The outbox: a row for each e-mail or SMS, written in the transaction of what caused it. */
export const messages = pgTable(
  'messages',
  {
    id: id().primaryKey().generatedAlwaysAsIdentity(),
    channel: text('channel').$type<'email' | 'sms' | 'application'>().notNull(),
    destination: text('destination').notNull(),
    purpose: text('purpose').notNull(),
    language: text('language').notNull(),
    /** Values of the template; never a code, a password or a token. */
    values: jsonb('values').$type<Record<string, string>>().notNull().default({}),
    /** With these three the code is derived at sending; null for a notice. */
    codeSubject: uuid('code_subject'),
    codePurpose: text('code_purpose'),
    /** The group that asked for the code: stranger | password | owner. */
    codeGroup: text('code_group').notNull().default('stranger'),
    codeSeed: bytea('code_seed'),
    /** 0: caused by an owner, sent first; 1: caused by a stranger; 2: goes to nobody. */
    lane: smallint('lane').notNull().default(0),
    /** The request that caused it and the account it is about, for the log. */
    requestId: text('request_id'),
    accountUuid: uuid('account_uuid'),
    createdAt: time('created_at').notNull(),
    attempts: integer('attempts').notNull().default(0),
    firstAttemptAt: time('first_attempt_at'),
    /** The worker may next take it then; the lease moves it forward while a worker holds it. */
    nextAttemptAt: time('next_attempt_at').notNull(),
    finishedAt: time('finished_at'),
    /** One of sent | refused | unknown | expired | replaced; null while waiting. */
    outcome: text('outcome').$type<'sent' | 'refused' | 'unknown' | 'expired' | 'replaced'>(),
    /** The gateway or server that took it, or the cause code of the last failure. */
    detail: text('detail'),
    /** The reply of servers and gateways to the last attempt, without secrets and personal data. */
    reply: text('reply'),
    /** The gateway that took an SMS, how that gateway calls it, and what its receipts said since. */
    gateway: text('gateway'),
    providerId: text('provider_id'),
    receipt: text('receipt').$type<'delivered' | 'failed'>(),
    /** Its code was entered then, and was right. */
    verifiedAt: time('verified_at'),
  },
  (table) => [
    index('messages_due')
      .on(table.channel, table.lane, table.nextAttemptAt)
      .where(sql`${table.finishedAt} is null`),
    // An application that takes nothing has much that waits.
    index('messages_due_of_application')
      .on(table.destination, table.nextAttemptAt)
      .where(sql`${table.finishedAt} is null and ${table.channel} = 'application'`),
    index('messages_provider_id')
      .on(table.gateway, table.providerId)
      .where(sql`${table.providerId} is not null`),
    index('messages_code').on(table.codeSubject, table.codePurpose).where(sql`${table.outcome} is null`),
    // The messages that were sent to the owner of an account.
    index('messages_account').on(sql`coalesce(${table.accountUuid}, ${table.codeSubject})`, table.id),
    index('messages_finished').on(table.finishedAt).where(sql`${table.finishedAt} is not null`),
    // An erasure finds what was sent to the person.
    index('messages_destination').on(sql`lower(${table.destination})`).where(sql`${table.destination} <> ''`),
  ],
)

/** The number of SMS that reached each stage, by day (UTC), gateway and country; no person can be told from it. */
export const smsFunnel = pgTable(
  'sms_funnel',
  {
    day: date('day').notNull(),
    /** It is empty before a gateway was chosen. */
    gateway: text('gateway').notNull(),
    /** ISO 3166 alpha-2; empty for a number of no single country. */
    country: text('country').notNull(),
    /** One of asked | given_up | handed_over | unknown | accepted | delivered | failed | verified. */
    stage: text('stage').notNull(),
    count: bigint('count', { mode: 'number' }).notNull(),
  },
  (table) => [primaryKey({ columns: [table.day, table.gateway, table.country, table.stage] })],
)

/** Codes sent by SMS to numbers with the same first seven digits, by day (UTC), and how many of them were verified. */
export const smsPrefixes = pgTable(
  'sms_prefixes',
  {
    prefix: text('prefix').notNull(),
    day: date('day').notNull(),
    codes: integer('codes').notNull().default(0),
    verified: integer('verified').notNull().default(0),
    /** Strangers get no code there until then. */
    closedUntil: time('closed_until'),
  },
  (table) => [primaryKey({ columns: [table.prefix, table.day] }), index('sms_prefixes_day').on(table.day)],
)

/** Numbers that somebody of the team closed by hand, by what they begin with. */
export const smsClosings = pgTable('sms_closings', {
  prefix: text('prefix').primaryKey(),
  reason: text('reason').notNull(),
  closedUntil: time('closed_until').notNull(),
  createdAt: time('created_at').notNull(),
  creatorType: text('creator_type').notNull(),
  creatorId: text('creator_id'),
  creatorName: text('creator_name'),
})

/** Receipts that came before the sending they belong to was recorded. Kept for a minute. */
export const earlyReceipts = pgTable(
  'early_receipts',
  {
    gateway: text('gateway').notNull(),
    providerId: text('provider_id').notNull(),
    receipt: text('receipt').$type<'delivered' | 'failed'>().notNull(),
    receivedAt: time('received_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.gateway, table.providerId] }),
    index('early_receipts_received_at').on(table.receivedAt),
  ],
)

/** E-mail addresses that a mail server refused for good, as keyed tags. Remembered for a day. */
export const refusedAddresses = pgTable(
  'refused_addresses',
  {
    tag: bytea('tag').primaryKey(),
    refusedAt: time('refused_at').notNull(),
  },
  (table) => [index('refused_addresses_refused_at').on(table.refusedAt)],
)

/**
 * A signed-in device. No index contains a column that a refresh changes, and the migration leaves space in each page. So
 * the new version of the row stays beside the old one (a HOT update) however often a session is refreshed.
 */
export const sessions = pgTable(
  'sessions',
  {
    id: uuid('id').primaryKey(),
    accountId: ownerId(),
    deviceType: text('device_type'),
    deviceName: text('device_name'),
    deviceOs: text('device_os'),
    deviceFingerprint: text('device_fingerprint'),
    ip: text('ip'),
    /** The methods by which the person signed in: space-separated RFC 8176 values. */
    amr: text('amr').notNull(),
    createdAt: time('created_at').notNull(),
    lastUsedAt: time('last_used_at').notNull(),
    /** Idle end, moved by each refresh, and the end no refresh moves. */
    expiresAt: time('expires_at').notNull(),
    endsAt: time('ends_at').notNull(),
    /** SHA-256 of what its refresh tokens have in common, and which of them is the newest. */
    familyHash: bytea('family_hash').notNull(),
    generation: integer('generation').notNull().default(0),
    rotatedAt: time('rotated_at'),
    revokedAt: time('revoked_at'),
    /** The address where it was opened; null for sessions of older versions. */
    signInIp: text('sign_in_ip'),
    /** When a used token of its own device was served again, long after its use: the last days' times. */
    lateRetries: time('late_retries').array(),
    /**
     * `direct`: its client holds refresh tokens. `browser`: a cookie of the pages names it, and only the pages read it.
     * `application`: that of an application of somebody else, whose tokens open nothing but `/oauth2/userinfo`.
     */
    kind: text('kind').notNull().default('direct'),
    /** It says whether the person asked to stay signed in, for the session of a browser. */
    stays: boolean('stays').notNull().default(false),
    /** The session of the browser below which an application's session lives, and the application. */
    parentId: uuid('parent_id'),
    clientId: text('client_id'),
    /** The scopes that the application was granted, with spaces between them. */
    scope: text('scope'),
    /**
     * The person signed in to the browser then, for a session of an application; null means when the session was
     * opened.
     */
    authenticatedAt: time('authenticated_at'),
  },
  (table) => [
    uniqueIndex('sessions_family_hash').on(table.familyHash),
    index('sessions_account').on(table.accountId, table.deviceFingerprint),
  ],
)

/** The applications that are told when a session of theirs ends: a trigger on `sessions` queues the message. */
export const backChannels = pgTable('back_channels', {
  application: text('application').primaryKey(),
})

/**
 * The codes with which the pages hand over who signed in. A used one is kept for a day; its second use is noticed for ten
 * minutes.
 */
export const authorizationCodes = pgTable(
  'authorization_codes',
  {
    codeHash: bytea('code_hash').primaryKey(),
    /** The session of the browser. */
    sessionId: uuid('session_id').notNull(),
    application: text('application').notNull(),
    redirectUri: text('redirect_uri').notNull(),
    /** Empty if the application sent none. */
    challenge: text('challenge').notNull(),
    nonce: text('nonce'),
    /** The scopes that were granted, with spaces between them. */
    scope: text('scope'),
    expiresAt: time('expires_at').notNull(),
    usedAt: time('used_at'),
    /** The session that it opened. */
    opened: uuid('opened'),
  },
  (table) => [index('authorization_codes_newest').on(table.sessionId, table.application, table.expiresAt)],
)

/**
 * The devices and client addresses that an account signed in with, as keyed tags. Of devices the newest are kept; an
 * address counts as known while its sign-in is one of the account's last ones.
 */
export const knownDevices = pgTable(
  'known_devices',
  {
    accountId: ownerId(),
    tag: bytea('tag').notNull(),
    kind: text('kind').$type<'device' | 'address'>().notNull(),
    /** `sign_in_count` of the account at its last sign-in. */
    signIn: integer('sign_in').notNull(),
    lastSignInAt: time('last_sign_in_at').notNull(),
    /** It is null where an older version wrote the row: then it is as old as its last sign-in. */
    firstSignInAt: time('first_sign_in_at'),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.tag] }),
    index('known_devices_last_sign_in_at').on(table.lastSignInAt),
  ],
)

/** A key that signs; the private part sealed under the server secret. */
const signingKeyColumns = () => ({
  kid: text('kid').primaryKey(),
  publicJwk: jsonb('public_jwk').$type<Record<string, string>>().notNull(),
  sealedPrivateJwk: bytea('sealed_private_jwk').notNull(),
  createdAt: time('created_at').notNull(),
  signsFrom: time('signs_from').notNull(),
  /** Set when a successor takes over: published until then plus the longest token lifetime. */
  publishedUntil: time('published_until'),
})

/** Keys that sign access tokens, by ES256. */
export const signingKeys = pgTable('signing_keys', signingKeyColumns())

/** Keys that sign ID tokens and logout tokens, by RS256: none until an application needs one. */
export const identityKeys = pgTable('identity_keys', signingKeyColumns())

/**
 * Keys that outlive a change of the server secret, since they name rows or hash codes: sealed under the server secret. One
 * for each of the labels in platform/secret.ts.
 */
export const lastingKeys = pgTable('lasting_keys', {
  label: text('label').primaryKey(),
  sealedKey: bytea('sealed_key').notNull(),
})

/** The server secrets that replicas had in their configuration, by id, and since or until when. */
export const serverSecrets = pgTable('server_secrets', {
  id: text('id').primaryKey(),
  /** A replica last sealed and signed with it then; null if none did until now. */
  currentAt: time('current_at'),
  currentSince: time('current_since'),
  /** A replica that does not accept it last ran then. */
  missingAt: time('missing_at'),
  /** One replica seals rows anew under it until then. */
  turnUntil: time('turn_until'),
})

/** The authenticator app in use. `lastStep`: the newest time step accepted, the one that confirmed it at first. */
export const totpFactors = pgTable('totp_factors', {
  accountId: ownerId().primaryKey(),
  sealedSecret: bytea('sealed_secret').notNull(),
  confirmedAt: time('confirmed_at').notNull(),
  /** The session that enrolled it. */
  addedBy: uuid('added_by'),
  lastStep: bigint('last_step', { mode: 'number' }).notNull(),
  /** The owner was told then that the secret cannot be opened; a recovery code replaced it at the second time. */
  lossToldAt: time('loss_told_at'),
  recoveredAt: time('recovered_at'),
})

/** An authenticator app that waits for its first code; the one in use, if any, stays so until then. */
export const totpEnrolments = pgTable('totp_enrolments', {
  accountId: ownerId().primaryKey(),
  sealedSecret: bytea('sealed_secret').notNull(),
  createdAt: time('created_at').notNull(),
})

/**
 * The recovery codes left, each as its salt and salted hash, or as a keyed hash where an older version made it. They
 * are in one row, so that using one and replacing all never cross.
 */
export const recoveryCodes = pgTable('recovery_codes', {
  accountId: ownerId().primaryKey(),
  hashes: bytea('hashes').array().notNull(),
})

/**
 * The removals of two-factor sign-in for people who lost their factors: each waits until its time, or until the owner
 * stops it.
 */
export const twoFactorRemovals = pgTable(
  'two_factor_removals',
  {
    accountId: ownerId().primaryKey(),
    /** The id that the link of the notices names. */
    id: uuid('id').notNull(),
    dueAt: time('due_at').notNull(),
    createdAt: time('created_at').notNull(),
    /** The one who asked for it. */
    actorType: text('actor_type').notNull(),
    actorId: text('actor_id'),
    actorName: text('actor_name'),
  },
  (table) => [
    uniqueIndex('two_factor_removals_id').on(table.id),
    index('two_factor_removals_due_at').on(table.dueAt),
  ],
)

/** The exact new e-mail or phone a pending change is about; one for each kind, a second request voids the first. */
export const contactChanges = pgTable(
  'contact_changes',
  {
    accountId: ownerId(),
    kind: text('kind').$type<'email' | 'phone'>().notNull(),
    /** The destination as it was given, and its comparable form. */
    destination: text('destination').notNull(),
    destinationKey: text('destination_key').notNull(),
    /** The subject of this change's code; a new one for each request. */
    codeSubject: uuid('code_subject').notNull(),
    createdAt: time('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.kind] })],
)

/** A verified contact that another one replaced, or that was removed: kept for seven days, so that it can come back. */
export const replacedContacts = pgTable(
  'replaced_contacts',
  {
    id: id().primaryKey().generatedAlwaysAsIdentity(),
    accountId: ownerId(),
    kind: text('kind').$type<'email' | 'phone'>().notNull(),
    /** The destination as it was sent to, and its comparable form. */
    destination: text('destination').notNull(),
    destinationKey: text('destination_key').notNull(),
    verifiedAt: time('verified_at').notNull(),
    replacedAt: time('replaced_at').notNull(),
    /** The session that did it. */
    sessionId: uuid('session_id').notNull(),
    /** The account knew that device, or without a device that address, seven days before. */
    knownClient: boolean('known_client').notNull(),
  },
  (table) => [
    index('replaced_contacts_account').on(table.accountId),
    index('replaced_contacts_replaced_at').on(table.replacedAt),
  ],
)

/** The link by which a replaced contact comes back, with what the account had beside it when it was replaced. */
export const undoLinks = pgTable(
  'undo_links',
  {
    /** SHA-256 of the token in the link. */
    hash: bytea('hash').primaryKey(),
    replacedId: bigint('replaced_id', { mode: 'number' })
      .notNull()
      .references(() => replacedContacts.id, { onDelete: 'cascade' }),
    /** The contact was added then, by that session; null if it came with the account. */
    addedAt: time('added_at'),
    addedBy: uuid('added_by'),
    hadTwoFactors: boolean('had_two_factors').notNull(),
    hadApp: boolean('had_app').notNull(),
    /** Used by the owner, or overtaken by a contact that the account verified earlier. */
    usedAt: time('used_at'),
  },
  (table) => [index('undo_links_replaced').on(table.replacedId)],
)

/** An identity at a sign-in provider: only issuer and subject identify the person. */
export const identities = pgTable(
  'identities',
  {
    id: id().primaryKey().generatedAlwaysAsIdentity(),
    accountId: ownerId(),
    provider: text('provider').notNull(),
    issuer: text('issuer').notNull(),
    subject: text('subject').notNull(),
    email: text('email'),
    createdAt: time('created_at').notNull(),
    /** The session that linked it; null where it opened the account, or its provider vouched for the e-mail. */
    addedBy: uuid('added_by'),
  },
  (table) => [
    uniqueIndex('identities_issuer_subject').on(table.issuer, table.subject),
    index('identities_account').on(table.accountId),
  ],
)

/** Keys of people's devices (WebAuthn). Only the public part is ever here. */
export const passkeys = pgTable(
  'passkeys',
  {
    /** The public handle of the row: what the paths name. */
    id: uuid('id').primaryKey(),
    accountId: ownerId(),
    /** Base64url, at most 1,364 characters. */
    credentialId: text('credential_id').notNull(),
    /** COSE key. */
    publicKey: bytea('public_key').notNull(),
    /** 32 random bytes, the same in all passkeys of an account: authenticators know the account by it. */
    userHandle: bytea('user_handle').notNull(),
    counter: bigint('counter', { mode: 'number' }).notNull(),
    name: text('name').notNull(),
    createdAt: time('created_at').notNull(),
    lastUsedAt: time('last_used_at'),
    /** True if it may ever be copied to other devices (BE); it never changes. */
    backupEligible: boolean('backup_eligible').notNull(),
    /** True if it is copied now (BS). */
    backedUp: boolean('backed_up').notNull(),
    transports: jsonb('transports').$type<string[]>().notNull(),
    aaguid: text('aaguid').notNull(),
    rpId: text('rp_id').notNull(),
    /** The session that added it; not a reference, since sessions are swept. */
    addedBySession: uuid('added_by_session'),
    /** Added with the password, a second factor or another passkey, not by a session alone. */
    proved: boolean('proved').notNull().default(false),
  },
  (table) => [
    uniqueIndex('passkeys_credential_id').on(table.credentialId),
    index('passkeys_account').on(table.accountId),
  ],
)

/** Challenges of passkeys that were used, by their SHA-256, until they would have expired. */
export const spentChallenges = pgTable(
  'spent_challenges',
  {
    hash: bytea('hash').primaryKey(),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('spent_challenges_expires_at').on(table.expiresAt)],
)

/** Identity tokens that opened something, by a hash of what was signed, until they would be refused for their age. */
export const spentIdTokens = pgTable(
  'spent_id_tokens',
  {
    hash: bytea('hash').primaryKey(),
    expiresAt: time('expires_at').notNull(),
  },
  (table) => [index('spent_id_tokens_expires_at').on(table.expiresAt)],
)

/**
 * The next round of housekeeping is due then, for all replicas. The replica that moves it on does the round. One row.
 */
export const housekeeping = pgTable('housekeeping', {
  id: integer('id').primaryKey(),
  nextAt: time('next_at').notNull(),
})

/** The times of backups and the outcome of the last ones, for all replicas. One row. */
export const backups = pgTable('backups', {
  id: integer('id').primaryKey(),
  /** The scheduled time that one of the replicas took on last. */
  takenFor: time('taken_for'),
  lastSuccessAt: time('last_success_at'),
  lastFailureAt: time('last_failure_at'),
  /** The reason why the last one failed, in one line. */
  lastFailure: text('last_failure'),
  /** The warning about the last one that was made. */
  lastWarning: text('last_warning'),
})

/**
 * The events: inserts only, which a trigger enforces; `sweep_events` removes old ones. No foreign key: an event
 * outlives the account that it is about.
 */
export const events = pgTable(
  'events',
  {
    id: id().primaryKey().generatedAlwaysAsIdentity(),
    type: text('type').notNull(),
    outcome: text('outcome').notNull(),
    createdAt: time('created_at').notNull(),
    /** The uuid of the account. */
    account: uuid('account'),
    actorType: text('actor_type').notNull(),
    actorId: text('actor_id'),
    actorName: text('actor_name'),
    sessionId: uuid('session_id'),
    requestId: text('request_id'),
    data: jsonb('data').notNull(),
  },
  (table) => [
    index('events_account').on(table.account, table.id),
    index('events_type').on(table.type, table.id),
    // Small and cheap to keep: events are written in the order of their time.
    index('events_created_at').using('brin', table.createdAt),
    index('events_actor').on(table.actorId, table.id).where(sql`${table.actorType} <> 'account'`),
  ],
)

/** The details that are forgotten before the event itself, and the counts of failures. */
export const eventDetails = pgTable(
  'event_details',
  {
    eventId: bigint('event_id', { mode: 'number' }).primaryKey(),
    address: text('address'),
    device: text('device'),
    /** Failures of this kind in this hour; null for what is not a failure. */
    count: integer('count'),
    failureKey: text('failure_key'),
  },
  (table) => [
    uniqueIndex('event_details_failure_key').on(table.failureKey).where(sql`${table.failureKey} is not null`),
  ],
)

/**
 * The accounts that were erased. They are kept for longer than events, so that a restore does not bring them back:
 * `sweep_events` moves them here. The row of the nil uuid says since when none is missing.
 */
export const erasedAccounts = pgTable('erased_accounts', {
  uuid: uuid('uuid').primaryKey(),
  erasedAt: time('erased_at').notNull(),
})

/** The accounts that may sign in on the page of administration. */
export const administrators = pgTable('administrators', {
  accountId: ownerId().primaryKey(),
  role: text('role').$type<'viewer' | 'support' | 'owner'>().notNull(),
  createdAt: time('created_at').notNull(),
  lastSignedInAt: time('last_signed_in_at'),
})

/** A session of the account that the page of administration opened: its cookie, and how long ago it was used. */
export const administratorSessions = pgTable(
  'administrator_sessions',
  {
    sessionId: uuid('session_id')
      .primaryKey()
      .references(() => sessions.id, { onDelete: 'cascade' }),
    cookieHash: bytea('cookie_hash').notNull(),
    seenAt: time('seen_at').notNull(),
    /** The person last proved password and second factor then. */
    provedAt: time('proved_at').notNull(),
  },
  (table) => [uniqueIndex('administrator_sessions_cookie_hash').on(table.cookieHash)],
)

/** Tokens of the interface of administration, as SHA-256. */
export const administrationTokens = pgTable(
  'administration_tokens',
  {
    id: id().primaryKey().generatedAlwaysAsIdentity(),
    uuid: uuid('uuid').notNull().unique(),
    hash: bytea('hash').notNull(),
    name: text('name').notNull(),
    scopes: jsonb('scopes').$type<string[]>().notNull(),
    /** Ranges of addresses from which it is taken; empty: from everywhere. */
    addresses: jsonb('addresses').$type<string[]>().notNull(),
    createdAt: time('created_at').notNull(),
    expiresAt: time('expires_at').notNull(),
    /** The one who made it; for a token, its uuid. */
    creatorType: text('creator_type').notNull(),
    creatorId: text('creator_id'),
    creatorName: text('creator_name'),
    lastUsedAt: time('last_used_at'),
    revokedAt: time('revoked_at'),
  },
  (table) => [
    uniqueIndex('administration_tokens_hash').on(table.hash),
    index('administration_tokens_creator').on(table.creatorId),
    index('administration_tokens_expires_at').on(table.expiresAt),
  ],
)

/** The results of calls with an `Idempotency-Key`, for 24 hours. `answeredAt` null: the call is still under way. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** The hash of caller and key. */
    hash: bytea('hash').primaryKey(),
    /** The hash of path and body. */
    requestHash: bytea('request_hash').notNull(),
    createdAt: time('created_at').notNull(),
    /** Nobody else may begin this work until then. */
    heldUntil: time('held_until').notNull(),
    holder: uuid('holder').notNull(),
    answeredAt: time('answered_at'),
    status: integer('status'),
    /** The id of what was made. */
    madeId: text('made_id'),
  },
  (table) => [index('idempotency_keys_created_at').on(table.createdAt)],
)

/** How far each of `[[webhooks]]` was told of the events, and which process tells it. */
export const webhookEndpoints = pgTable('webhook_endpoints', {
  name: text('name').primaryKey(),
  /** The id of the last event of those that were all taken, or set aside. */
  position: bigint('position', { mode: 'number' }).notNull(),
  /** The process that sends until `heldUntil`; null where one gave it back. */
  holder: uuid('holder'),
  heldUntil: time('held_until').notNull(),
  lastAcceptedAt: time('last_accepted_at'),
  /** Since then it has taken nothing. */
  awaySince: time('away_since'),
})

/** The events that were set aside, which `position` has passed: they failed, or wait behind one that did. */
export const webhookRetries = pgTable(
  'webhook_retries',
  {
    endpoint: text('endpoint')
      .notNull()
      .references(() => webhookEndpoints.name, { onDelete: 'cascade' }),
    /** No reference: the event may be swept before. */
    eventId: bigint('event_id', { mode: 'number' }).notNull(),
    attempts: integer('attempts').notNull(),
    setAsideAt: time('set_aside_at').notNull(),
    /** Null: given up. */
    dueAt: time('due_at'),
    /** `timeout`, `connection`, `tls`, `redirect` or `http_503`; null where it was not sent yet. */
    lastFailure: text('last_failure'),
  },
  (table) => [
    primaryKey({ columns: [table.endpoint, table.eventId] }),
    index('webhook_retries_due_at').on(table.endpoint, table.dueAt),
  ],
)
