/** Says which accounts an application gets, and what it is told of them. */
import type { Account } from '../../domain/accounts/core/account.ts'
import type { Roles } from '../../domain/accounts/core/roles.ts'
import type { AccountClaims, ClaimValue } from '../../domain/sessions/tokens/account-claims.ts'
import { isOwn, mayEnter } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import { AppError } from '../../texts/errors.ts'
import { claimsFor } from './claims.ts'

interface Needs {
  accountClaims: Pick<AccountClaims, 'require' | 'take'>
  roles: Pick<Roles, 'nameOf'>
}

export type Entrance = ReturnType<typeof createEntrance>

export function createEntrance({ accountClaims, roles }: Needs) {
  /** The claims of an ID token and at userinfo, for these scopes. Throws if one is missing that is required. */
  const claimsOf = (
    application: ApplicationConfig,
    account: Account,
    scope: string | null | undefined,
  ): Record<string, ClaimValue> =>
    accountClaims.take(account, claimsFor(account, (scope ?? '').split(' '), application, roles))

  /** Own applications get access tokens, whose claims may be required as well. */
  function require(application: ApplicationConfig, account: Account): void {
    if (!mayEnter(application, account)) throw new AppError('invalid_grant', { cause: MAY_NOT_ENTER })
    if (isOwn(application)) accountClaims.require(account)
    claimsOf(application, account, null)
  }

  return {
    claimsOf,
    require,
    admits(application: ApplicationConfig, account: Account): boolean {
      try {
        require(application, account)
        return true
      } catch (error) {
        if (isNotAdmitted(error)) return false
        throw error
      }
    },
  }
}

/** The cause of a refusal, for the log. */
const MAY_NOT_ENTER = 'may_not_enter'

/** Tells whether an account was refused that the application does not get. */
export const isNotAdmitted = (error: unknown): boolean =>
  error instanceof AppError && (error.cause === MAY_NOT_ENTER || error.errorCode === 'account_incomplete')
