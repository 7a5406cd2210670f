/**
 * Resetting a forgotten password. Somebody who reads a code at a verified contact, or at the contact that a registration
 * waits for, owns the account. Answers, work and time are the same for identifiers without an account.
 */

import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { AccountCodes } from '../../accounts/account-codes/service.ts'
import { type Decision, nothingDecided } from '../../accounts/admission/question.ts'
import { type Admission, noEntry } from '../../accounts/admission/service.ts'
import {
  type Account,
  type Contact,
  channelOf,
  destinationOf,
  hasVerified,
  provedContact,
  requireOrdinary,
  verifiedContacts,
  verifiedKeys,
} from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import type { HashService } from '../../foundation/hashing/service.ts'
import {
  type Identifier,
  isUuid,
  parseIdentifier,
  readIdentifier,
} from '../../foundation/identifiers/identifier.ts'
import {
  type Caller,
  type CallerGroup,
  type DeviceSource,
  type Source,
  stranger,
} from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { TestIdentities } from '../../foundation/test-identities/service.ts'
import type { CodeBinding, CodeService } from '../../messages/codes/service.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { SentCode } from '../core/code-destinations.ts'
import type { PasswordStore } from './store.ts'

export interface NewPasswordBody {
  password: string
  confirmation: string
}

export interface ResettingNeeds extends Pick<Ground, 'clock' | 'config'> {
  admission: Admission
  testIdentities: Pick<TestIdentities, 'refuse'>
  codes: CodeService
  accountCodes: AccountCodes
  limits: LimitService
  devices: KnownDevices
  hashing: HashService
  notices: OwnerNotices
  outbox: Outbox
  events: GatheredEvents
  stores: { accounts: AccountStore; passwords: PasswordStore }
}

/** Throws where the password is refused. */
type Check = (body: NewPasswordBody, identifiers: Identifier[]) => void

/** Something that a reset removed. Two identities are one kind. */
export const removedKinds = ['email', 'phone', 'identity', 'passkey'] as const
type Removed = (typeof removedKinds)[number]

/** An identity is labelled with its provider, for the notice to the owner. */
const kindsOf = (labels: string[]): Removed[] =>
  removedKinds.filter((kind) => labels.some((label) => label.split(' ')[0] === kind))

/** Returns the identifiers of the account that has the typed one. */
export const ownIdentifiers = ({ email, phone }: Account, country: string) =>
  [email, phone].map((one) => parseIdentifier(one ?? '', country)).filter((one) => one !== null)

export function createResetting(needs: ResettingNeeds, check: Check) {
  const { admission, testIdentities, codes, accountCodes, limits, devices, hashing } = needs
  const { notices, outbox, events, clock, config } = needs
  const { accounts, passwords: store } = needs.stores
  const { defaultCountry } = config.accounts

  const bindingOf = (account: Account | null, identifier: Identifier, group: CallerGroup): CodeBinding => ({
    purpose: 'password_reset',
    group,
    subject: account?.uuid ?? codes.decoySubject(identifier.key),
    destination: destinationOf(account, identifier),
  })

  /** The call must not be refused any more once the code was taken, so the queue was asked for a free place before. */
  async function replace(
    account: Account,
    identifier: Identifier,
    { newPassword, decision }: { newPassword: string; decision: Decision },
    caller: Caller,
    client: DeviceSource,
  ): Promise<string[]> {
    const isOwner = caller.group === 'owner'
    const password = await prepare(account, newPassword, identifier, client, { owner: isOwner })
    const permit = admission.permit(noEntry, identifier, decision)
    const removed = await store.reset(account, identifier, password, permit, clock.now())
    if (removed === null) throw (await refusalOf(account, identifier)) ?? new AppError('invalid_code')
    await forgetStrangers(needs, account, [identifier.key], client)
    return removed
  }

  /** Of a registration that the reset would open; of an account, and of one that administration made, nothing is asked. */
  async function decide(account: Account, identifier: Identifier, client: Source): Promise<Decision> {
    const { uuid, accountConfirmedAt, origin, waitingFor, language } = account
    if (accountConfirmedAt !== null || origin !== null || waitingFor !== identifier.key) return nothingDecided
    const contact = provedContact(identifier, destinationOf(account, identifier))
    const person = { account: uuid, contact, provider: null, profile: null, language }
    return admission.decide(noEntry, { identifier, waiting: account }, person, client)
  }

  const refusalOf = (account: Account, identifier: Identifier) =>
    account.accountConfirmedAt === null ? admission.refusal(noEntry, identifier, account) : null

  /** The notice goes to every verified contact; where there is none, to the one that the code proves. */
  async function prepare(
    account: Account,
    password: string,
    proved: Identifier | null,
    { fingerprint }: DeviceSource,
    { owner = false } = {},
  ) {
    const verified = verifiedContacts(account)
    const contacts: Contact[] =
      verified.length > 0 || proved === null
        ? verified
        : [{ channel: channelOf(proved.kind), destination: destinationOf(account, proved) }]
    const [digest, messages] = await Promise.all([
      hashing.hash(password, { admitted: true, owner }),
      notices.about(account, 'password_changed', { contacts }),
    ])
    const keptDevice = devices.tagOf(account.uuid, fingerprint)
    return { digest, keptDevice, notices: messages, endCodes: codes.ending(account.uuid) }
  }

  /** It is counted by the client's address alone: a stranger who tries codes uses up nothing of the account's. */
  async function resetByAccountCode(
    body: NewPasswordBody & { identifier: string; otp: string },
    client: DeviceSource,
  ): Promise<string[]> {
    const name = isUuid(body.identifier)
      ? { uuid: body.identifier }
      : readIdentifier(body.identifier, defaultCountry)
    check(body, 'key' in name ? [name] : [])
    await limits.chargeVisit('verification', stranger(client))
    hashing.requireFreePlace()
    const matched = await accountCodes.match(name, body.otp)
    if (matched === null) throw new AppError('invalid_code')
    const { account, sentTo } = matched
    requireOrdinary(account)
    check(body, ownIdentifiers(account, defaultCountry))
    const password = await prepare(account, body.password, sentTo, client)
    const permit = admission.permit(noEntry, sentTo)
    const removed = await store.resetByCode(matched, password, permit, clock.now())
    if (removed === null) throw new AppError('invalid_code')
    await forgetStrangers(needs, account, 'key' in name ? [name.key] : [], client)
    return removed
  }

  /** Does not reveal whether the identifier has an account. */
  async function forgot(
    { identifier: typed }: { identifier: string },
    client: DeviceSource,
  ): Promise<SentCode> {
    const identifier = readIdentifier(typed, defaultCountry)
    await testIdentities.refuse(identifier)
    const account = await accounts.findByIdentifier(identifier, 'reset')
    const caller = await devices.recognize(account, client)
    const nextRequestSeconds = await limits.chargeAndForesee(limits.counters.codeRequests(caller))
    const isOwn = account !== null && hasVerified(account, identifier)
    const charges = limits.counters.codes(caller, identifier, 'password_reset', isOwn)
    const resendAfterSeconds = Math.max(nextRequestSeconds, await limits.chargeAndForesee(charges))
    events.add('password.reset_requested', account)
    await outbox.sendCode(
      bindingOf(account, identifier, caller.group),
      account && { channel: channelOf(identifier.kind), language: account.language },
    )
    return {
      channel: channelOf(identifier.kind),
      destination: null,
      expiresInSeconds: config.codes.lifetimeSeconds,
      resendAfterSeconds,
    }
  }

  /**
   * `otp` may also be a temporary access or invitation code, and `identifier` then the account's uuid. A rejected password
   * (`validation_failed`) or a full queue (`server_busy`) leaves the code unused. Returns what was removed, by its kind.
   */
  async function reset(
    body: NewPasswordBody & { identifier: string; otp: string },
    client: DeviceSource,
  ): Promise<Removed[]> {
    if (accountCodes.hasForm(body.otp)) return kindsOf(await resetByAccountCode(body, client))
    const identifier = readIdentifier(body.identifier, defaultCountry)
    check(body, [identifier])
    const account = await accounts.findByIdentifier(identifier, 'reset')
    const caller = await devices.recognize(account, client)
    await limits.chargeVisit('verification', caller)
    hashing.requireFreePlace({ owner: caller.group === 'owner' })
    const binding = bindingOf(account, identifier, caller.group)
    const attempt = (keepsRight: boolean) =>
      codes.attempt(binding, body.otp, { caller, name: identifier.key, keepsRight })
    await attempt(admission.asks)
    if (account === null) throw new AppError('invalid_code')
    requireOrdinary(account)
    const decision = await decide(account, identifier, client)
    if (admission.asks) await attempt(false)
    return kindsOf(
      await replace(account, identifier, { newPassword: body.password, decision }, caller, client),
    )
  }

  return { forgot, reset }
}

/**
 * Clears the counters that strangers filled and, at most once a day, today's attempts at the second factor; never
 * the attempts in a row.
 */
async function forgetStrangers(
  { limits, devices, codes }: ResettingNeeds,
  account: Account,
  typed: string[],
  client: DeviceSource,
): Promise<void> {
  const { counters } = limits
  const callers = [stranger(client), await devices.recognize(account, client)]
  const keys = new Set([...typed, ...verifiedKeys(account)])
  await limits.clear([...keys].flatMap((key) => callers.flatMap((one) => counters.wrongPasswords(one, key))))
  await codes.clearDay(account.uuid, ['login_code', 'password_reset'])
  const isFirstToday = await limits.admits([counters.onceADay('second step cleared', account.uuid)])
  if (isFirstToday) await codes.clearDay(account.uuid, ['two_factor'])
}
