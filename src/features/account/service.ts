/** The own account as a whole: what it holds, and its end. */
import { type AccountRecord, accountRecord } from '../../core/accounts/account.ts'
import type { ErasureStore } from '../../core/accounts/erasure-store.ts'
import type { Authenticated } from '../../core/sessions/authentication.ts'
import type { PresenceCheck } from '../../core/sessions/presence.ts'
import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/types.ts'

export interface AccountService {
  /** The record that login answers with, as it stands now. */
  describe(signedIn: Authenticated): AccountRecord
  /** Nothing brings it back. Throws what PresenceCheck does. */
  erase(signedIn: Authenticated, password: string, client: { addressBucket: string }): Promise<void>
}

interface Options {
  store: ErasureStore
  presence: PresenceCheck
  config: Pick<Config, 'accounts'>
}

export function createAccountService({ store, presence, config }: Options): AccountService {
  return {
    describe: ({ account }) => accountRecord(account, config.accounts.passwordDigest),
    async erase(signedIn, password, client) {
      await presence.require(signedIn, password, client)
      if (!(await store.erase(signedIn))) throw new AppError('invalid_credentials')
    },
  }
}
