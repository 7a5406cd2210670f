/** Login by password. Reveals that an account is unconfirmed or locked only after the correct password was given. */

import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import { readIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { AddressSource } from '../../foundation/limits/callers.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import type { Device } from '../../sessions/core/session.ts'
import type { PasswordCheck } from '../core/password-check.ts'
import type { SignInOutcome, SignInService } from '../core/service.ts'

interface Needs extends Pick<Ground, 'config'> {
  passwordCheck: PasswordCheck
  devices: KnownDevices
  signIn: SignInService
  events: GatheredEvents
  policy: SignInPolicy | null
  stores: { accounts: AccountStore }
}

export type LoginService = ReturnType<typeof createLoginService>

export function createLoginService(needs: Needs) {
  const { passwordCheck, devices, signIn, events, policy, config } = needs
  const { accounts } = needs.stores
  return {
    /** The state of the account is told only to somebody with the right password. */
    async logIn(
      { identifier: typed, password }: { identifier: string; password: string },
      device: Device,
      client: AddressSource,
    ): Promise<SignInOutcome> {
      passwordCheck.requireFreePlace()
      const identifier = readIdentifier(typed, config.accounts.defaultCountry)
      const account = await accounts.findByIdentifier(identifier, 'login')
      const { fingerprint } = device
      const [caller, isAdmitted] = await Promise.all([
        devices.recognizeAtLogin(account, { ...client, fingerprint }),
        policy?.admits(account) ?? true,
      ])
      const checking = passwordCheck.check({
        account,
        identifierKey: identifier.key,
        caller,
        password,
        countsAsLogin: true,
        untold: !isAdmitted,
      })
      const right = await checking.catch((error: unknown) => {
        if (error instanceof AppError && error.errorCode === 'too_many_requests')
          events.add('login.locked_out', account)
        throw error
      })
      if (!right || !account || !isAdmitted) {
        events.add((isAdmitted && policy?.failure) || 'login.failed', account)
        throw new AppError('invalid_credentials')
      }
      return signIn.continue({ account, identifier, factor: 'pwd', device, client, caller })
    },
  }
}
