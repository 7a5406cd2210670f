/** Asking for a code: to sign in, for a second step, or to confirm a change inside a session. */

import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Language } from '../../../texts/languages.ts'
import type { Admission } from '../../accounts/admission/service.ts'
import { type Account, requireOrdinary } from '../../accounts/core/account.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import { decoyIdentifier } from '../../foundation/decoys/decoys.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import { type Caller, type DeviceSource, inSession, type Source } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { Channel } from '../../messages/outbox/message.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { SentCode } from '../core/code-destinations.ts'
import type { FirstFactorRecords } from '../core/first-factor-record.ts'
import { findNamedAccount } from '../core/named-account.ts'
import type { SecondFactor } from '../core/second-factor.ts'
import type { RegistrationService } from '../registration/service.ts'
import { type CodeRules, type RequestBody, withFirstFactor } from './code-rules.ts'

export interface RequestNeeds extends Pick<Ground, 'config'> {
  admission: Admission
  registration: Pick<RegistrationService, 'begin' | 'sendAgain'>
  firstFactorRecords: FirstFactorRecords
  secondFactor: SecondFactor
  limits: LimitService
  devices: KnownDevices
  stores: { accounts: AccountStore }
}

export function createCodeRequests(needs: RequestNeeds, { mayUseCode, seenByCode, couldOpen }: CodeRules) {
  const { admission, registration, firstFactorRecords, secondFactor, limits, devices, config } = needs
  const { accounts } = needs.stores
  const { defaultCountry } = config.accounts

  async function sendCode(
    account: Account | null,
    identifier: Identifier,
    caller: Caller,
    { named, token }: { named: Identifier; token?: unknown },
  ): Promise<void> {
    const sendsTo = account && mayUseCode(account) ? seenByCode(account, token) : null
    await secondFactor.sendCode(await secondFactor.find(sendsTo), identifier, caller, named)
  }

  /**
   * Sends a code to the account that verified the identifier, or to a registration of it. The work of both is done in
   * any case, and one of them is for nobody.
   */
  async function requestCodeOrAccount(
    identifier: Identifier,
    body: RequestBody,
    client: DeviceSource & { language?: Language },
  ): Promise<void> {
    const account = await accounts.findByIdentifier(identifier, 'provider')
    const caller = await devices.recognize(account, client)
    const isStranger = caller.group === 'stranger'
    const { counters } = limits
    await limits.charge([
      ...counters.codeRequests(caller),
      ...(isStranger ? counters.registrations(client.addressBucket) : []),
    ])
    await limits.charge(
      counters.codes(caller, identifier, isStranger ? 'confirmation' : 'login_code', !isStranger),
    )
    const entry = await admission.readForProvider(body, client)
    await registration.begin(identifier, entry, client.language ?? config.server.language)
    if (await registration.sendAgain(identifier, account !== null)) return
    await sendCode(account, identifier, caller, { named: identifier })
  }

  /** The caller group: a known device, or a login that waits for its second factor. */
  async function callerOf(account: Account | null, client: DeviceSource, loginToken: string | null) {
    const recognized = await devices.recognize(account, client)
    if (loginToken === null) return { caller: recognized, record: null }
    const record = await firstFactorRecords.find(
      account ?? { uuid: '', passwordDigest: null },
      client,
      loginToken,
    )
    return { caller: withFirstFactor(recognized, record?.factor ?? null, account, client), record }
  }

  /** The contact of the channel that somebody with the first factor asks for; strangers are not asked. */
  function contactBy(account: Account | null, channel: Channel | null | undefined): Identifier | null {
    const contact = account && channel ? secondFactor.contactBy(account, channel) : null
    return contact && parseIdentifier(contact.destination, defaultCountry)
  }

  /** The contact to which a code goes; the named one if the account has none. */
  function ownRecipient(account: Account | null, named: Identifier): Identifier {
    const contact = account && secondFactor.recipientOf(account, named)
    return (contact && parseIdentifier(contact.destination, defaultCountry)) ?? named
  }

  /** Reveals nothing of the account, and returns null, without its `login_token`. */
  async function requestCode(
    body: RequestBody,
    client: DeviceSource & { language?: Language },
  ): Promise<SentCode | null> {
    const { identifier: typed, loginToken } = body
    if (typeof typed !== 'string') {
      throw new AppError('validation_failed', { fields: [{ field: 'identifier', code: 'required' }] })
    }
    const opens = await couldOpen(body, typed, client)
    if (opens) {
      await requestCodeOrAccount(opens, body, client)
      return null
    }
    const {
      identifier: typedIdentifier,
      key,
      account,
    } = await findNamedAccount(accounts, typed, defaultCountry)
    const { caller, record } = await callerOf(account, client, loginToken ?? null)
    if (record !== null && account?.twoFactorEnabled) {
      secondFactor.requireSentCodes(await secondFactor.find(account))
    }
    await limits.charge(limits.counters.codeRequests(caller))
    const named = key === typedIdentifier.key ? typedIdentifier : decoyIdentifier(typed)
    const identifier = (record !== null && contactBy(account, body.channel)) || typedIdentifier
    // A stranger is charged for the typed identifier, the others for the contact to which the code goes.
    const recipient = caller.group === 'stranger' ? named : ownRecipient(account, identifier)
    const charges = limits.counters.codes(caller, recipient, 'login_code', true)
    const resendAfterSeconds = await limits.chargeAndForesee(charges)
    const contact =
      record !== null && account?.lockedAt === null ? secondFactor.recipientOf(account, identifier) : null
    const sent = contact && {
      ...contact,
      expiresInSeconds: config.codes.lifetimeSeconds,
      resendAfterSeconds,
    }
    await sendCode(account, identifier, caller, { named, token: loginToken })
    return sent
  }

  /** Sends a code, inside a session, that confirms a change of the account. */
  async function requestStepUpCode(signedIn: Authenticated, client: Source, channel: Channel | null = null) {
    requireOrdinary(signedIn.account)
    if (!signedIn.account.twoFactorEnabled) throw new AppError('two_factor_not_enabled')
    return secondFactor.sendStepUpCode(signedIn.account, inSession(signedIn, client), channel)
  }

  return { requestCode, requestStepUpCode }
}
