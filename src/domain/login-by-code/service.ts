/**
 * Login by one-time code. An account with two factors needs its password too, in the call or in a login of the last
 * ten minutes from the same client; which of the two was wrong shows neither in the answer nor in the work.
 */

import { AppError } from '../../errors.ts'
import type { Account } from '../accounts/account.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import type { Services, Stores } from '../services.ts'
import type { LogInAnswer } from '../sessions/session-opener.ts'
import type { Device } from '../sessions/store.ts'
import type { FirstFactor, ProvingClient } from '../sign-in/first-factor-proof.ts'
import { findNamedAccount } from '../sign-in/named-account.ts'

export interface VerifyBody {
  identifier: string
  otp: string
  password?: string | null | undefined
}

export interface LoginByCodeService {
  /** Says nothing about the identifier. Throws `too_many_requests`, `country_not_allowed`. */
  requestCode(body: { identifier: string }, client: { addressBucket: string }): Promise<void>
  /** Throws `invalid_code`, `too_many_attempts`, `too_many_requests`, `account_locked`, `server_busy`. */
  verify(
    body: VerifyBody,
    device: Device,
    client: { address: string; addressBucket: string },
  ): Promise<LogInAnswer>
}

type Needs = Pick<
  Services,
  'sessionOpener' | 'passwordCheck' | 'firstFactorProofs' | 'secondFactor' | 'limits' | 'config'
> & { stores: Pick<Stores, 'accounts'> }

export function createLoginByCodeService(needs: Needs): LoginByCodeService {
  const { sessionOpener, passwordCheck, firstFactorProofs, secondFactor, limits, config } = needs
  const { accounts } = needs.stores
  const { defaultCountry } = config.accounts

  /** What the first factor says of this call; `newDigest` as the judge gives it. */
  async function judgeFirstFactor(
    account: Account | null,
    identifier: Identifier,
    { password }: VerifyBody,
    client: ProvingClient,
  ): Promise<{ passes: boolean; first: FirstFactor | null; newDigest: string | null }> {
    if (typeof password === 'string') {
      const { right, newDigest } = await passwordCheck.judge({
        account,
        identifierKey: identifier.key,
        fingerprint: client.fingerprint,
        password,
        charges: [],
      })
      return { passes: right, first: right ? 'pwd' : null, newDigest }
    }
    const proof = await firstFactorProofs.find(
      account ?? { uuid: identifier.key, passwordDigest: null },
      client,
    )
    const first = account?.twoFactorEnabled && proof ? proof.factor : null
    return { passes: first !== null || !account?.twoFactorEnabled, first, newDigest: null }
  }

  return {
    async requestCode({ identifier: typed }, { addressBucket }) {
      const { identifier, account } = await findNamedAccount(accounts, typed, defaultCountry)
      await limits.charge(limits.codeCharges(identifier, 'login_code', addressBucket))
      await secondFactor.sendCode(account, identifier, 'stranger')
    },

    async verify(body, device, { address, addressBucket }) {
      await limits.charge(limits.verificationCharges(addressBucket))
      const { identifier, key, account } = await findNamedAccount(accounts, body.identifier, defaultCountry)
      const client = { fingerprint: device.fingerprint, addressBucket }
      const { passes, first, newDigest } = await judgeFirstFactor(account, identifier, body, client)
      // Without the first factor nobody may try, or use up, the owner's code: the try counts on a stand-in. So does one
      // for an unconfirmed account: anybody can register one, and must not see by it who had one before.
      const tried = passes && account?.accountConfirmedAt ? account : null
      const name = typeof body.password === 'string' ? `${key} with password` : key
      await secondFactor.takeCode(tried, identifier, body.otp, tried && first ? 'account' : { name })
      if (tried === null) throw new AppError('invalid_code')
      if (tried.lockedAt !== null) throw new AppError('account_locked')
      const amr = first ? [first, 'otp', 'mfa'] : ['otp']
      const signedIn = await sessionOpener.open({ account: tried, device, address, amr, newDigest })
      if (tried.twoFactorEnabled) await (await firstFactorProofs.find(tried, client))?.spend()
      return signedIn
    },
  }
}
