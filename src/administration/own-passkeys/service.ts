/**
 * The passkeys of the administrator who is signed in on the page. One that is made there is made at the page's own
 * address. The guard has asked for password and second factor before.
 */

import type { AccountStore } from '../../domain/accounts/core/store.ts'
import { createChallenges } from '../../domain/sign-in/passkeys/challenge.ts'
import type { Passkey } from '../../domain/sign-in/passkeys/passkey.ts'
import {
  createPasskeyRegistration,
  MAXIMUM_PASSKEYS,
  type WebAuthnOptions,
} from '../../domain/sign-in/passkeys/registration.ts'
import type { PasskeyStore } from '../../domain/sign-in/passkeys/store.ts'
import type { Attestation } from '../../platform/http/passkey-schemas.ts'
import { AppError } from '../../texts/errors.ts'
import type { AdministratorCaller } from '../access/access.ts'
import { pageRelyingParty } from '../administrator-sessions/policy.ts'

type Needs = Parameters<typeof createPasskeyRegistration>[0] &
  Parameters<typeof createChallenges>[0] & { stores: { accounts: AccountStore; passkeys: PasskeyStore } }

export type OwnPasskeys = ReturnType<typeof createOwnPasskeys>

export function createOwnPasskeys(needs: Needs) {
  const { accounts, passkeys } = needs.stores
  const relyingParty = pageRelyingParty(needs.config)
  const registration = relyingParty && createPasskeyRegistration(needs, createChallenges(needs), relyingParty)

  async function ownerOf({ id, sessionId }: AdministratorCaller) {
    const account = await accounts.findByUuid(id)
    if (account === null) throw new AppError('invalid_token', { cause: 'session_over' })
    return { account, sessionId }
  }

  function requireRegistration() {
    if (registration === null) throw new AppError('route_not_found')
    return registration
  }

  return {
    /** `canAdd`: the page's address may have passkeys of this service. `origin`: where browsers make them. */
    async list(
      caller: AdministratorCaller,
    ): Promise<{ passkeys: Passkey[]; canAdd: boolean; origin: string | null }> {
      const { account } = await ownerOf(caller)
      const own = await passkeys.list(account.id)
      return {
        passkeys: own,
        canAdd: registration !== null && own.length < MAXIMUM_PASSKEYS,
        origin: relyingParty?.origins[0] ?? null,
      }
    },
    async options(caller: AdministratorCaller): Promise<WebAuthnOptions> {
      const { options } = requireRegistration()
      const owner = await ownerOf(caller)
      const existing = await passkeys.list(owner.account.id)
      if (existing.length >= MAXIMUM_PASSKEYS) throw new AppError('passkey_limit')
      return options(owner, existing, true)
    },
    async add(
      caller: AdministratorCaller,
      credential: Attestation,
      name: string | null,
      client: { addressBucket: string },
    ): Promise<Passkey> {
      const { register } = requireRegistration()
      return register(await ownerOf(caller), credential, name, client)
    },
  }
}
