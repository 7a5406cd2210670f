/** The changes that operators make to accounts. The caller has been let in; the event of each change names them. */

import { type Admission, noEntry } from '../../domain/accounts/admission/service.ts'
import {
  type Contact,
  mayRemoveContact,
  requireOrdinary,
  verifiedContacts,
  waitingContact,
  waitingIdentifier,
} from '../../domain/accounts/core/account.ts'
import type { OwnerNotices } from '../../domain/accounts/core/owner-notices.ts'
import { type Page, type PageQuery, pageOf, readPage, toPage } from '../../domain/foundation/events/page.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import type { RefusedAddresses } from '../../domain/messages/delivery/refused-addresses.ts'
import type { Exports } from '../../domain/self-service/me/exports.ts'
import type { AccountExport } from '../../domain/self-service/me/me-schema.ts'
import type { ErasureStore } from '../../domain/self-service/me/store.ts'
import type { ListedSession } from '../../domain/sessions/core/session.ts'
import type { SessionStore } from '../../domain/sessions/core/store.ts'
import type { SecondFactor } from '../../domain/sign-in/core/second-factor.ts'
import type { RegistrationStore } from '../../domain/sign-in/registration/store.ts'
import type { UndoService } from '../../domain/sign-in/undo/service.ts'
import type { Ground } from '../../platform/ground.ts'
import { invalid, readOneOf } from '../../platform/http/read-values.ts'
import type { Executor } from '../../platform/postgres/database.ts'
import { keepFor } from '../../platform/waiting.ts'
import { AppError } from '../../texts/errors.ts'
import { readAccountUuid } from '../access/access.ts'
import type { AdministratorStore } from '../administrators/store.ts'
import type { Refusals } from '../limit-lifts/refusals.ts'
import {
  type AccountDetails,
  type AccountPatch,
  type AccountQuery,
  contactChangeRecord,
  contactKinds,
  type ListedAccount,
  listedRecord,
  refusalRecord,
  refusedAtRecord,
} from './directory-schema.ts'
import { createPatchReader, given, OF_TEST_ACCOUNTS, type PatchNeeds } from './patch.ts'
import { readSearch } from './search.ts'
import type { AccountFilter, AccountSearch, AdministeredAccount, DirectoryStore } from './store.ts'
import { createViewRecorder } from './view-recorder.ts'

interface Needs extends Pick<Ground, 'clock'>, PatchNeeds {
  admission: Admission
  exports: Exports
  secondFactor: SecondFactor
  undo: Pick<UndoService, 'changesOf'>
  notices: OwnerNotices
  refusedAddresses: RefusedAddresses
  refusals: Refusals
  stores: {
    registrations: RegistrationStore
    administrators: Pick<AdministratorStore, 'list'>
    directory: DirectoryStore
    erasure: ErasureStore
    sessions: SessionStore
    events: EventStore
  }
}

/** How the service finds an account; `view`: a look that is recorded. */
type Found = Record<'require' | 'view', (uuid: string) => Promise<AdministeredAccount>>

const NAMES_PERSON: ReadonlySet<string> = new Set(['email', 'phone', 'uuid', 'id'])

/** Tells whether the search meant this very person: showing them is a look. */
const isMeant = (search: AccountSearch, { id }: { id: number }): boolean =>
  search.by === 'part' ? search.id === id : NAMES_PERSON.has(search.by)

const GROUPS_KEPT_MS = 60_000
const MAXIMUM_SESSIONS = 1000
const MAXIMUM_ADMINISTRATORS = 1000
/** So many people's messages or events are read at once. */
const MAXIMUM_PEOPLE = 20

/** The contacts that are verified once the account is confirmed, which it may be already. */
function contactsOnceConfirmed(account: AdministeredAccount, defaultCountry: string): Contact[] {
  if (account.accountConfirmedAt !== null) return verifiedContacts(account)
  const waiting = waitingContact(account, defaultCountry)
  return waiting ? [waiting] : []
}

export type Directory = ReturnType<typeof createDirectory>

export function createDirectory(needs: Needs) {
  const { admission, roles, exports, secondFactor, notices } = needs
  const { undo, refusedAddresses, refusals, clock, config, stores } = needs
  const { directory: store, administrators, erasure, events } = stores
  const { defaultCountry, passwordDigest } = config.accounts
  const views = createViewRecorder({ events, clock })
  const readPatch = createPatchReader(needs)

  const groups = keepFor(clock, GROUPS_KEPT_MS, store.listGroups)

  const listed = (account: AdministeredAccount) => listedRecord(account, passwordDigest, roles)

  async function require(uuid: string): Promise<AdministeredAccount> {
    const account = await store.find(readAccountUuid(uuid))
    if (account === null) throw new AppError('account_not_found')
    return account
  }

  const listAdministrators = async () =>
    (await administrators.list(null, MAXIMUM_ADMINISTRATORS)).map(({ uuid }) => uuid)

  async function firstThatFinds(
    searches: AccountSearch[],
    filter: AccountFilter,
    before: number | null,
    limit: number,
  ): Promise<{ search: AccountSearch; found: AdministeredAccount[] }> {
    const [search, ...others] = searches as [AccountSearch, ...AccountSearch[]]
    const found = await store.list(search, filter, before, limit)
    if (found.length > 0 || others.length === 0) return { search, found }
    return firstThatFinds(others, filter, before, limit)
  }

  async function describe(account: AdministeredAccount): Promise<AccountDetails> {
    const [held, changes, { passkeys, identities, sessions }, limits, refusedAt] = await Promise.all([
      secondFactor.find(account),
      undo.changesOf(account),
      erasure.count(account.id, clock.now()),
      refusals.of(account.uuid),
      account.email === null ? null : refusedAddresses.findRefusal(account.email),
    ])
    const factors = account.twoFactorEnabled ? secondFactor.methods(held, true) : []
    return {
      ...listed(account),
      factors,
      ...{ passkeys, identities, sessions, recovery_codes: held.recoveryCodesLeft },
      limits: limits.map(refusalRecord),
      ...refusedAtRecord(refusedAt),
      removable_contacts: contactKinds.filter((kind) => mayRemoveContact(account, kind)),
      ...(changes.length > 0 && { contact_changes: changes.map(contactChangeRecord) }),
      ...(held.stored.removalAt && { removal_at: held.stored.removalAt.toISOString() }),
    }
  }

  /** A contested registration keeps no password: the administrator vouches for the contact, and for nothing else. */
  async function confirm(transaction: Executor, account: AdministeredAccount): Promise<void> {
    const identifier = waitingIdentifier(account, defaultCountry)
    if (identifier === null) throw new AppError('no_verified_contact')
    const confirmed = await stores.registrations.confirmByAdministrator(
      transaction,
      account,
      identifier,
      admission.permit(noEntry, null),
      clock.now(),
    )
    if (confirmed === null) throw new AppError('identifier_taken')
  }

  async function view(uuid: string): Promise<AdministeredAccount> {
    const account = await require(uuid)
    await views.record(account)
    return account
  }

  return {
    /** For suggestions, where a role or a group is typed. */
    roles: async () => ({ roles: roles.named(), groups: await groups() }),
    async list(query: AccountQuery): Promise<Page<ListedAccount>> {
      const { limit, after } = readPage(query)
      const isLimited = readOneOf('limited', query.limited, ['true']) !== undefined
      const isTeam = readOneOf('administrator', query.administrator, ['true']) !== undefined
      const team = isTeam ? await listAdministrators() : null
      const among = isLimited ? [...(await refusals.limitedAmong(team))] : team
      const { searches, filter } = readSearch(query, among, defaultCountry, roles)
      const { search, found } = await firstThatFinds(searches, filter, after, limit + 1)
      const [limited, methods] = await Promise.all([
        refusals.limitedAmong(found.map(({ uuid }) => uuid)),
        secondFactor.listMethods(found),
      ])
      const page = toPage(found, limit, (account) => ({
        ...listed(account),
        factors: methods.get(account.uuid) ?? [],
        ...(limited.has(account.uuid) && { limited: true as const }),
      }))
      for (const account of page.items) if (isMeant(search, account)) await views.record(account)
      await views.recordList(page.items.length)
      return page
    },
    /** The newest accounts that a search finds, by uuid: whose messages or events are asked for. One may be gone. */
    async uuidsOf(query: string): Promise<string[]> {
      if (isUuid(query)) {
        const account = await store.find(query)
        if (account !== null) await views.record(account)
        return [query]
      }
      const { searches, filter } = readSearch({ query }, null, defaultCountry, roles)
      const { search, found } = await firstThatFinds(searches, filter, null, MAXIMUM_PEOPLE)
      for (const account of found) if (isMeant(search, account)) await views.record(account)
      await views.recordList(found.length)
      return found.map(({ uuid }) => uuid)
    },
    /** The account must exist, as for all that follow. */
    find: require,
    /** The same for a look at the person, which is recorded once an hour for each who looks. */
    view,
    /** Counts people whom a list of another kind showed. */
    recordList: views.recordList,
    describe,
    /** A look that is recorded. */
    get: async (uuid: string): Promise<AccountDetails> => describe(await view(uuid)),
    /**
     * Locking ends every session; unlocking tells the owner. Confirming verifies the contact that the account waits for,
     * as its code would. A username that is, or was, somebody else's: `username_taken`. Claims of tokens that would not
     * fit: `claims_too_large`.
     */
    async change(uuid: string, patch: AccountPatch): Promise<AccountDetails> {
      const { locked, username, plan } = readPatch(patch)
      const account = await require(uuid)
      if (given(patch).some((field) => !OF_TEST_ACCOUNTS.has(field))) requireOrdinary(account)
      const isLocked = locked ?? account.lockedAt !== null
      if (patch.locked_reason != null && !isLocked) throw invalid('locked_reason')
      const unlocks = locked === false && account.lockedAt !== null
      // What these refuse is refused before the notice is counted.
      plan(account)
      if (username && (await store.isUsernameTaken(username, account.uuid)))
        throw new AppError('username_taken')
      const contacts = patch.confirmed
        ? contactsOnceConfirmed(account, defaultCountry)
        : verifiedContacts(account)
      const messages = unlocks ? await notices.about(account, 'account_unlocked', { contacts }) : []
      const work = { plan, confirm: patch.confirmed ? confirm : null }
      const changed = await store.change(account, work, messages, clock.now())
      if (changed === null) throw new AppError('account_not_found')
      // The answer shows the person: without a change to record, it is a look like any other.
      if (!changed.isRecorded) await views.record(changed.account)
      return describe(changed.account)
    },
    /** Everything that is stored about the person. */
    export: async (uuid: string): Promise<AccountExport> => exports.ofAccount(await require(uuid)),
    /** It cannot be undone. */
    async erase(uuid: string): Promise<void> {
      const account = await require(uuid)
      const messages = await notices.about(account, 'account_erased')
      if (!(await erasure.erase({ account, sessionId: null }, messages, clock.now())))
        throw new AppError('account_not_found')
    },
    ...createSessionList(needs, { require, view }),
  }
}

/** The sessions of an account. */
function createSessionList({ clock, stores: { sessions } }: Needs, { require, view }: Found) {
  /** Lists first the sessions used last. */
  async function listSessions(uuid: string, query: PageQuery): Promise<Page<ListedSession>> {
    const account = await view(uuid)
    const all = await sessions.list(account.id, MAXIMUM_SESSIONS, clock.now())
    const keyOf = ({ lastUsedAt, id }: ListedSession) => `${lastUsedAt.toISOString()} ${id}`
    return pageOf(query, all, { list: 'sessions', keyOf, newestFirst: true })
  }

  async function endSessions(uuid: string): Promise<void> {
    const account = await require(uuid)
    await sessions.endAll(account.id, clock.now())
  }

  async function endSession(uuid: string, sessionId: string): Promise<void> {
    const account = await require(uuid)
    const ended = isUuid(sessionId) && (await sessions.end(sessionId, account.uuid, clock.now()))
    if (!ended) throw new AppError('session_not_found')
  }

  return { listSessions, endSessions, endSession }
}
