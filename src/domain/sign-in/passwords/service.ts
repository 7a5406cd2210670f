/** Passwords: changing a known one here, resetting a forgotten one in resetting.ts. */

import { serviceName } from '../../../platform/config/service-name.ts'
import { AppError } from '../../../texts/errors.ts'
import { checkPassword, createPasswordRules } from '../../foundation/hashing/password.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Source } from '../../foundation/limits/callers.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import { type Reauthentication, wrongPassword } from '../core/reauthentication.ts'
import type { OwnerProof } from '../core/sign-in-schema.ts'
import { createResetting, type NewPasswordBody, ownIdentifiers, type ResettingNeeds } from './resetting.ts'

interface Needs extends ResettingNeeds {
  reauthentication: Reauthentication
}

export type PasswordsService = ReturnType<typeof createPasswordsService>

export function createPasswordsService(needs: Needs) {
  const { codes, devices, hashing, reauthentication, notices, clock, config } = needs
  const store = needs.stores.passwords
  const passwordRules = createPasswordRules(config, serviceName(config))

  function check({ password, confirmation }: NewPasswordBody, identifiers: Identifier[]): void {
    const fields = checkPassword(password, confirmation, identifiers, passwordRules)
    if (fields.length > 0) throw new AppError('validation_failed', { fields })
  }

  /** Reauthentication checks the present password. Of two parallel calls the second one has the wrong password. */
  async function change(
    signedIn: Authenticated,
    body: NewPasswordBody & { current_password?: string | null | undefined } & Omit<OwnerProof, 'password'>,
    client: Source,
  ): Promise<void> {
    const { account } = signedIn
    check(body, ownIdentifiers(account, config.accounts.defaultCountry))
    const { current_password, otp, credential, refresh_token } = body
    const proof = { password: current_password, otp, credential, refresh_token }
    await reauthentication.require(signedIn, proof, client, { passwordField: 'current_password' })
    const digest = await hashing.hash(body.password, { owner: true })
    const password = {
      digest,
      keptDevice: devices.keptOf(account.uuid, signedIn),
      notices: await notices.about(account, 'password_changed'),
      endCodes: codes.ending(account.uuid),
    }
    const changed = await store.change(signedIn, password, clock.now())
    if (changed === 'session_over') throw new AppError('invalid_token', { cause: changed })
    if (changed === 'other_password') throw wrongPassword('current_password')
  }

  return { ...createResetting(needs, check), change }
}
