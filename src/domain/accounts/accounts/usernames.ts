/**
 * Usernames. One that an account ever had goes to no other account, also after a change, an erasure, a restore or a change
 * of the server secret: a hash of each is kept, under a key that is never replaced.
 */
import { AppError } from '../../../errors.ts'
import { isUsername } from '../../../platform/config/formats.ts'
import type { ServerSecret } from '../../../platform/secret.ts'

export interface Usernames {
  /** The comparable form and its hash. Throws `validation_failed`; `reserved` only where the caller may not give them. */
  read(typed: string, options: { mayBeReserved: boolean }): { name: string; hash: Uint8Array }
}

interface Needs {
  secret: Pick<ServerSecret, 'tag' | 'hasLastingKey'>
  config: { accounts: { reservedUsernames: readonly string[] } }
}

export function createUsernames({ secret, config }: Needs): Usernames {
  const reserved = new Set(config.accounts.reservedUsernames)
  return {
    read(typed, { mayBeReserved }) {
      const name = typed.toLowerCase()
      const refuse = (code: 'invalid_value' | 'reserved') =>
        new AppError('validation_failed', { fields: [{ field: 'username', code }] })
      if (!isUsername(name)) throw refuse('invalid_value')
      if (reserved.has(name) && !mayBeReserved) throw refuse('reserved')
      // Under another key a name of somebody else would look free.
      if (!secret.hasLastingKey('username')) throw new AppError('unavailable', { cause: 'username_key' })
      return { name, hash: secret.tag('username', name) }
    },
  }
}
