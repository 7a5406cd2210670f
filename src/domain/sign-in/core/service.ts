/**
 * Every login path ends here once the first factor is verified. It opens a session or, if two-factor sign-in is on,
 * asks for the second factor.
 */

import { randomUUID } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import { AppError, type TwoFactorMethod } from '../../../texts/errors.ts'
import type { Account, Contact } from '../../accounts/core/account.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { TrustedDevices } from '../../accounts/devices/trusted-devices.ts'
import type { HeldFactors } from '../../credentials/authenticators/service.ts'
import { type Identifier, maskDestination, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import { type AddressSource, type Caller, withPassword } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { OpenedSession, SessionOpener } from '../../sessions/core/session-opener.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import type { FirstFactor, FirstFactorRecords } from './first-factor-record.ts'
import type { SecondFactor } from './second-factor.ts'

export interface TwoFactorDue {
  /** The methods that can be used now; empty if there are none. */
  methods: TwoFactorMethod[]
  /** The masked contact; null if no code was sent. */
  sentTo: string | null
  expiresIn: number
  /** Proves the first factor in the call that completes the login. */
  loginToken: string
}

export type SignInOutcome = { signedIn: OpenedSession } | { due: TwoFactorDue }

interface ProvedFirstFactor {
  account: Account
  /** The identifier that names the account: a code goes to this contact if it is verified. */
  identifier: Identifier
  factor: FirstFactor
  device: Device
  client: AddressSource
  /** The caller, if the device was recognized already. */
  caller?: Caller
}

interface Needs extends Pick<Ground, 'config'> {
  sessionOpener: SessionOpener
  accountClaims: AccountClaims
  trustedDevices: TrustedDevices
  firstFactorRecords: FirstFactorRecords
  secondFactor: SecondFactor
  limits: LimitService
  devices: KnownDevices
  policy: SignInPolicy | null
}

export type SignInService = ReturnType<typeof createSignInService>

export function createSignInService(needs: Needs) {
  const {
    sessionOpener,
    accountClaims,
    trustedDevices,
    firstFactorRecords,
    secondFactor,
    limits,
    devices,
    config,
    policy,
  } = needs

  /** The contact to which the code was sent; null if no code can be sent now, so that the other methods remain. */
  async function sendCode(
    held: HeldFactors,
    account: Account,
    identifier: Identifier,
    caller: Caller,
  ): Promise<Contact | null> {
    // The typed contact may be one that is not verified: the code then goes to another one and is counted there.
    const contact = secondFactor.recipientOf(account, identifier)
    const recipient = contact && parseIdentifier(contact.destination, config.accounts.defaultCountry)
    if (!recipient || !(await limits.admitsCode(caller, recipient, 'two_factor', true))) return null
    await secondFactor.sendCode(held, recipient, caller)
    return contact
  }

  return {
    async continue({
      account,
      identifier,
      factor,
      device,
      client,
      caller: known,
    }: ProvedFirstFactor): Promise<SignInOutcome> {
      if (account.accountConfirmedAt === null) throw new AppError('account_unconfirmed')
      if (account.lockedAt !== null) throw new AppError('account_locked')
      if (policy === null) accountClaims.require(account)
      const id = randomUUID()
      const { address, addressBucket } = client
      const session = { id, account, device, address, amr: [factor] }
      const isEnough = async () =>
        !account.twoFactorEnabled ||
        (device.trust !== undefined && (await trustedDevices.use(account, device, id)))
      if (policy === null && (await isEnough())) {
        return { signedIn: await sessionOpener.open(session) }
      }
      const held = await secondFactor.find(account)
      await secondFactor.tellLoss(held)
      // A second code by message would prove no more than the one that was just entered.
      if (factor === 'otp' && held.acceptsSentCodes) return { signedIn: await sessionOpener.open(session) }
      const { fingerprint } = device
      const proving = { fingerprint, addressBucket }
      const loginToken = await firstFactorRecords.remember(account, factor, proving)
      const recognized = known ?? (await devices.recognizeAtLogin(account, { ...client, fingerprint }))
      const caller = recognized.group === 'owner' ? recognized : withPassword(account, client)
      const contact = held.acceptsSentCodes ? await sendCode(held, account, identifier, caller) : null
      return {
        due: {
          methods: secondFactor.methods(held, contact !== null),
          sentTo: contact && maskDestination(contact.destination),
          expiresIn: contact ? config.codes.lifetimeSeconds : firstFactorRecords.lifetimeSeconds,
          loginToken,
        },
      }
    },
  }
}
