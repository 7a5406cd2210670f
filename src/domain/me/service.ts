/** The account of somebody who is signed in, as a whole: reading and erasing it. */

import { AppError } from '../../errors.ts'
import { type AccountRecord, accountRecord } from '../accounts/account.ts'
import type { Services, Stores } from '../services.ts'
import type { Authenticated } from '../sessions/authentication.ts'
import type { OwnerProof } from '../sign-in/reauthentication.ts'

export interface AccountService {
  /** The current record, in the form in which login returns it. */
  describe(signedIn: Authenticated): AccountRecord
  /** Nothing brings it back. Throws what Reauthentication does. */
  erase(signedIn: Authenticated, proof: OwnerProof, client: { addressBucket: string }): Promise<void>
}

type Needs = Pick<Services, 'reauthentication' | 'config'> & { stores: Pick<Stores, 'erasure'> }

export function createAccountService({ stores, reauthentication, config }: Needs): AccountService {
  const store = stores.erasure
  return {
    describe: ({ account }) => accountRecord(account, config.accounts.passwordDigest),
    async erase(signedIn, proof, client) {
      await reauthentication.require(signedIn, proof, client)
      if (!(await store.erase(signedIn))) throw new AppError('invalid_token', { cause: 'session_over' })
    },
  }
}
