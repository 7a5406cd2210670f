/** The rules that asking for a code and signing in with it have in common. */

import type { Ground } from '../../../platform/ground.ts'
import type { EntryBody } from '../../accounts/admission/entry-schema.ts'
import type { Admission } from '../../accounts/admission/service.ts'
import type { Account } from '../../accounts/core/account.ts'
import { type Identifier, parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import { type Caller, type DeviceSource, type Source, withPassword } from '../../foundation/limits/callers.ts'
import type { Channel } from '../../messages/outbox/message.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'
import type { FirstFactor } from '../core/first-factor-record.ts'

export interface VerifyBody extends EntryBody {
  identifier: string
  otp: string
  password?: string | null | undefined
  /** The token of the login that verified the first factor. */
  loginToken?: string | null | undefined
  /** True if later logins on this device shall need no second step. */
  trustDevice?: boolean | null | undefined
  /** Opens an account if there is none, where accounts may be without a password. */
  create?: boolean | null | undefined
}

export interface RequestBody extends EntryBody {
  identifier?: string | null | undefined
  loginToken?: string | null | undefined
  create?: boolean | null | undefined
  /** The channel of the second step's code, if the account has both contacts. */
  channel?: Channel | null | undefined
}

interface Needs extends Pick<Ground, 'config'> {
  admission: Admission
  policy: SignInPolicy | null
}

export type CodeRules = ReturnType<typeof createCodeRules>

export function createCodeRules({ admission, policy, config }: Needs) {
  const maybeWithout = config.accounts.password === 'optional'
  const mayUseCode = (account: Account) => account.twoFactorEnabled || config.codes.login || policy !== null

  /**
   * The account as a code sees it. One that was asked for without a `login_token` is the first of the two factors of an account
   * without a password, and no other factor serves as that.
   */
  const seenByCode = (account: Account | null, token: unknown): Account | null =>
    maybeWithout && typeof token !== 'string' && account?.twoFactorEnabled && account.passwordDigest === null
      ? { ...account, twoFactorEnabled: false }
      : account

  /** The identifier for which a call may open an account; null: it only signs in. */
  async function couldOpen(
    { create, loginToken, ...body }: RequestBody | VerifyBody,
    typed: string,
    client: Source,
  ): Promise<Identifier | null> {
    if (!maybeWithout || create !== true || typeof loginToken === 'string') return null
    const identifier = parseIdentifier(typed, config.accounts.defaultCountry)
    return identifier && (await admission.couldOpen(body, identifier, client)) ? identifier : null
  }

  return { maybeWithout, mayUseCode, seenByCode, couldOpen }
}

export function withFirstFactor(
  recognized: Caller,
  first: FirstFactor | null,
  account: Account | null,
  client: DeviceSource,
): Caller {
  if (recognized.group === 'owner' || first === null || account === null) return recognized
  return withPassword(account, client)
}
