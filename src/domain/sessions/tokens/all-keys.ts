/** The signing keys of both algorithms, as operators see and change them. */
import type { KeyDescription } from './key-rotation.ts'
import type { KeyService } from './key-service.ts'

type Keys = Pick<KeyService, 'list' | 'rotate' | 'revoke'>

export type AllKeys = ReturnType<typeof createAllKeys>

export function createAllKeys(accessKeys: Keys, identityKeys: Keys) {
  return {
    /** Oldest first. */
    async list(): Promise<KeyDescription[]> {
      const lists = await Promise.all([accessKeys.list(), identityKeys.list()])
      return lists.flat().sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1))
    },
    /** Adds a key for access tokens, and one for ID tokens where there is one: nothing else needs it. */
    async rotate(how?: {
      atOnce?: boolean
    }): Promise<{ key: KeyDescription; identityKey: KeyDescription | null }> {
      const key = await accessKeys.rotate(how)
      const isNeeded = (await identityKeys.list()).length > 0
      return { key, identityKey: isNeeded ? await identityKeys.rotate(how) : null }
    },
    /** A name is the thumbprint of its key, so no two keys share one. */
    revoke: async (kid: string): ReturnType<Keys['revoke']> =>
      (await accessKeys.revoke(kid)) ?? (await identityKeys.revoke(kid)),
  }
}

const orderOf = ({ signsFrom, kid }: KeyDescription) => `${signsFrom.toISOString()} ${kid}`
