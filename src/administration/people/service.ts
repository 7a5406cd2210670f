/**
 * The work of administrators for people: they make and invite accounts, and let somebody who lost every way in back in.
 */

import { randomUUID } from 'node:crypto'
import type { AccountCodes, CodeWish } from '../../domain/accounts/account-codes/service.ts'
import {
  type Account,
  type Contact,
  channelOf,
  contactOf,
  mayRemoveContact,
  requireOrdinary,
  verifiedContacts,
  waitingContact,
  waitingIdentifier,
} from '../../domain/accounts/core/account.ts'
import type { OwnerNotices } from '../../domain/accounts/core/owner-notices.ts'
import { mergeProfile, readProfile } from '../../domain/accounts/core/profile.ts'
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import type { HashService } from '../../domain/foundation/hashing/service.ts'
import type { Identifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import type { CodeService } from '../../domain/messages/codes/service.ts'
import type { RegistrationService } from '../../domain/sign-in/registration/service.ts'
import { parseDuration } from '../../platform/duration.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError } from '../../texts/errors.ts'
import { type AdminCaller, isKeptFromAdministrators } from '../access/access.ts'
import type { AdministratorService } from '../administrators/service.ts'
import type { AccountDetails, NewAccount } from '../directory/directory-schema.ts'
import type { Directory } from '../directory/service.ts'
import { createPersonReader, type PersonReader, type ReaderNeeds } from './read-person.ts'
import type { MadeAccount, PeopleStore } from './store.ts'

interface Needs extends Pick<Ground, 'clock'>, ReaderNeeds {
  directory: Directory
  administrators: AdministratorService
  accountCodes: AccountCodes
  codes: CodeService
  hashing: HashService
  limits: LimitService
  notices: OwnerNotices
  registration: Pick<RegistrationService, 'chargeFor' | 'sendFor'>
  stores: { people: PeopleStore; accounts: AccountStore; events: EventStore }
}

const HOUR_SECONDS = 3600
const DAY_SECONDS = 24 * HOUR_SECONDS

const lifetimes = {
  recovery: { byDefault: HOUR_SECONDS, atMost: DAY_SECONDS },
  invitation: { byDefault: 7 * DAY_SECONDS, atMost: 30 * DAY_SECONDS },
}

export type PeopleService = ReturnType<typeof createPeopleService>

export function createPeopleService(needs: Needs) {
  const { directory, administrators, accountCodes, hashing, limits, registration, clock, config } = needs
  const { people, accounts, events } = needs.stores
  const { defaultCountry } = config.accounts
  const { read, readFields, readContact } = createPersonReader(needs)

  const invitation = (
    sendTo: Contact,
    lifetimeSeconds: number = lifetimes.invitation.byDefault,
  ): CodeWish => ({ kind: 'invitation', lifetimeSeconds, sendTo })

  /** It is checked before the account is made, so that a refusal leaves none. */
  function firstInvitation(
    made: Pick<MadeAccount, 'uuid' | 'language' | 'email' | 'phone' | 'verified'>,
    { kind, destination }: Identifier,
  ) {
    const { uuid, language, email, phone, verified } = made
    const verifiedAt = verified ? clock.now() : null
    const holder = {
      uuid,
      language,
      email: email?.destination ?? null,
      emailConfirmedAt: verifiedAt,
      phone: phone?.key ?? null,
      phoneConfirmedAt: verifiedAt,
    }
    return accountCodes.prepare(holder, invitation({ channel: channelOf(kind), destination }))
  }

  return {
    ...createContactWork(needs, readContact),
    /** An account that was made before. An account out of the caller's reach is refused. */
    async show(uuid: string, caller: AdminCaller): Promise<AccountDetails> {
      if (isKeptFromAdministrators(caller) && (await administrators.isAdministrator(uuid)))
        throw new AppError('insufficient_scope')
      return directory.get(uuid)
    },
    /**
     * With `invite` the invitation is sent too, or nothing is made. A username that is, or was, somebody else's:
     * `username_taken`.
     */
    async create(body: NewAccount): Promise<AccountDetails> {
      const { email, phone, identifiers, primary, metadata } = read(body)
      const fields = readFields(body, metadata)
      const profile = body.profile
        ? mergeProfile(null, readProfile(body.profile, { mayHavePicture: true }))
        : null
      if (body.invite && !limits.counters.mayReceive(primary)) throw new AppError('channel_not_available')
      if (await accounts.isTaken(identifiers)) throw new AppError('identifier_taken')
      const uuid = randomUUID()
      if (fields.username && (await people.isUsernameTaken(fields.username, uuid)))
        throw new AppError('username_taken')
      const { password, verified = false, language = config.server.language } = body
      const made = { uuid, email, phone, verified, language }
      const invitation = body.invite ? await firstInvitation(made, primary) : null
      const passwordDigest =
        typeof password === 'string' ? await hashing.hash(password, { owner: true, admitted: true }) : null
      const account = { ...made, passwordDigest, ...fields, metadata, profile }
      if (!(await people.create(account, identifiers, invitation, clock.now())))
        throw new AppError('identifier_taken')
      return directory.describe(await directory.find(uuid))
    },
    /** Sends the code of an account that waits for its confirmation again: any other is `not_resendable`. */
    async resendConfirmation(uuid: string): Promise<void> {
      const account = await directory.find(uuid)
      requireOrdinary(account)
      const contact = waitingIdentifier(account, defaultCountry)
      if (contact === null) throw new AppError('not_resendable')
      await registration.chargeFor(account, contact)
      await registration.sendFor(account)
      await events.add([{ type: 'confirmation.resent', account: account.uuid }], clock.now())
    },
    /**
     * Sends a code with which the person chooses a password; an older one is dead. An account that is confirmed and has a
     * password needs none.
     */
    async invite(
      uuid: string,
      { lifetime }: { lifetime?: string | undefined } = {},
    ): Promise<{ expiresAt: Date }> {
      const lifetimeSeconds = readLifetime(lifetime, lifetimes.invitation)
      const account = await directory.find(uuid)
      requireOrdinary(account)
      if (account.accountConfirmedAt !== null && account.passwordDigest !== null)
        throw new AppError('password_already_set')
      const sendTo = verifiedContacts(account)[0] ?? waitingContact(account, defaultCountry)
      if (sendTo === null) throw new AppError('no_verified_contact')
      return accountCodes.issue(account, invitation(sendTo, lifetimeSeconds))
    },
    /**
     * A code with which the person chooses a new password: shown, or sent to a verified contact. With `removeFactors` its
     * use removes every passkey and identity, otherwise none. It never turns two factors off. An account that nobody
     * confirmed has no way in to recover.
     */
    async recover(
      uuid: string,
      {
        send,
        lifetime,
        removeFactors,
      }: {
        send?: 'email' | 'sms' | undefined
        lifetime?: string | undefined
        removeFactors?: boolean | undefined
      } = {},
    ): Promise<{ code: string | null; expiresAt: Date }> {
      const lifetimeSeconds = readLifetime(lifetime, lifetimes.recovery)
      const account = await directory.find(uuid)
      requireOrdinary(account)
      if (account.accountConfirmedAt === null) throw new AppError('no_verified_contact')
      const sendTo =
        send === undefined ? null : verifiedContacts(account).find(({ channel }) => channel === send)
      if (sendTo === undefined) throw new AppError('no_verified_contact')
      return accountCodes.issue(account, { kind: 'recovery', lifetimeSeconds, sendTo, removeFactors })
    },
  }
}

function readLifetime(
  text: string | undefined,
  { byDefault, atMost }: { byDefault: number; atMost: number },
): number {
  if (text === undefined) return byDefault
  const seconds = (parseDuration(text) ?? 0) / 1000
  if (seconds >= 60 && seconds <= atMost) return seconds
  throw new AppError('validation_failed', { fields: [{ field: 'lifetime', code: 'invalid_value' }] })
}

const refusedPuts = {
  not_theirs: 'insufficient_scope',
  taken: 'identifier_taken',
  gone: 'account_not_found',
} as const

/** The contacts of an account, as administration sets and removes them. */
function createContactWork(needs: Needs, readContact: PersonReader['readContact']) {
  const { directory, codes, limits, notices, registration, clock, config } = needs
  const { people } = needs.stores

  /** The verified contacts and the new one are told, and nobody where none is verified. */
  async function noticesOfPut(account: Account, { kind, destination: put }: Identifier) {
    const verified = verifiedContacts(account)
    if (verified.length === 0) return []
    const others = verified.filter(({ destination }) => destination !== put)
    const contacts = [...others, { channel: channelOf(kind), destination: put }]
    return notices.about(account, kind === 'email' ? 'email_changed' : 'phone_changed', { contacts })
  }

  /**
   * The old contact and the new one are told. `verified`: the administrator vouches for it. Nobody is told of an account of
   * which nothing is verified; one that waits for its confirmation gets the code at the new contact. `corrects`: the caller
   * may do that alone, to what somebody registered.
   */
  async function putContact(
    uuid: string,
    kind: Identifier['kind'],
    { value, verified = false }: { value: string; verified?: boolean | undefined },
    { corrects }: { corrects: boolean },
  ): Promise<AccountDetails> {
    const contact = readContact(kind, value)
    const account = await directory.find(uuid)
    requireOrdinary(account)
    const how = { verified, corrects: corrects ? config.accounts.roleId : null }
    // What is refused counts neither as a code nor as a notice.
    const refusal = await people.refusalOfPut(account, contact, how)
    if (refusal !== null) throw new AppError(refusedPuts[refusal])
    const waits = account.accountConfirmedAt === null && !verified
    const sends = waits && (corrects || limits.counters.mayReceive(contact))
    if (sends) await registration.chargeFor(account, contact)
    const told = await noticesOfPut(account, contact)
    const ends = { notices: told, endCodes: codes.ending(account.uuid) }
    const outcome = await people.putContact(account, contact, how, ends, clock.now())
    if (outcome !== 'put') throw new AppError(refusedPuts[outcome])
    const changed = await directory.find(uuid)
    if (sends) await registration.sendFor(changed)
    return directory.describe(changed)
  }

  async function removeContact(uuid: string, kind: Identifier['kind']): Promise<AccountDetails> {
    const account = await directory.find(uuid)
    requireOrdinary(account)
    if (contactOf(account, kind) === null) throw new AppError('contact_not_found')
    if (!mayRemoveContact(account, kind)) throw new AppError('last_sign_in_method')
    const messages = await notices.about(account, kind === 'email' ? 'email_removed' : 'phone_removed')
    const ends = { notices: messages, endCodes: codes.ending(account.uuid) }
    const outcome = await people.removeContact(account, kind, ends, clock.now())
    if (outcome === 'gone') throw new AppError('account_not_found')
    if (outcome === 'not_found') throw new AppError('contact_not_found')
    if (outcome === 'last') throw new AppError('last_sign_in_method')
    return directory.describe(await directory.find(uuid))
  }

  return { putContact, removeContact }
}
