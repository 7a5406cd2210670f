/**
 * The second factor of the page of administration: an authenticator app or a passkey. Codes that are sent, and recovery
 * codes, open nothing here.
 */

import type { Account } from '../../domain/accounts/core/account.ts'
import type { OwnerNotices } from '../../domain/accounts/core/owner-notices.ts'
import type { Authenticators } from '../../domain/credentials/authenticators/service.ts'
import type { GatheredEvents } from '../../domain/foundation/events/gathered-events.ts'
import type { Caller } from '../../domain/foundation/limits/callers.ts'
import type { LimitService } from '../../domain/foundation/limits/service.ts'
import { mainIdentifier } from '../../domain/sign-in/core/named-account.ts'
import type { SecondFactor } from '../../domain/sign-in/core/second-factor.ts'
import { createAssertionCheck } from '../../domain/sign-in/passkeys/assertion-check.ts'
import { CHALLENGE_LIFETIME_MS, createChallenges } from '../../domain/sign-in/passkeys/challenge.ts'
import { amrOf } from '../../domain/sign-in/passkeys/passkey.ts'
import type { WebAuthnOptions } from '../../domain/sign-in/passkeys/registration.ts'
import type { PasskeyStore } from '../../domain/sign-in/passkeys/store.ts'
import type { Config } from '../../platform/config/types.ts'
import type { Ground } from '../../platform/ground.ts'
import type { AssertionBody } from '../../platform/http/passkey-schemas.ts'
import { AppError } from '../../texts/errors.ts'

export type PageMethod = 'passkey' | 'totp'

/** The proof that the page sends beside the password. */
export interface PageProof {
  otp?: string | null | undefined
  credential?: AssertionBody | null | undefined
}

interface Needs extends Pick<Ground, 'clock' | 'config' | 'secret'> {
  authenticators: Authenticators
  secondFactor: SecondFactor
  limits: LimitService
  notices: OwnerNotices
  events: GatheredEvents
  stores: { passkeys: PasskeyStore }
}

export function createPageFactors(needs: Needs) {
  const { authenticators, secondFactor, limits, config, stores } = needs
  const relyingParty = pageRelyingParty(config)
  const challenges = createChallenges(needs)
  const assertions = createAssertionCheck(needs, {
    challenges,
    relyingParty: relyingParty ?? { id: '', origins: [] },
  })
  const purposeOf = (uuid: string, context: string) =>
    ({ kind: 'administration', accountUuid: uuid, sessionId: context }) as const

  /** `methods` is empty if an app is to be set up first, when `mayEnrol`: the account has no second factor at all. */
  async function find(account: Account) {
    const [held, passkeys] = await Promise.all([
      secondFactor.find(account),
      relyingParty === null ? [] : stores.passkeys.list(account.id),
    ])
    const methods: PageMethod[] = []
    if (passkeys.some(({ rpId }) => rpId === relyingParty?.id)) methods.push('passkey')
    if (held.app === 'usable') methods.push('totp')
    // Somebody who has another second factor proves that one first, in their account: a password alone adds none.
    return { methods, mayEnrol: methods.length === 0 && !account.twoFactorEnabled }
  }

  async function takePasskey(account: Account, credential: AssertionBody, context: string, caller: Caller) {
    await limits.charge(limits.counters.passkeyAttempts(caller.addressBucket))
    const checked = await assertions.check(credential, purposeOf(account.uuid, context))
    if (checked.account.id !== account.id) throw new AppError('invalid_passkey')
    await assertions.spend(checked)
    return amrOf(checked.passkey)
  }

  return {
    find,
    /** `context`: the sign-in or the session for which the passkey signs. */
    passkeyOptions: ({ uuid }: Pick<Account, 'uuid'>, context: string): WebAuthnOptions => ({
      challenge: Buffer.from(challenges.create(purposeOf(uuid, context))).toString('base64url'),
      rpId: relyingParty?.id ?? '',
      allowCredentials: [],
      userVerification: 'required',
      timeout: CHALLENGE_LIFETIME_MS,
    }),
    /** Uses up what was brought; gives how it was proved (RFC 8176). */
    async take(account: Account, { otp, credential }: PageProof, context: string, caller: Caller) {
      if (credential) return takePasskey(account, credential, context, caller)
      if (!otp) throw new AppError('validation_failed', { fields: [{ field: 'otp', code: 'required' }] })
      await limits.chargeVisit('verification', caller)
      const { methods } = await find(account)
      if (!methods.includes('totp')) throw new AppError('two_factor_required', { twoFactor: { methods } })
      if (authenticators.isRecoveryCode(otp)) throw new AppError('invalid_code')
      const identifier = mainIdentifier(account, config.accounts.defaultCountry)
      await secondFactor.takeCode(account, identifier, { typed: otp, caller, name: '' })
      return ['otp', 'mfa']
    },
  }
}

/** It returns null where there is no page, or where a browser would refuse a passkey of this relying party on it. */
export function pageRelyingParty({ admin, passkeys }: Pick<Config, 'admin' | 'passkeys'>) {
  const { rpId } = passkeys
  const origin = admin.baseUrl ?? (admin.listen && `http://localhost:${admin.listen.port}`)
  if (rpId === null || origin === null) return null
  const { hostname } = new URL(origin)
  return hostname === rpId || hostname.endsWith(`.${rpId}`) ? { id: rpId, origins: [origin] } : null
}
