/** Says which accounts an application gets. */
import type { Account } from '../../domain/accounts/core/account.ts'
import type { AccountClaims } from '../../domain/sessions/tokens/account-claims.ts'
import { isOwn, mayEnter } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import { AppError } from '../../texts/errors.ts'

export type Entrance = ReturnType<typeof createEntrance>

export function createEntrance(accountClaims: Pick<AccountClaims, 'isComplete'>) {
  /** Own applications get access tokens, whose claims may be required as well. */
  const admits = (application: ApplicationConfig, account: Account): boolean =>
    mayEnter(application, account) && (!isOwn(application) || accountClaims.isComplete(account))

  return {
    admits,
    require(application: ApplicationConfig, account: Account): void {
      if (!admits(application, account)) throw new AppError('invalid_grant', { cause: MAY_NOT_ENTER })
    },
  }
}

/** The cause of a refusal, for the log. */
export const MAY_NOT_ENTER = 'may_not_enter'

/** Tells whether an account was refused that the application does not get any more. */
export const isNoLongerAdmitted = (error: unknown): boolean =>
  error instanceof AppError && error.cause === MAY_NOT_ENTER
