/**
 * Registration and confirmation: an identifier belongs to the person who verifies it. Answers, work and time are the
 * same whether the identifier is new, waits for its confirmation, or belongs to somebody already.
 */

import { randomBytes, randomUUID } from 'node:crypto'
import { serviceName } from '../../../platform/config/service-name.ts'
import type { Ground } from '../../../platform/ground.ts'
import { AppError, type FieldError } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import type { EntryBody } from '../../accounts/admission/entry-schema.ts'
import { type Decision, nothingDecided } from '../../accounts/admission/question.ts'
import type { Admission, Entry } from '../../accounts/admission/service.ts'
import { type Account, channelOf, destinationOf, provedContact } from '../../accounts/core/account.ts'
import { mergeProfile, type Profile, type ProfilePatch, readProfile } from '../../accounts/core/profile.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { checkPassword, createPasswordRules, normalizePassword } from '../../foundation/hashing/password.ts'
import type { HashService } from '../../foundation/hashing/service.ts'
import { type Email, emailProblem, parseEmail } from '../../foundation/identifiers/email.ts'
import { type Identifier, parseIdentifier, readIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { Phone } from '../../foundation/identifiers/phone.ts'
import {
  type AddressSource,
  type Caller,
  type DeviceSource,
  type Source,
  stranger,
  withPassword,
} from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import { parseReachablePhone } from '../../messages/delivery/reach.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { OpenedSession, SessionOpener } from '../../sessions/core/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import type { NamedPassword, RegistrationStore } from './store.ts'

interface RegisterBody {
  email?: string | null | undefined
  phone?: string | null | undefined
  /** May be left out where accounts may be without one. */
  password?: string | undefined
  confirmation?: string | undefined
  profile?: ProfilePatch | null | undefined
}

type RegistrationBody = RegisterBody & EntryBody

interface ConfirmBody extends EntryBody {
  identifier: string
  otp: string
  password?: string | null | undefined
  signsIn?: boolean | null | undefined
  profile?: ProfilePatch | null | undefined
}

/** The contacts of a registration, and the one to which its code goes. */
interface Contacts {
  email: Email | null
  phone: Phone | null
  primary: Identifier
}

/** The password of a registration as it was hashed, for the browser that made it. */
export interface WaitingPassword {
  /** It is null for a registration without a password. */
  digest: string | null
  emailTag: Uint8Array | null
  phoneTag: Uint8Array | null
}

interface Needs extends Pick<Ground, 'clock' | 'config' | 'secret'> {
  admission: Admission
  codes: CodeService
  events: GatheredEvents
  limits: LimitService
  devices: KnownDevices
  hashing: HashService
  sessionOpener: SessionOpener
  accountClaims: AccountClaims
  outbox: Outbox
  metrics: Metrics
  stores: { accounts: AccountStore; registrations: RegistrationStore }
}

/** The registration and the contact that a confirmation is about. */
interface Confirmation {
  identifier: Identifier
  otp: string
  entry: Entry
  /** The profile that the call names; null: none. */
  profile: Profile | null
  account: Account | null
  /** Nothing that was registered with the contact counts. */
  isForeign: boolean
  caller: Caller
  /** The tag of the password that the call names. */
  tag: Uint8Array | null
}

export type RegistrationService = ReturnType<typeof createRegistrationService>

export function createRegistrationService(needs: Needs) {
  const { codes, events, limits, devices, hashing, sessionOpener, outbox, secret, clock, config, metrics } =
    needs
  const { admission, accountClaims } = needs
  const { accounts, registrations } = needs.stores
  const { defaultCountry, accountableType, roleId, revealExisting } = config.accounts
  const passwordRules = createPasswordRules(config, serviceName(config))

  const maybeWithout = config.accounts.password === 'optional'

  function checkNewPassword(
    { password, confirmation }: RegisterBody,
    identifiers: Identifier[],
  ): FieldError[] {
    if (password === undefined && confirmation === undefined && maybeWithout) return []
    if (password !== undefined && confirmation !== undefined)
      return checkPassword(password, confirmation, identifiers, passwordRules)
    const missing = { password, password_confirmation: confirmation }
    return Object.entries(missing)
      .filter(([, value]) => value === undefined)
      .map(([field]) => ({ field, code: 'required' as const }))
  }

  /** Everything that is wrong with the body, or its identifiers; the code goes to the first of them. */
  function read(body: RegisterBody) {
    const fields: FieldError[] = []
    const email = body.email ? parseEmail(body.email) : null
    const phone = body.phone ? parseReachablePhone(body.phone, config) : null
    if (body.email && !email) fields.push({ field: 'email', code: emailProblem(body.email) })
    if (body.phone && !phone) fields.push({ field: 'phone', code: 'invalid_phone' })
    if (!body.email && !body.phone) fields.push({ field: 'email', code: 'identifier_required' })
    const identifiers = [email, phone].filter((one) => one !== null)
    fields.push(...checkNewPassword(body, identifiers))
    const [primary] = identifiers
    if (fields.length > 0 || primary === undefined) throw new AppError('validation_failed', { fields })
    return { email, phone, primary, identifiers }
  }

  /**
   * Two bytes of a keyed hash: enough to notice that two people used different passwords (one pair in 65,536 goes
   * unnoticed), and too little to search for a password with.
   */
  function passwordTag(contact: Identifier, password: string): Uint8Array {
    const form = normalizePassword(password)
    return secret.tag('waiting password', contact.key, form.ok ? form.password : '').subarray(0, 2)
  }

  /** A registration without a password counts as one with a password that nobody else has. */
  function waitingOf({ email, phone }: Contacts, digest: string | null, password?: string): WaitingPassword {
    const tagOf = (contact: Identifier | null) =>
      contact && (password === undefined ? randomBytes(2) : passwordTag(contact, password))
    return { digest, emailTag: tagOf(email), phoneTag: tagOf(phone) }
  }

  /**
   * The other contact of a registration has a code of its own. Somebody who adds a contact to a registration of
   * somebody else's address must not replace the code that was sent there.
   */
  function subjectOf(account: Account | null, { key }: Identifier): string {
    if (account === null) return codes.decoySubject(key)
    return account.waitingFor === key ? account.uuid : codes.decoySubject(`${account.uuid} ${key}`)
  }

  const contactOf = ({ accountConfirmedAt, waitingFor }: Account): Identifier | null =>
    accountConfirmedAt === null ? parseIdentifier(waitingFor ?? '', defaultCountry) : null

  const confirmationOf = (account: Account | null, identifier: Identifier): CodeBinding => ({
    purpose: 'confirmation',
    group: 'stranger',
    subject: subjectOf(account, identifier),
    destination: destinationOf(account, identifier),
  })

  /**
   * The password that is sent with a code, if there is one: everything that is wrong with it is reported before the
   * code is counted.
   */
  function readNamedPassword({ password, signsIn }: ConfirmBody, identifier: Identifier): string | null {
    const fields: FieldError[] =
      typeof password === 'string'
        ? checkPassword(password, password, [identifier], passwordRules)
        : signsIn && !maybeWithout
          ? [{ field: 'password', code: 'required' }]
          : []
    if (fields.length > 0) throw new AppError('validation_failed', { fields })
    return password ?? null
  }

  function tagOf(identifier: Identifier, password: string | null, waiting: WaitingPassword | undefined) {
    if (waiting) return waitingFor(waiting, identifier)?.tag ?? null
    return password === null ? null : passwordTag(identifier, password)
  }

  async function nameByHashing(identifier: Identifier, password: string | null) {
    if (password === null) return null
    const digest = await hashing.hash(password, { admitted: true })
    return { digest, tag: passwordTag(identifier, password) }
  }

  /**
   * Somebody who confirms, or asks for the code again, on a known device of the contact's owner is not refused for what
   * others did from the same address. An account that waits for its confirmation has no known devices.
   */
  async function callerOf(identifier: Identifier, client: DeviceSource): Promise<Caller> {
    if (client.fingerprint === null) return stranger(client)
    return devices.recognize(await accounts.findByIdentifier(identifier, 'second_step'), client)
  }

  /**
   * A call that lacks the terms, that could sign nobody in, or that the team's own program refuses, is refused after the
   * right code and does not use it up: the same one may come again.
   */
  async function takeCode(confirmation: Confirmation, newUuid: string, signsIn: boolean): Promise<Decision> {
    const { entry, account, identifier, otp, caller, tag } = confirmation
    const waiting = whatCounts(confirmation)
    const binding = confirmationOf(account, identifier)
    const countsOn = account?.uuid ?? binding.subject
    // Any number of registrations may name one other contact: their tries at it are bounded by its name.
    const boundByName = account !== null && account.waitingFor !== identifier.key
    const accepts = await admission.hasAccepted(entry, waiting, identifier, tag)
    const isComplete = !signsIn || account === null || accountClaims.isComplete(account)
    const by = { caller, name: identifier.key, eachAddress: true, boundByName, countsOn }
    const attempt = (keepsRight: boolean) =>
      codes.attempt(binding, otp, { ...by, keepsRight, test: account && entry.test })
    const asks = admission.asks && entry.test === null
    await attempt(!accepts || !isComplete || asks)
    if (!accepts)
      throw (await admission.refusal(entry, identifier, waiting, tag)) ?? new AppError('invalid_code')
    if (!isComplete) accountClaims.require(account)
    if (!asks || account === null) return nothingDecided
    const decision = await decide(confirmation, account, newUuid)
    await attempt(false)
    return decision
  }

  /** Foresees the account as the statement opens it, apart from the registration or not. */
  async function decide(confirmation: Confirmation, account: Account, newUuid: string): Promise<Decision> {
    const { entry, identifier, isForeign, tag, caller, profile } = confirmation
    const { origin, waitingFor: first } = account
    const isApart =
      first !== null &&
      first !== identifier.key &&
      ((isForeign && origin === null) || (await admission.isContested(first, tag)))
    if (origin !== null && !isApart) return nothingDecided
    const isKept = origin !== null || !(isForeign || (await admission.isContested(identifier.key, tag)))
    const waiting = { ...(whatCounts(confirmation) ?? account), origin: null }
    const person = {
      account: isApart ? newUuid : account.uuid,
      contact: provedContact(identifier, destinationOf(account, identifier)),
      provider: null,
      profile: profile ?? (isKept ? account.profile : null),
      language: account.language,
    }
    return admission.decide(entry, { identifier, waiting, tag }, person, caller)
  }

  /** The call must not be refused any more once the code was taken, so the queue was asked for a free place before. */
  async function openBy(
    confirmation: Confirmation,
    name: () => NamedPassword | null | Promise<NamedPassword | null>,
    signsIn: boolean,
    device: Device,
    { address }: { address: string },
  ): Promise<{ hasPassword: boolean; signedIn: OpenedSession | null }> {
    const { entry, profile, account, isForeign, identifier, tag } = confirmation
    const newUuid = randomUUID()
    const decision = await takeCode(confirmation, newUuid, signsIn)
    const named = await name()
    const permit = admission.permit(entry, identifier, decision)
    const by = { permit, newUuid, profile: entry.test ? null : profile, isForeign }
    const opened = account && (await registrations.confirm(account, identifier, named, by, clock.now()))
    if (!opened) {
      const waiting = whatCounts(confirmation)
      const refusal = waiting && (await admission.refusal(entry, identifier, waiting, tag))
      throw refusal ?? new AppError('invalid_code')
    }
    if (entry.test) events.add('test_identity.used', opened)
    const hasPassword = opened.passwordDigest !== null
    if (!signsIn) return { hasPassword, signedIn: null }
    if (opened.lockedAt !== null) throw new AppError('account_locked')
    const amr = named === null ? ['otp'] : ['pwd', 'otp']
    return { hasPassword, signedIn: await sessionOpener.open({ account: opened, device, address, amr }) }
  }

  async function add(
    { email, phone, primary }: Contacts,
    { digest: passwordDigest, emailTag, phoneTag }: WaitingPassword,
    { invitation, terms, profile }: Entry & { profile: Profile | null },
    language: Language,
    { isAlone }: { isAlone: boolean },
  ): Promise<void> {
    const codeSeed = codes.createSeed()
    const invitationId = invitation?.id ?? null
    const { uuid, messageId, contested } = await registrations.register(
      {
        ...{ uuid: randomUUID(), email, phone, passwordDigest, emailTag, phoneTag, language },
        ...{ accountableType, roleId, invitationId, terms, profile, codeSeed, tellsOwner: isAlone },
      },
      clock.now(),
    )
    events.add('registration.contested', contested ? { uuid } : null)
    const { destination } = primary
    const binding = { purpose: 'confirmation', group: 'stranger', subject: uuid, destination } as const
    await outbox.putCode(binding, codeSeed, messageId, { isFirst: !isAlone })
  }

  return {
    async register(body: RegistrationBody, { addressBucket, language }: Source & { language: Language }) {
      const named = parseIdentifier(body.email || body.phone || '', defaultCountry)
      const entry = await admission.readRegistration(body, named, { addressBucket })
      const { identifiers, ...contacts } = read(body)
      const { primary } = contacts
      admission.requireContact(entry, identifiers)
      const profile = newProfile(body.profile)
      const caller = stranger({ addressBucket })
      const { counters } = limits
      const charges = counters.codes(caller, primary, 'confirmation', false)
      await limits.charge([...counters.codeRequests(caller), ...counters.registrations(addressBucket)])
      await limits.charge(charges)
      const passwordDigest = body.password === undefined ? null : await hashing.hash(body.password)
      if (revealExisting && (await accounts.isTaken(identifiers))) throw new AppError('identifier_taken')
      const waiting = waitingOf(contacts, passwordDigest, body.password)
      await add(contacts, waiting, { ...entry, profile }, language, { isAlone: true })
      const channel = channelOf(primary.kind)
      metrics.count('registrations_total', { channel })
      return { channel, waiting }
    },
    /**
     * A password that is sent with the code becomes the password of the account. A rejected one (`validation_failed`) or
     * a full queue (`server_busy`) leaves the code unused. `waiting`: the caller is the browser that registered, and
     * names the password of then.
     */
    async confirm(
      body: ConfirmBody,
      device: Device,
      { address, addressBucket }: AddressSource,
      waiting?: WaitingPassword,
    ): Promise<{ hasPassword: boolean; signedIn: OpenedSession | null }> {
      const identifier = readIdentifier(body.identifier, defaultCountry)
      const password = waiting ? null : readNamedPassword(body, identifier)
      const entry = await admission.read(body, identifier, { addressBucket })
      const profile = newProfile(body.profile)
      const { fingerprint } = device
      await limits.chargeVisit('verification', await callerOf(identifier, { addressBucket, fingerprint }))
      const caller = stranger({ addressBucket })
      if (password !== null) hashing.requireFreePlace()
      const found = await accounts.findByIdentifier(identifier, 'confirmation')
      // The code of a test identity opens what waits for it, and never somebody's registration that names it besides.
      const account = entry.test && found?.waitingFor !== identifier.key ? null : found
      const tag = tagOf(identifier, password, waiting)
      const named = () => (waiting ? waitingFor(waiting, identifier) : nameByHashing(identifier, password))
      const hasNone = body.signsIn === true && password === null && !waiting?.digest
      const isForeign = hasNone && account !== null && namesMore(account, identifier, { invitation: true })
      const confirmation = { identifier, otp: body.otp, entry, profile, account, isForeign, caller, tag }
      return openBy(confirmation, named, body.signsIn === true, device, { address })
    },
    /**
     * Registers the identifier without a password, or does the same work where an account has it. The caller has counted
     * the request, and sends a code to the account, or to nobody, right after it: that one wakes the worker. Otherwise the
     * message of a newcomer would be sent beside the rest of the call, and slow it down.
     */
    async begin(identifier: Identifier, entry: Entry, language: Language): Promise<void> {
      const contacts = {
        email: identifier.kind === 'email' ? identifier : null,
        phone: identifier.kind === 'phone' ? identifier : null,
        primary: identifier,
      }
      const nobodys = { ...entry, profile: null }
      await add(contacts, waitingOf(contacts, null), nobodys, language, { isAlone: false })
      metrics.count('registrations_total', { channel: channelOf(identifier.kind) })
    },
    /**
     * Opens the registration that waits for the identifier, by the code alone, and signs in. The caller has counted the visit.
     */
    async open(identifier: Identifier, otp: string, entry: Entry, device: Device, client: AddressSource) {
      const found = await accounts.findByIdentifier(identifier, 'confirmation')
      // A registration that merely names it as its other contact is nobody's who comes by this contact alone.
      const account = found?.waitingFor === identifier.key ? found : null
      const caller = stranger(client)
      const isForeign = account !== null && namesMore(account, identifier, { invitation: false })
      const confirmation = { identifier, otp, entry, profile: null, account, isForeign, caller, tag: null }
      return (await openBy(confirmation, () => null, true, device, client)).signedIn!
    },
    /**
     * Sends the code of an account that was made for somebody and waits for the identifier; false where none does. It looks
     * for one also where somebody verified the identifier (`isTaken`), since that must not take less time.
     */
    async sendAgain(identifier: Identifier, isTaken: boolean): Promise<boolean> {
      const account = await accounts.findByIdentifier(identifier, 'confirmation')
      const isMade = account !== null && account.origin !== null && account.waitingFor === identifier.key
      if (isTaken || !isMade) return false
      const to = { channel: channelOf(identifier.kind), language: account.language }
      await outbox.sendCode(confirmationOf(account, identifier), to)
      return true
    },
    /**
     * Counts a code that an administrator has sent to this contact, on the contact and on the account. Throws where nothing
     * can be sent there.
     */
    chargeFor: (account: Account, contact: Identifier): Promise<void> =>
      limits.charge(
        limits.counters.codes(withPassword(account, nowhere), contact, 'confirmation', false, {
          hidden: true,
        }),
      ),
    /** Sends the code of an account that waits for a contact; false where it waits for none. The caller has counted it. */
    async sendFor(account: Account): Promise<boolean> {
      const identifier = contactOf(account)
      if (identifier === null) return false
      const to = { channel: channelOf(identifier.kind), language: account.language }
      await outbox.sendCode(confirmationOf(account, identifier), to)
      return true
    },
    /** The contact that an account which nobody confirmed waits for. */
    contactOf,
    /** Does not reveal whether the identifier has an account. */
    async resend({ identifier: typed }: { identifier: string }, client: DeviceSource): Promise<void> {
      const identifier = readIdentifier(typed, defaultCountry)
      const charges = limits.counters.codes(stranger(client), identifier, 'confirmation', false)
      await limits.charge(limits.counters.codeRequests(await callerOf(identifier, client)))
      await limits.charge(charges)
      const account = await accounts.findByIdentifier(identifier, 'confirmation')
      await outbox.sendCode(
        confirmationOf(account, identifier),
        account && { channel: channelOf(identifier.kind), language: account.language },
      )
    },
  }
}

/** An administrator asks: no address is charged. */
const nowhere = { addressBucket: '' }

const newProfile = (typed: ProfilePatch | null | undefined): Profile | null =>
  typed ? mergeProfile(null, readProfile(typed, { mayHavePicture: false })) : null

/**
 * Tells whether the registration holds something that somebody who comes without a password cannot have registered, or
 * cannot be shown to have. The invitation may come from the call with `create` that asked for the code. An account that an
 * administrator or an import made counts only for its password, which somebody else may know.
 */
function namesMore(account: Account, { kind }: Identifier, { invitation }: { invitation: boolean }): boolean {
  if (account.passwordDigest !== null) return true
  const other = kind === 'email' ? account.phone : account.emailKey
  const hasMore = other !== null || account.profile !== null || (invitation && account.invitationId !== null)
  return account.origin === null && hasMore
}

/** The registration, without its invitation and terms where these are foreign. */
const whatCounts = ({ account, isForeign }: Confirmation) =>
  account && isForeign ? { ...account, invitationId: null, termsVersion: null } : account

/** The password that the browser chose when it registered this identifier. */
function waitingFor({ digest, emailTag, phoneTag }: WaitingPassword, { kind }: Identifier) {
  const tag = kind === 'email' ? emailTag : phoneTag
  return digest === null || tag === null ? null : { digest, tag }
}
