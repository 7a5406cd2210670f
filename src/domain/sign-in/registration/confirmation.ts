/** Confirming a contact: the code is taken, and the account opened, apart from the registration where others named it too. */

import { randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import { type Decision, nothingDecided } from '../../accounts/admission/question.ts'
import type { Admission, Entry } from '../../accounts/admission/service.ts'
import { type Account, destinationOf, provedContact } from '../../accounts/core/account.ts'
import type { Profile } from '../../accounts/core/profile.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import type { HashService } from '../../foundation/hashing/service.ts'
import { type Identifier, readIdentifier } from '../../foundation/identifiers/identifier.ts'
import {
  type AddressSource,
  type Caller,
  type DeviceSource,
  stranger,
} from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { OpenedSession, SessionOpener } from '../../sessions/core/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import { type BodyReader, type ConfirmBody, newProfile } from './bodies.ts'
import type { NamedPassword, RegistrationStore } from './store.ts'
import { type PasswordTags, type WaitingPassword, waitingFor } from './waiting-password.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  admission: Admission
  codes: CodeService
  events: GatheredEvents
  limits: LimitService
  devices: KnownDevices
  hashing: HashService
  sessionOpener: SessionOpener
  accountClaims: AccountClaims
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

type Decoys = Pick<CodeService, 'decoySubject'>

/**
 * The other contact of a registration has a code of its own. Somebody who adds a contact to a registration of
 * somebody else's address must not replace the code that was sent there.
 */
function subjectOf(codes: Decoys, account: Account | null, { key }: Identifier): string {
  if (account === null) return codes.decoySubject(key)
  return account.waitingFor === key ? account.uuid : codes.decoySubject(`${account.uuid} ${key}`)
}

/** The code by which the identifier is confirmed. */
export const confirmationOf = (
  codes: Decoys,
  account: Account | null,
  identifier: Identifier,
): CodeBinding => ({
  purpose: 'confirmation',
  group: 'stranger',
  subject: subjectOf(codes, account, identifier),
  destination: destinationOf(account, identifier),
})

export type ConfirmationService = ReturnType<typeof createConfirmation>

export function createConfirmation(needs: Needs, bodies: BodyReader, tags: PasswordTags) {
  const { admission, codes, events, limits, devices, hashing, sessionOpener, accountClaims, clock } = needs
  const { accounts, registrations } = needs.stores
  const { defaultCountry } = needs.config.accounts

  async function nameByHashing(identifier: Identifier, password: string | null) {
    if (password === null) return null
    const digest = await hashing.hash(password, { admitted: true })
    return { digest, tag: tags.passwordTag(identifier, password) }
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
    const binding = confirmationOf(codes, account, identifier)
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
    const { entry, identifier, tag, caller } = confirmation
    const foreseen = await registrations.foresee(account, identifier, confirmation)
    if (foreseen === null || (account.origin !== null && !foreseen.isApart)) return nothingDecided
    const waiting = { ...(whatCounts(confirmation) ?? account), origin: null }
    const person = {
      account: foreseen.isApart ? newUuid : account.uuid,
      contact: provedContact(identifier, destinationOf(account, identifier)),
      provider: null,
      profile: foreseen.profile,
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

  /**
   * A password that is sent with the code becomes the password of the account. A rejected one (`validation_failed`) or
   * a full queue (`server_busy`) leaves the code unused. `waiting`: the caller is the browser that registered, and
   * names the password of then.
   */
  async function confirm(
    body: ConfirmBody,
    device: Device,
    { address, addressBucket }: AddressSource,
    waiting?: WaitingPassword,
  ): Promise<{ hasPassword: boolean; signedIn: OpenedSession | null }> {
    const identifier = readIdentifier(body.identifier, defaultCountry)
    const password = waiting ? null : bodies.readNamedPassword(body, identifier)
    const entry = await admission.read(body, identifier, { addressBucket })
    const profile = newProfile(body.profile)
    const { fingerprint } = device
    await limits.chargeVisit('verification', await callerOf(identifier, { addressBucket, fingerprint }))
    const caller = stranger({ addressBucket })
    if (password !== null) hashing.requireFreePlace()
    const found = await accounts.findByIdentifier(identifier, 'confirmation')
    // The code of a test identity opens what waits for it, and never somebody's registration that names it besides.
    const account = entry.test && found?.waitingFor !== identifier.key ? null : found
    const tag = tags.tagOf(identifier, password, waiting)
    const named = () => (waiting ? waitingFor(waiting, identifier) : nameByHashing(identifier, password))
    const hasNone = body.signsIn === true && password === null && !waiting?.digest
    const isForeign = hasNone && account !== null && namesMore(account, identifier, { invitation: true })
    const confirmation = { identifier, otp: body.otp, entry, profile, account, isForeign, caller, tag }
    return openBy(confirmation, named, body.signsIn === true, device, { address })
  }

  /**
   * Opens the registration that waits for the identifier, by the code alone, and signs in. The caller has counted the visit.
   */
  async function open(
    identifier: Identifier,
    otp: string,
    entry: Entry,
    device: Device,
    client: AddressSource,
  ) {
    const found = await accounts.findByIdentifier(identifier, 'confirmation')
    // A registration that merely names it as its other contact is nobody's who comes by this contact alone.
    const account = found?.waitingFor === identifier.key ? found : null
    const caller = stranger(client)
    const isForeign = account !== null && namesMore(account, identifier, { invitation: false })
    const confirmation = { identifier, otp, entry, profile: null, account, isForeign, caller, tag: null }
    return (await openBy(confirmation, () => null, true, device, client)).signedIn!
  }

  return { confirm, open, callerOf }
}

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
