/**
 * Registration and confirmation: an identifier belongs to whoever verifies it. Answers, work and time are the same
 * whether the identifier is new, waits for its confirmation, or belongs to somebody already.
 */

import { randomUUID } from 'node:crypto'
import { AppError, type FieldError } from '../../../errors.ts'
import type { Clock } from '../../../platform/clock.ts'
import { serviceName } from '../../../platform/config/service-name.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import type { Language } from '../../../texts/languages.ts'
import { type Account, channelOf, contactOf } from '../../accounts/accounts/account.ts'
import type { AccountStore } from '../../accounts/accounts/store.ts'
import type { Admission, Entry, EntryBody } from '../../accounts/admission/service.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { checkPassword, createPasswordRules, normalizePassword } from '../../foundation/hashing/password.ts'
import type { HashService } from '../../foundation/hashing/service.ts'
import { emailProblem, parseEmail } from '../../foundation/identifiers/email.ts'
import { type Identifier, readIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import { type Caller, stranger } from '../../limits/limits/callers.ts'
import type { LimitService } from '../../limits/limits/service.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import { parseReachablePhone } from '../../messages/delivery/reach.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { Device } from '../../sessions/sessions/session.ts'
import type { LogInAnswer, SessionOpener } from '../../sessions/sessions/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import type { NamedPassword, RegistrationStore } from './store.ts'

export interface RegisterBody {
  email?: string | null | undefined
  phone?: string | null | undefined
  password: string
  password_confirmation: string
}

export type RegistrationBody = RegisterBody & EntryBody

export interface ConfirmBody extends EntryBody {
  identifier: string
  otp: string
  password?: string | null | undefined
  sign_in?: boolean | null | undefined
}

/** What a registration needs to know about the calling client. */
interface Client {
  address: string
  addressBucket: string
  language: Language
}

/** The password of a registration as it was hashed, for the browser that made it. */
export interface WaitingPassword {
  digest: string
  emailTag: Uint8Array | null
  phoneTag: Uint8Array | null
}

export interface RegistrationService {
  register(
    body: RegistrationBody,
    client: Client,
  ): Promise<{ channel: 'email' | 'sms'; waiting: WaitingPassword }>
  /**
   * A password that is sent with the code becomes the password of the account. A rejected one (`validation_failed`) or
   * a full queue (`server_busy`) leaves the code unused. `waiting`: the caller is the browser that registered, and
   * names the password of then.
   */
  confirm(
    body: ConfirmBody,
    device: Device,
    client: Pick<Client, 'address' | 'addressBucket'>,
    waiting?: WaitingPassword,
  ): Promise<{ hasPassword: boolean; signedIn: LogInAnswer | null }>
  /** Does not reveal whether the identifier has an account. */
  resend(
    body: { identifier: string },
    client: { addressBucket: string; fingerprint: string | null },
  ): Promise<void>
}

interface Needs {
  admission: Admission
  codes: CodeService
  events: GatheredEvents
  limits: LimitService
  devices: KnownDevices
  hashing: HashService
  sessionOpener: SessionOpener
  accountClaims: AccountClaims
  outbox: Outbox
  secret: ServerSecret
  clock: Clock
  config: Config
  metrics: Metrics
  stores: { accounts: AccountStore; registrations: RegistrationStore }
}

/** What a confirmation is about. */
interface Confirmed {
  entry: Entry
  account: Account | null
  identifier: Identifier
  tag: Uint8Array | null
}

export function createRegistrationService(needs: Needs): RegistrationService {
  const { codes, events, limits, devices, hashing, sessionOpener, outbox, secret, clock, config, metrics } =
    needs
  const { admission, accountClaims } = needs
  const { accounts, registrations } = needs.stores
  const { defaultCountry, accountableType, roleId, revealExisting } = config.accounts
  const passwordRules = createPasswordRules(config, serviceName(config))

  /** Everything that is wrong with the body, or its identifiers; the code goes to the first of them. */
  function read(body: RegisterBody) {
    const fields: FieldError[] = []
    const email = body.email ? parseEmail(body.email) : null
    const phone = body.phone ? parseReachablePhone(body.phone, config) : null
    if (body.email && !email) fields.push({ field: 'email', code: emailProblem(body.email) })
    if (body.phone && !phone) fields.push({ field: 'phone', code: 'invalid_phone' })
    if (!body.email && !body.phone) fields.push({ field: 'email', code: 'identifier_required' })
    const identifiers = [email, phone].filter((one) => one !== null)
    fields.push(...checkPassword(body.password, body.password_confirmation, identifiers, passwordRules))
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

  /**
   * The other contact of a registration has a code of its own: somebody who adds a contact to a registration of
   * somebody else's address must not replace the code that was sent there.
   */
  function subjectOf(account: Account | null, { key }: Identifier): string {
    if (account === null) return codes.decoySubject(key)
    return account.waitingFor === key ? account.uuid : codes.decoySubject(`${account.uuid} ${key}`)
  }

  const confirmationOf = (account: Account | null, identifier: Identifier): CodeBinding => ({
    purpose: 'confirmation',
    group: 'stranger',
    subject: subjectOf(account, identifier),
    destination: (account && contactOf(account, identifier.kind)) ?? identifier.key,
  })

  /**
   * The password that is sent with a code, if there is one: everything that is wrong with it is reported before the
   * code is counted.
   */
  function readNamedPassword({ password, sign_in }: ConfirmBody, identifier: Identifier): string | null {
    const fields: FieldError[] =
      typeof password === 'string'
        ? checkPassword(password, password, [identifier], passwordRules)
        : sign_in
          ? [{ field: 'password', code: 'required' }]
          : []
    if (fields.length > 0) throw new AppError('validation_failed', { fields })
    return password ?? null
  }

  function tagOf(identifier: Identifier, password: string | null, waiting: WaitingPassword | undefined) {
    if (waiting) return waitingFor(waiting, identifier)?.tag ?? null
    return password === null ? null : passwordTag(identifier, password)
  }

  async function nameByHashing(
    identifier: Identifier,
    password: string | null,
  ): Promise<NamedPassword | null> {
    if (password === null) return null
    const digest = await hashing.hash(password, { admitted: true })
    return { digest, tag: passwordTag(identifier, password) }
  }

  /**
   * Somebody who confirms, or asks for the code again, on a device with which the owner of the contact signs in, is
   * not refused for what others did from the same address. An account that waits for its confirmation has no known
   * devices.
   */
  async function callerOf(
    identifier: Identifier,
    client: { addressBucket: string; fingerprint: string | null },
  ): Promise<Caller> {
    if (client.fingerprint === null) return stranger(client)
    return devices.recognize(await accounts.findByIdentifier(identifier, 'second_step'), client)
  }

  /**
   * A call that lacks the terms, or that could sign nobody in, is refused after the right code and does not use it up: the
   * same one may come again.
   */
  async function takeCode(
    binding: CodeBinding,
    { otp, sign_in }: ConfirmBody,
    by: Parameters<CodeService['take']>[2],
    { entry, account, identifier, tag }: Confirmed,
  ): Promise<void> {
    const accepts = await admission.hasAccepted(entry, account, identifier, tag)
    const isComplete = !sign_in || account === null || accountClaims.isComplete(account)
    await codes.take(binding, otp, { ...by, keepsRight: !accepts || !isComplete })
    if (!accepts)
      throw (await admission.refusal(entry, identifier, account, tag)) ?? new AppError('invalid_code')
    if (!isComplete) accountClaims.require(account)
  }

  return {
    async register(body, { addressBucket, language }) {
      const entry = await admission.readRegistration(body, { addressBucket })
      const { email, phone, primary, identifiers } = read(body)
      admission.requireContact(entry.domain, identifiers)
      const caller = stranger({ addressBucket })
      const { counters } = limits
      const charges = counters.codes(caller, primary, 'confirmation', false)
      await limits.charge([...counters.codeRequests(caller), ...counters.registrations(addressBucket)])
      await limits.charge(charges)
      const passwordDigest = await hashing.hash(body.password)
      if (revealExisting && (await accounts.isTaken(identifiers))) throw new AppError('identifier_taken')
      const codeSeed = codes.createSeed()
      const waiting = {
        digest: passwordDigest,
        emailTag: email && passwordTag(email, body.password),
        phoneTag: phone && passwordTag(phone, body.password),
      }
      const { uuid, messageId, contested } = await registrations.register(
        {
          uuid: randomUUID(),
          email,
          phone,
          passwordDigest,
          emailTag: waiting.emailTag,
          phoneTag: waiting.phoneTag,
          language,
          accountableType,
          roleId,
          invitationId: entry.invitation?.id ?? null,
          terms: entry.terms,
          codeSeed,
        },
        clock.now(),
      )
      events.add('registration.contested', contested ? { uuid } : null)
      const { destination } = primary
      await outbox.putCode(
        { purpose: 'confirmation', group: 'stranger', subject: uuid, destination },
        codeSeed,
        messageId,
      )
      const channel = channelOf(primary.kind)
      metrics.count('registrations_total', { channel })
      return { channel, waiting }
    },

    async confirm(body, device, { address, addressBucket }, waiting) {
      const identifier = readIdentifier(body.identifier, defaultCountry)
      const password = waiting ? null : readNamedPassword(body, identifier)
      const entry = await admission.read(body, identifier, { addressBucket })
      const { fingerprint } = device
      await limits.chargeVisit('verification', await callerOf(identifier, { addressBucket, fingerprint }))
      const caller = stranger({ addressBucket })
      if (password !== null) hashing.requireRoom()
      const account = await accounts.findByIdentifier(identifier, 'confirmation')
      const binding = confirmationOf(account, identifier)
      const countsOn = account?.uuid ?? binding.subject
      // Any number of registrations may name one other contact: their tries at it are bounded by its name.
      const boundByName = account !== null && account.waitingFor !== identifier.key
      const by = { caller, name: identifier.key, eachAddress: true, boundByName }
      const tag = tagOf(identifier, password, waiting)
      await takeCode(binding, body, { ...by, countsOn }, { entry, account, identifier, tag })
      // After the code was taken the call must not be refused any more, so the queue was asked for room before.
      const named = waiting ? waitingFor(waiting, identifier) : await nameByHashing(identifier, password)
      const permit = admission.permit(entry, identifier)
      const confirmed =
        account && (await registrations.confirm(account, identifier, named, { permit }, clock.now()))
      if (!confirmed)
        throw (
          (account && (await admission.refusal(entry, identifier, account, tag))) ??
          new AppError('invalid_code')
        )
      const hasPassword = confirmed.passwordDigest !== null
      if (!body.sign_in) return { hasPassword, signedIn: null }
      if (confirmed.lockedAt !== null) throw new AppError('account_locked')
      const signedIn = await sessionOpener.open({ account: confirmed, device, address, amr: ['pwd', 'otp'] })
      return { hasPassword, signedIn }
    },

    async resend({ identifier: typed }, client) {
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

/** The password that the browser chose when it registered this identifier. */
function waitingFor(
  { digest, emailTag, phoneTag }: WaitingPassword,
  { kind }: Identifier,
): NamedPassword | null {
  const tag = kind === 'email' ? emailTag : phoneTag
  return tag && { digest, tag }
}
