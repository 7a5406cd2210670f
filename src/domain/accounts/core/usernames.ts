/**
 * Usernames. A username that an account ever had goes to no other account, also after a change, an erasure, a restore
 * or a change of the server secret. A hash of each is kept, under a key that is never replaced (usernames-sql.ts).
 */

import { isUsername } from '../../../platform/config/formats.ts'
import type { Config } from '../../../platform/config/types.ts'
import { currentRequest } from '../../../platform/request-context.ts'
import { AppError } from '../../../texts/errors.ts'

/** Only the command line gives reserved names. */
export const isByCommand = (): boolean => currentRequest()?.actor?.type === 'operator'

export type Usernames = ReturnType<typeof createUsernames>

export function createUsernames({ config }: { config: Pick<Config, 'accounts'> }) {
  const reserved = new Set(config.accounts.reservedUsernames)
  return {
    /** The comparable form. Reserved names are refused unless the caller may give them. */
    read(typed: string, { mayBeReserved }: { mayBeReserved: boolean }): string {
      const name = typed.toLowerCase()
      const refuse = (code: 'invalid_value' | 'reserved') =>
        new AppError('validation_failed', { fields: [{ field: 'username', code }] })
      if (!isUsername(name)) throw refuse('invalid_value')
      if (reserved.has(name) && !mayBeReserved) throw refuse('reserved')
      return name
    },
  }
}
