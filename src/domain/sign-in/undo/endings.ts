/** What ends with the old password of an account: where the owner chooses another one, or comes back by an undo link. */
import type { Executor } from '../../../platform/postgres/database.ts'
import type { Account } from '../../accounts/core/account.ts'
import { forgetDevices } from '../../accounts/devices/known-devices-sql.ts'
import { eventOrigin } from '../../foundation/events/event-sql.ts'
import { supersedeCodes } from '../../messages/outbox/queue-sql.ts'
import { endSessionsBy } from '../../sessions/core/session-sql.ts'
import { dropContactChanges } from './contact-changes-sql.ts'

interface Kept {
  /** The sessions of its browser do not end. */
  keptSession?: string | null
  /** The tag of the only device that is still known; null: none is. */
  keptDevice?: Uint8Array | null
}

/** The account is held. */
export async function endOld(
  transaction: Executor,
  { id: accountId, uuid }: Account,
  cause: 'undo' | 'password',
  { keptSession = null, keptDevice = null }: Kept,
  now: Date,
): Promise<void> {
  await Promise.all([
    transaction.run(endSessionsBy[cause], { accountId, keptSession, now, ...eventOrigin() }),
    transaction.run(dropContactChanges, { accountId }),
    transaction.run(supersedeCodes, { codeSubject: uuid, now }),
    transaction.run(forgetDevices, { accountId, keptDevice }),
  ])
}
