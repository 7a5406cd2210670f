/**
 * Access tokens of applications of others, which open `/oauth2/userinfo` alone. One is a refresh token under a label of its
 * own, with the time of its making in place of the generation: nothing of it is stored, and its session is found by its family.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import { createRefreshTokens } from './refresh-token.ts'

interface Needs {
  secret: ServerSecret
  clock: Clock
  lifetimeSeconds: number
}

export type ApplicationTokens = ReturnType<typeof createApplicationTokens>

export function createApplicationTokens({ secret, clock, lifetimeSeconds }: Needs) {
  const tokens = createRefreshTokens(secret, 'application token')
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000)
  return {
    /** `family`: of the session's refresh tokens. 64 hexadecimal digits. */
    write: (family: Uint8Array): string => tokens.write({ family, generation: nowSeconds() }),
    /** Null for what is not one of ours; `isOver`: its time is over. */
    read(text: string): { familyHash: Uint8Array; issuedAt: Date; isOver: boolean } | null {
      const token = tokens.read(text)
      if (token === null) return null
      const { familyHash, generation: issuedAt } = token
      return {
        familyHash,
        issuedAt: new Date(issuedAt * 1000),
        isOver: issuedAt + lifetimeSeconds <= nowSeconds(),
      }
    },
  }
}
