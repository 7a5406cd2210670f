/** What an operator does with accounts. Whoever calls has been let in; who it was is in the event of each change. */

import { AppError } from '../../errors.ts'
import { currentRequest } from '../../platform/request-context.ts'
import type { Language } from '../../texts/languages.ts'
import { accountRecord } from '../accounts/account.ts'
import { invalid, readTime } from '../administration/query.ts'
import { type Page, type PageQuery, readPage, toPage } from '../events/page.ts'
import { parseEmail } from '../identifiers/email.ts'
import { parseIdentifier } from '../identifiers/identifier.ts'
import { parsePhone } from '../identifiers/phone.ts'
import { isUuid } from '../identifiers/uuid.ts'
import type { AccountExport } from '../me/exports.ts'
import type { Services, Stores } from '../services.ts'
import { sessionRecord } from '../sessions/session-record.ts'
import type { AccountChange, AccountFilter, AccountSearch, AdministeredAccount } from './store.ts'

export interface AccountQuery extends PageQuery {
  /** An e-mail address, a phone number in any spelling, a uuid, an id, or at least three characters to begin with. */
  query?: string | undefined
  locked?: string | undefined
  confirmed?: string | undefined
  role_id?: string | undefined
  created_after?: string | undefined
  created_before?: string | undefined
}

/** As the body of PATCH has it. */
export interface AccountPatch {
  role_id?: number | undefined
  accountable_type?: string | undefined
  accountable_id?: number | undefined
  metadata?: unknown
  language?: Language | undefined
  locked?: boolean | undefined
  locked_reason?: string | null | undefined
  confirmed?: true | undefined
}

/** The account with what lists show, and with what one look at it adds. */
export type ListedAccount = ReturnType<typeof listedRecord>
export type AccountDetails = ListedAccount & {
  factors: string[]
  passkeys: number
  identities: number
  sessions: number
  /** Only where a mail server refused the e-mail address for good within the last day. */
  email_refused_at?: string
}

export interface AccountAdministration {
  /** Throws `validation_failed`. */
  list(query: AccountQuery): Promise<Page<ListedAccount>>
  /** Throws `account_not_found`, as all that follow. */
  find(uuid: string): Promise<AdministeredAccount>
  /** The same for a look at the person, which is recorded once an hour for each who looks. */
  view(uuid: string): Promise<AdministeredAccount>
  describe(account: AdministeredAccount): Promise<AccountDetails>
  /** A look that is recorded. */
  get(uuid: string): Promise<AccountDetails>
  /**
   * Throws `validation_failed`. Locking ends every session; unlocking tells the owner. Confirming verifies the contact that
   * the account waits for, as its code would: throws `no_verified_contact`, `identifier_taken`.
   */
  change(uuid: string, patch: AccountPatch): Promise<AccountDetails>
  /** Everything that is stored about the person. */
  export(uuid: string): Promise<AccountExport>
  /** For good. */
  erase(uuid: string): Promise<void>
  listSessions(uuid: string): Promise<SessionRecord[]>
  endSessions(uuid: string): Promise<void>
  /** Throws `session_not_found`. */
  endSession(uuid: string, sessionId: string): Promise<void>
}

export type SessionRecord = ReturnType<typeof sessionRecord>

type Needs = Pick<
  Services,
  'exports' | 'secondFactor' | 'notices' | 'refusedAddresses' | 'clock' | 'config'
> & {
  stores: Pick<Stores, 'registrations' | 'accountAdministration' | 'erasure' | 'sessions' | 'events'>
}

const METADATA_BYTES = 4096
const MAXIMUM_SESSIONS = 1000
/** A look at a person is recorded once in this time, for each who looks. */
const LOOK_MS = 3_600_000
const MAXIMUM_LOOKS = 10_000

export function createAccountAdministration(needs: Needs): AccountAdministration {
  const { exports, secondFactor, notices, refusedAddresses, clock, config, stores } = needs
  const { accountAdministration: store, erasure, sessions, events } = stores
  const { defaultCountry, passwordDigest } = config.accounts
  const looks = new Map<string, number>()

  async function require(uuid: string): Promise<AdministeredAccount> {
    const account = isUuid(uuid) ? await store.find(uuid) : null
    if (account === null) throw new AppError('account_not_found')
    return account
  }

  async function describe(account: AdministeredAccount): Promise<AccountDetails> {
    const [held, counts, refusedAt] = await Promise.all([
      secondFactor.find(account),
      store.count(account.id, clock.now()),
      account.email === null ? null : refusedAddresses.findRefusal(account.email),
    ])
    const factors = account.twoFactorEnabled ? secondFactor.methods(held, 'any contact') : []
    return {
      ...listedRecord(account, passwordDigest),
      factors,
      ...counts,
      ...(refusedAt && { email_refused_at: refusedAt.toISOString() }),
    }
  }

  /** A contested registration keeps no password: the administrator vouches for the contact, and for nothing else. */
  async function confirm(account: AdministeredAccount): Promise<void> {
    if (account.accountConfirmedAt !== null) return
    const identifier = parseIdentifier(account.waitingFor ?? '', defaultCountry)
    if (identifier === null) throw new AppError('no_verified_contact')
    const confirmed = await stores.registrations.confirm(account, identifier, null, clock.now())
    if (confirmed === null) throw new AppError('identifier_taken')
  }

  async function recordLook({ uuid }: AdministeredAccount): Promise<void> {
    const actor = currentRequest()?.actor
    const now = clock.now()
    const key = `${actor?.type} ${actor?.id} ${uuid}`
    if (now.getTime() - (looks.get(key) ?? Number.NEGATIVE_INFINITY) < LOOK_MS) return
    if (looks.size >= MAXIMUM_LOOKS) looks.clear()
    looks.set(key, now.getTime())
    await events.add([{ type: 'account.viewed', account: uuid }], now)
  }

  /** The index that a list without a query is read by. */
  function listOf({ locked, roleId, createdAfter, createdBefore }: AccountFilter): AccountSearch {
    if (roleId !== undefined) return { by: 'role', roleId }
    if (locked) return { by: 'locked' }
    return createdAfter || createdBefore ? { by: 'creation' } : { by: 'all' }
  }

  function searchOf(query: string | undefined, filter: AccountFilter): AccountSearch {
    if (query === undefined || query.trim() === '') return listOf(filter)
    const typed = query.trim()
    const email = parseEmail(typed)
    if (email) return { by: 'email', key: email.key }
    const phone = parsePhone(typed, defaultCountry)
    if (phone) return { by: 'phone', key: phone.key }
    if (isUuid(typed)) return { by: 'uuid', uuid: typed }
    if (/^\d{1,15}$/.test(typed)) return { by: 'id', id: Number(typed) }
    if (typed.length < 3) throw invalid('query')
    return { by: 'prefix', prefix: typed.toLowerCase() }
  }

  async function view(uuid: string): Promise<AdministeredAccount> {
    const account = await require(uuid)
    await recordLook(account)
    return account
  }

  return {
    find: require,
    view,
    describe,
    async list({ query, limit: rows, cursor, ...typed }) {
      const { limit, after } = readPage({ limit: rows, cursor })
      const filter = readFilter(typed)
      const found = await store.list(searchOf(query, filter), filter, after, limit + 1)
      return toPage(found, limit, (account) => listedRecord(account, passwordDigest))
    },
    get: async (uuid) => describe(await view(uuid)),
    async change(uuid, patch) {
      const change = readChange(patch)
      const found = await require(uuid)
      if (patch.confirmed) await confirm(found)
      const account = patch.confirmed ? await require(uuid) : found
      const unlocks = change.locked === false && account.lockedAt !== null
      const messages = unlocks ? await notices.about(account, 'account_unlocked') : []
      const changed = await store.change(account, change, messages, clock.now())
      if (changed === null) throw new AppError('account_not_found')
      // The answer shows the person: without a change to record, it is a look like any other.
      if (!changed.isRecorded && !patch.confirmed) await recordLook(changed.account)
      return describe(changed.account)
    },
    export: async (uuid) => exports.ofAccount(await require(uuid)),
    async erase(uuid) {
      const account = await require(uuid)
      const messages = await notices.about(account, 'account_erased')
      if (!(await erasure.eraseByOperator(account.id, messages, clock.now())))
        throw new AppError('account_not_found')
    },
    async listSessions(uuid) {
      const account = await view(uuid)
      return (await sessions.list(account.id, MAXIMUM_SESSIONS, clock.now())).map(sessionRecord)
    },
    async endSessions(uuid) {
      const account = await require(uuid)
      await sessions.endAll(account.id, clock.now())
    },
    async endSession(uuid, sessionId) {
      const account = await require(uuid)
      const ended = isUuid(sessionId) && (await sessions.end(sessionId, account.uuid, clock.now()))
      if (!ended) throw new AppError('session_not_found')
    },
  }
}

function readFilter(query: Omit<AccountQuery, 'query' | 'limit' | 'cursor'>): AccountFilter {
  const flag = (field: 'locked' | 'confirmed') => {
    const text = query[field]
    if (text !== undefined && text !== 'true' && text !== 'false') throw invalid(field)
    return text === undefined ? undefined : text === 'true'
  }
  const roleId = query.role_id === undefined ? undefined : Number(query.role_id)
  if (roleId !== undefined && !isInt(roleId)) throw invalid('role_id')
  return {
    locked: flag('locked'),
    confirmed: flag('confirmed'),
    roleId,
    createdAfter: readTime('created_after', query.created_after),
    createdBefore: readTime('created_before', query.created_before),
  }
}

export const isInt = (number: number) => Number.isInteger(number) && Math.abs(number) < 2 ** 31

/** A JSON object, and no array. */
export const isMetadata = (value: unknown): value is Record<string, unknown> | undefined =>
  value === undefined ||
  (typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Buffer.byteLength(JSON.stringify(value)) <= METADATA_BYTES)

function readChange(patch: AccountPatch): AccountChange {
  const { role_id: roleId, accountable_id: accountableId, metadata, locked_reason: lockedReason } = patch
  const wrong = [
    ...(roleId === undefined || isInt(roleId) ? [] : ['role_id']),
    ...(accountableId === undefined || Number.isSafeInteger(accountableId) ? [] : ['accountable_id']),
  ]
  if (!isMetadata(metadata)) wrong.push('metadata')
  if (wrong.length > 0 || !isMetadata(metadata)) throw invalid(...wrong)
  return {
    roleId,
    accountableType: patch.accountable_type,
    accountableId,
    metadata,
    language: patch.language,
    locked: patch.locked,
    lockedReason,
  }
}

function listedRecord(account: AdministeredAccount, passwordDigest: Parameters<typeof accountRecord>[1]) {
  return {
    ...accountRecord(account, passwordDigest),
    email_verified_at: account.emailConfirmedAt?.toISOString() ?? null,
    phone_verified_at: account.phoneConfirmedAt?.toISOString() ?? null,
    language: account.language,
    metadata: account.metadata,
    has_password: account.passwordDigest !== null,
    locked_reason: account.lockedReason,
  }
}
