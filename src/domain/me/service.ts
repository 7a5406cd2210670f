/** The own account as a whole: what it holds, and its end. */

import { AppError } from '../../errors.ts'
import type { Config } from '../../platform/config/types.ts'
import { type AccountRecord, accountRecord } from '../accounts/account.ts'
import type { Authenticated } from '../sessions/authentication.ts'
import type { Reauthentication } from '../sign-in/reauthentication.ts'
import type { ErasureStore } from './store.ts'

export interface AccountService {
  /** The record that login answers with, as it stands now. */
  describe(signedIn: Authenticated): AccountRecord
  /** Nothing brings it back. Throws what Reauthentication does. */
  erase(signedIn: Authenticated, password: string, client: { addressBucket: string }): Promise<void>
}

interface Options {
  store: ErasureStore
  reauthentication: Reauthentication
  config: Pick<Config, 'accounts'>
}

export function createAccountService({ store, reauthentication, config }: Options): AccountService {
  return {
    describe: ({ account }) => accountRecord(account, config.accounts.passwordDigest),
    async erase(signedIn, password, client) {
      await reauthentication.requirePassword(signedIn, password, client)
      if (!(await store.erase(signedIn))) throw new AppError('invalid_credentials')
    },
  }
}
