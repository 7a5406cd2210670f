/** A copy of everything that is stored about a person, for themselves or for an administrator who hands it on. */

import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import { accountRecord, carriedRecord } from '../../accounts/core/account-schema.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { Roles } from '../../accounts/core/roles.ts'
import type { Source } from '../../foundation/limits/callers.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { Authenticated } from '../../sessions/core/authentication.ts'
import type { Reauthentication } from '../../sign-in/core/reauthentication.ts'
import type { OwnerProof } from '../../sign-in/core/sign-in-schema.ts'
import type { ExportedDocument, ExportStore } from './export-store.ts'
import { type AccountExport, exportRecord } from './me-schema.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  roles: Roles
  reauthentication: Reauthentication
  limits: LimitService
  notices: OwnerNotices
  stores: { exports: ExportStore }
}

export type Exports = ReturnType<typeof createExports>

export function createExports(needs: Needs) {
  const { reauthentication, limits, notices, clock, config, stores } = needs
  const documentOf = (account: Account, now: Date, document: ExportedDocument): AccountExport =>
    exportRecord(
      document,
      {
        account: accountRecord(account, config.accounts.passwordDigest),
        ...carriedRecord(account, needs.roles),
      },
      now,
    )
  return {
    /** The owner is told. */
    async ofOwner(
      signedIn: Authenticated,
      proof: Omit<OwnerProof, 'password'>,
      client: Source,
    ): Promise<AccountExport> {
      const now = clock.now()
      const { account } = signedIn
      await reauthentication.requireRecentSignIn(signedIn, proof, client)
      await limits.charge([limits.counters.exports(account.uuid)])
      const messages = await notices.about(account, 'account_exported')
      const document = await stores.exports.read(account, messages, now)
      if (document === null) throw new AppError('invalid_token', { cause: 'session_over' })
      return documentOf(account, now, document)
    },
    async ofAccount(account: Account): Promise<AccountExport> {
      const now = clock.now()
      const document = await stores.exports.read(account, [], now)
      if (document === null) throw new AppError('account_not_found')
      return documentOf(account, now, document)
    },
  }
}
