/**
 * What every login does once its first factor is proved: a session, or, for an account with two factors, the second
 * one's turn. No way in goes past it.
 */

import { AppError } from '../../errors.ts'
import type { Account } from '../accounts/account.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import { maskDestination } from '../identifiers/mask.ts'
import type { Services } from '../services.ts'
import type { LogInAnswer } from '../sessions/session-opener.ts'
import type { Device } from '../sessions/store.ts'
import type { FirstFactor } from './first-factor-proof.ts'

export interface TwoFactorDue {
  /** Where the code comes from: `totp` (an app), `email`, `sms`. A recovery code serves as well. */
  methods: string[]
  /** Masked; null where nothing was sent. */
  sent_to: string | null
  expires_in: number
}

export type SignInOutcome = { signedIn: LogInAnswer } | { due: TwoFactorDue }

export interface ProvedFirstFactor {
  account: Account
  /** By which the account is meant: a code goes to that kind of contact where it is proved. */
  identifier: Identifier
  factor: FirstFactor
  device: Device
  client: { address: string; addressBucket: string }
  /** Replaces a digest of older parameters. */
  newDigest?: string | null
}

export interface SignInService {
  /** Throws `account_unconfirmed`, `account_locked`, `too_many_requests`, `country_not_allowed`. */
  continue(proved: ProvedFirstFactor): Promise<SignInOutcome>
}

type Needs = Pick<Services, 'sessionOpener' | 'firstFactorProofs' | 'secondFactor' | 'limits' | 'config'>

export function createSignInService(needs: Needs): SignInService {
  const { sessionOpener, firstFactorProofs, secondFactor, limits, config } = needs
  return {
    async continue({ account, identifier, factor, device, client, newDigest = null }) {
      if (account.accountConfirmedAt === null) throw new AppError('account_unconfirmed')
      if (account.lockedAt !== null) throw new AppError('account_locked')
      if (!account.twoFactorEnabled) {
        const { address } = client
        return { signedIn: await sessionOpener.open({ account, device, address, amr: [factor], newDigest }) }
      }
      const { addressBucket } = client
      await firstFactorProofs.remember(account, factor, { fingerprint: device.fingerprint, addressBucket })
      if (await secondFactor.hasApp(account)) {
        return { due: { methods: ['totp'], sent_to: null, expires_in: firstFactorProofs.lifetimeSeconds } }
      }
      // What was typed may be a contact that nobody proved: the code goes to another one, and counts there.
      const recipient = secondFactor.recipientOf(account, identifier)
      await limits.charge(limits.codeCharges(recipient, 'two_factor'))
      const contact = await secondFactor.sendCode(account, recipient, 'password')
      return {
        due: {
          methods: contact ? [contact.channel] : [],
          sent_to: contact && maskDestination(contact.destination),
          expires_in: config.codes.lifetimeSeconds,
        },
      }
    },
  }
}
