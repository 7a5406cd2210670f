/**
 * The work of administrators for people: they make and invite accounts, and let somebody who lost every way in back in.
 */

import { randomUUID } from 'node:crypto'
import type { AccountCodes, CodeWish } from '../../domain/accounts/account-codes/service.ts'
import {
  type Account,
  type Contact,
  channelOf,
  requireOrdinary,
  verifiedContacts,
} from '../../domain/accounts/core/account.ts'
import type { OwnerNotices } from '../../domain/accounts/core/owner-notices.ts'
import { mergeGroups, mergeProfile, readProfile } from '../../domain/accounts/core/profile.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import { isMetadata } from '../../domain/accounts/core/set-fields.ts'
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import { isByCommand, type Usernames } from '../../domain/accounts/core/usernames.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import { checkPassword, createPasswordRules } from '../../domain/foundation/hashing/password.ts'
import type { HashService } from '../../domain/foundation/hashing/service.ts'
import { emailProblem, parseEmail } from '../../domain/foundation/identifiers/email.ts'
import type { Identifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import type { CodeService } from '../../domain/messages/codes/service.ts'
import { parseReachablePhone } from '../../domain/messages/delivery/reach.ts'
import { type AccountClaims, noAccount } from '../../domain/sessions/tokens/account-claims.ts'
import type { RegistrationService } from '../../domain/sign-in/registration/service.ts'
import { claimsOfApplications } from '../../platform/config/applications.ts'
import { serviceName } from '../../platform/config/service-name.ts'
import { parseDuration } from '../../platform/duration.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError, type FieldError } from '../../texts/errors.ts'
import { type AdminCaller, isKeptFromAdministrators } from '../access/access.ts'
import type { AdministratorService } from '../administrators/service.ts'
import type { AccountDetails, NewAccount } from '../directory/directory-schema.ts'
import type { Directory } from '../directory/service.ts'
import type { MadeAccount, PeopleStore } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  roles: Roles
  usernames: Usernames
  accountClaims: AccountClaims
  directory: Directory
  administrators: AdministratorService
  accountCodes: AccountCodes
  codes: CodeService
  hashing: HashService
  limits: LimitService
  notices: OwnerNotices
  registration: Pick<RegistrationService, 'chargeFor' | 'sendFor' | 'contactOf'>
  stores: { people: PeopleStore; accounts: AccountStore; events: EventStore }
}

const HOUR_SECONDS = 3600
const DAY_SECONDS = 24 * HOUR_SECONDS

const lifetimes = {
  recovery: { byDefault: HOUR_SECONDS, atMost: DAY_SECONDS },
  invitation: { byDefault: 7 * DAY_SECONDS, atMost: 30 * DAY_SECONDS },
}

const refusedPuts = {
  not_theirs: 'insufficient_scope',
  taken: 'identifier_taken',
  gone: 'account_not_found',
} as const

export type PeopleService = ReturnType<typeof createPeopleService>

export function createPeopleService(needs: Needs) {
  const { roles, usernames, accountClaims, directory, administrators, accountCodes, codes } = needs
  const { hashing, limits, notices, registration, clock, config } = needs
  const { people, accounts, events } = needs.stores
  const passwordRules = createPasswordRules(config, serviceName(config))

  function readContacts({ email: typedEmail, phone: typedPhone }: NewAccount, fields: FieldError[]) {
    const email = typedEmail ? parseEmail(typedEmail) : null
    const phone = typedPhone ? parseReachablePhone(typedPhone, config) : null
    if (typedEmail && !email) fields.push({ field: 'email', code: emailProblem(typedEmail) })
    if (typedPhone && !phone) fields.push({ field: 'phone', code: 'invalid_phone' })
    if (!typedEmail && !typedPhone) fields.push({ field: 'email', code: 'identifier_required' })
    const identifiers: Identifier[] = [email, phone].filter((one) => one !== null)
    return { email, phone, identifiers }
  }

  function read(body: NewAccount) {
    const fields: FieldError[] = []
    const contacts = readContacts(body, fields)
    const { password, metadata } = body
    if (typeof password === 'string')
      fields.push(...checkPassword(password, password, contacts.identifiers, passwordRules))
    if (!isMetadata(metadata)) fields.push({ field: 'metadata', code: 'invalid_value' })
    const { role_id: roleId, username } = body
    if (roleId !== undefined) fields.push(...refusedFields(() => roles.read('role_id', roleId)))
    if (username)
      fields.push(...refusedFields(() => usernames.read(username, { mayBeReserved: isByCommand() })))
    const [primary] = contacts.identifiers
    if (fields.length > 0 || !isMetadata(metadata) || primary === undefined)
      throw new AppError('validation_failed', { fields })
    return { ...contacts, primary, metadata }
  }

  /** Reads the fields of the account that become claims of tokens. Values that would not fit are refused. */
  function readFields(body: NewAccount, metadata: Record<string, unknown> = {}) {
    const { role_id: role, language = config.server.language } = body
    const fields = {
      roleId: role === undefined ? config.accounts.roleId : roles.read('role_id', role),
      accountableType: body.accountable_type ?? config.accounts.accountableType,
      accountableId: body.accountable_id ?? null,
      username: body.username ? usernames.read(body.username, { mayBeReserved: isByCommand() }) : null,
      groups: body.groups ? mergeGroups(null, body.groups) : null,
    }
    const after = { ...noAccount, ...fields, metadata, language }
    const field = accountClaims.findOverflow(null, after, claimsOfApplications(config))
    if (field !== null) throw new AppError('claims_too_large', { fields: [{ field, code: 'too_long' }] })
    return fields
  }

  function readContact(kind: Identifier['kind'], value: string) {
    const contact = kind === 'email' ? parseEmail(value) : parseReachablePhone(value, config)
    if (contact !== null) return contact
    const code = kind === 'email' ? emailProblem(value) : 'invalid_phone'
    throw new AppError('validation_failed', { fields: [{ field: 'value', code }] })
  }

  /** The verified contacts and the new one are told, and nobody where none is verified. */
  async function noticesOfPut(account: Account, { kind, destination: put }: Identifier) {
    const verified = verifiedContacts(account)
    if (verified.length === 0) return []
    const others = verified.filter(({ destination }) => destination !== put)
    const contacts = [...others, { channel: channelOf(kind), destination: put }]
    return notices.about(account, kind === 'email' ? 'email_changed' : 'phone_changed', { contacts })
  }

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
    /**
     * The old contact and the new one are told. `verified`: the administrator vouches for it. Nobody is told of an account of
     * which nothing is verified; one that waits for its confirmation gets the code at the new contact. `corrects`: the caller
     * may do that alone, to what somebody registered.
     */
    async putContact(
      uuid: string,
      kind: Identifier['kind'],
      { value, verified = false }: { value: string; verified?: boolean | undefined },
      { corrects }: { corrects: boolean },
    ): Promise<AccountDetails> {
      const contact = readContact(kind, value)
      const account = await directory.find(uuid)
      requireOrdinary(account)
      if (corrects && account.accountConfirmedAt !== null) throw new AppError('insufficient_scope')
      const waits = account.accountConfirmedAt === null && !verified
      const sends = waits && (corrects || limits.counters.mayReceive(contact))
      if (sends) await registration.chargeFor(account, contact)
      const [messages] = await Promise.all([noticesOfPut(account, contact), codes.kill(account.uuid)])
      const how = { verified, corrects: corrects ? config.accounts.roleId : null }
      const outcome = await people.putContact(account, contact, how, messages, clock.now())
      if (outcome !== 'put') throw new AppError(refusedPuts[outcome])
      const changed = await directory.find(uuid)
      if (sends) await registration.sendFor(changed)
      return directory.describe(changed)
    },
    /** Sends the code of an account that waits for its confirmation again: any other is `not_resendable`. */
    async resendConfirmation(uuid: string): Promise<void> {
      const account = await directory.find(uuid)
      requireOrdinary(account)
      const contact = registration.contactOf(account)
      if (contact === null) throw new AppError('not_resendable')
      await registration.chargeFor(account, contact)
      await registration.sendFor(account)
      await events.add([{ type: 'confirmation.resent', account: account.uuid }], clock.now())
    },
    /** The only verified contact stays. */
    async removeContact(uuid: string, kind: Identifier['kind']): Promise<AccountDetails> {
      const account = await directory.find(uuid)
      requireOrdinary(account)
      const [messages] = await Promise.all([
        notices.about(account, kind === 'email' ? 'email_removed' : 'phone_removed'),
        codes.kill(account.uuid),
      ])
      const outcome = await people.removeContact(account, kind, messages, clock.now())
      if (outcome === 'gone') throw new AppError('account_not_found')
      if (outcome === 'not_found') throw new AppError('contact_not_found')
      if (outcome === 'last') throw new AppError('last_sign_in_method')
      return directory.describe(await directory.find(uuid))
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
      const sendTo = verifiedContacts(account)[0] ?? waitingContact(account)
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

/** The contact that an account which nobody confirmed waits for. */
function waitingContact({ waitingFor, email, emailKey, phone }: Account): Contact | null {
  if (waitingFor === null) return null
  if (emailKey === waitingFor && email !== null) return { channel: 'email', destination: email }
  return phone === waitingFor ? { channel: 'sms', destination: phone } : null
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

/** The value is read again later: here its refusal joins those of the other fields. */
function refusedFields(read: () => unknown): FieldError[] {
  try {
    read()
    return []
  } catch (error) {
    if (error instanceof AppError && error.details.fields !== undefined) return error.details.fields
    throw error
  }
}
