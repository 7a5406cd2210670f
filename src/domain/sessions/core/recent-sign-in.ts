/**
 * Shows that somebody signed in a moment ago. An access token says when its session began, but other services see access
 * tokens: so the session's present refresh token is asked for as well, which goes nowhere but here.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { RefreshTokens } from '../tokens/refresh-token.ts'
import type { Authenticated } from './authentication.ts'
import type { FamilyStore } from './family-store.ts'

interface Needs {
  refreshTokens: RefreshTokens
  clock: Clock
  stores: { families: FamilyStore }
}

export const RECENT_SIGN_IN_MS = 5 * 60_000

/**
 * A passkey of this age confirms changes even if it was added without the password or a second factor. Its owner was
 * told of it, and has had time to remove what an intruder added.
 */
export const PASSKEY_AGE_MS = 24 * 3600_000

export type RecentSignIn = ReturnType<typeof createRecentSignIn>

export function createRecentSignIn({ refreshTokens, clock, stores }: Needs) {
  return {
    /**
     * Tells whether the session was opened less than five minutes ago and this is its present refresh token, which is
     * neither rotated nor counted as used. A session that a passkey opened does not count while the account has a young
     * one (`PASSKEY_AGE_MS`).
     */
    async isShown({ sessionId }: Authenticated, refreshToken: string | null | undefined): Promise<boolean> {
      const presented = refreshToken ? refreshTokens.read(refreshToken) : null
      if (presented === null) return false
      const now = clock.now()
      const ago = (ms: number) => new Date(now.getTime() - ms)
      const { familyHash, generation } = presented
      const bounds = { since: ago(RECENT_SIGN_IN_MS), youngSince: ago(PASSKEY_AGE_MS), now }
      return stores.families.isRecent({ familyHash, generation, sessionId, ...bounds })
    },
  }
}
