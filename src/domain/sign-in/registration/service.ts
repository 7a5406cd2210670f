/**
 * Registration and confirmation: an identifier belongs to the person who verifies it. Answers, work and time are the
 * same whether the identifier is new, waits for its confirmation, or belongs to somebody already.
 */

import { randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import type { Admission, Entry } from '../../accounts/admission/service.ts'
import { type Account, channelOf, waitingIdentifier } from '../../accounts/core/account.ts'
import type { Profile } from '../../accounts/core/profile.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import type { HashService } from '../../foundation/hashing/service.ts'
import { type Identifier, parseIdentifier, readIdentifier } from '../../foundation/identifiers/identifier.ts'
import { type DeviceSource, type Source, stranger, withPassword } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { CodeService } from '../../messages/codes/service.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { SessionOpener } from '../../sessions/core/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import { type Contacts, createBodyReader, newProfile, type RegistrationBody } from './bodies.ts'
import { confirmationOf, createConfirmation } from './confirmation.ts'
import type { RegistrationStore } from './store.ts'
import { createPasswordTags, type WaitingPassword } from './waiting-password.ts'

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

export type RegistrationService = ReturnType<typeof createRegistrationService>

export function createRegistrationService(needs: Needs) {
  const { admission, codes, events, limits, hashing, outbox, clock, config, metrics } = needs
  const { accounts, registrations } = needs.stores
  const { defaultCountry, accountableType, roleId, revealExisting } = config.accounts
  const bodies = createBodyReader(config)
  const tags = createPasswordTags(needs)
  const { confirm, open, callerOf } = createConfirmation(needs, bodies, tags)

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

  async function register(
    body: RegistrationBody,
    { addressBucket, language }: Source & { language: Language },
  ) {
    const named = parseIdentifier(body.email || body.phone || '', defaultCountry)
    const entry = await admission.readRegistration(body, named, { addressBucket })
    const { identifiers, ...contacts } = bodies.readContacts(body)
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
    const waiting = tags.waitingOf(contacts, passwordDigest, body.password)
    await add(contacts, waiting, { ...entry, profile }, language, { isAlone: true })
    const channel = channelOf(primary.kind)
    metrics.count('registrations_total', { channel })
    return { channel, waiting }
  }

  /**
   * Registers the identifier without a password, or does the same work where an account has it. The caller has counted
   * the request, and sends a code to the account, or to nobody, right after it: that one wakes the worker. Otherwise the
   * message of a newcomer would be sent beside the rest of the call, and slow it down.
   */
  async function begin(identifier: Identifier, entry: Entry, language: Language): Promise<void> {
    const contacts = {
      email: identifier.kind === 'email' ? identifier : null,
      phone: identifier.kind === 'phone' ? identifier : null,
      primary: identifier,
    }
    const nobodys = { ...entry, profile: null }
    await add(contacts, tags.waitingOf(contacts, null), nobodys, language, { isAlone: false })
    metrics.count('registrations_total', { channel: channelOf(identifier.kind) })
  }

  /**
   * Sends the code of an account that was made for somebody and waits for the identifier; false where none does. It looks
   * for one also where somebody verified the identifier (`isTaken`), since that must not take less time.
   */
  async function sendAgain(identifier: Identifier, isTaken: boolean): Promise<boolean> {
    const account = await accounts.findByIdentifier(identifier, 'confirmation')
    const isMade = account !== null && account.origin !== null && account.waitingFor === identifier.key
    if (isTaken || !isMade) return false
    const to = { channel: channelOf(identifier.kind), language: account.language }
    await outbox.sendCode(confirmationOf(codes, account, identifier), to)
    return true
  }

  /**
   * Counts a code that an administrator has sent to this contact, on the contact and on the account. Throws where nothing
   * can be sent there.
   */
  function chargeFor(account: Account, contact: Identifier): Promise<void> {
    const caller = withPassword(account, nowhere)
    return limits.charge(limits.counters.codes(caller, contact, 'confirmation', false, { hidden: true }))
  }

  /** Sends the code of an account that waits for a contact; false where it waits for none. The caller has counted it. */
  async function sendFor(account: Account): Promise<boolean> {
    const identifier = waitingIdentifier(account, defaultCountry)
    if (identifier === null) return false
    const to = { channel: channelOf(identifier.kind), language: account.language }
    await outbox.sendCode(confirmationOf(codes, account, identifier), to)
    return true
  }

  /** Does not reveal whether the identifier has an account. */
  async function resend({ identifier: typed }: { identifier: string }, client: DeviceSource): Promise<void> {
    const identifier = readIdentifier(typed, defaultCountry)
    const charges = limits.counters.codes(stranger(client), identifier, 'confirmation', false)
    await limits.charge(limits.counters.codeRequests(await callerOf(identifier, client)))
    await limits.charge(charges)
    const account = await accounts.findByIdentifier(identifier, 'confirmation')
    await outbox.sendCode(
      confirmationOf(codes, account, identifier),
      account && { channel: channelOf(identifier.kind), language: account.language },
    )
  }

  return { register, confirm, begin, open, sendAgain, chargeFor, sendFor, resend }
}

/** An administrator asks: no address is charged. */
const nowhere = { addressBucket: '' }
