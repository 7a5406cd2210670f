/** Login by password. What is wrong with an account is said only to who knows its password. */

import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/types.ts'
import type { AccountStore } from '../accounts/store.ts'
import { readIdentifier } from '../identifiers/identifier.ts'
import type { LimitService } from '../limits/service.ts'
import type { Device } from '../sessions/store.ts'
import type { PasswordCheck } from '../sign-in/password-check.ts'
import type { SignInOutcome, SignInService } from '../sign-in/service.ts'

export interface LoginService {
  /**
   * Throws `invalid_credentials`, `account_unconfirmed`, `account_locked` (both only with the right password),
   * `too_many_requests`, `server_busy`.
   */
  logIn(
    body: { identifier: string; password: string },
    device: Device,
    client: { address: string; addressBucket: string },
  ): Promise<SignInOutcome>
}

interface Options {
  accounts: AccountStore
  passwords: PasswordCheck
  limits: LimitService
  signIn: SignInService
  config: Pick<Config, 'accounts'>
}

export function createLoginService(options: Options): LoginService {
  const { accounts, passwords, limits, signIn, config } = options
  return {
    async logIn({ identifier: typed, password }, device, client) {
      passwords.requireRoom()
      const identifier = readIdentifier(typed, config.accounts.defaultCountry)
      const account = await accounts.findByIdentifier(identifier, 'login')
      const { right, newDigest } = await passwords.judge({
        account,
        identifierKey: identifier.key,
        fingerprint: device.fingerprint,
        password,
        charges: limits.loginCharges(client.addressBucket),
      })
      if (!right || !account) throw new AppError('invalid_credentials')
      return signIn.continue({ account, identifier, factor: 'pwd', device, client, newDigest })
    },
  }
}
