/**
 * Remembers verified tokens by their SHA-256, so that the next call with the same token needs no second verification.
 * One ES256 verification takes longer than everything else in such a call. Only tokens with a valid signature are
 * added. The caller must still check what changes with time: expiry, whether the key is still published, and the
 * session.
 */
import { createHash } from 'node:crypto'
import type { AccessTokenClaims } from './claims.ts'

interface VerifiedToken {
  claims: AccessTokenClaims
  /** The key that signed it. */
  kid: string
}

/** They take about 4 MB. */
const MAXIMUM = 4096

/** The least recently used ones are dropped first. */
export function createVerifiedTokens(maximum = MAXIMUM) {
  const known = new Map<string, VerifiedToken>()
  const keyOf = (token: string) => createHash('sha256').update(token).digest('base64')
  return {
    find(token: string): VerifiedToken | null {
      const key = keyOf(token)
      const verified = known.get(key)
      if (!verified) return null
      // A map keeps the order of insertion, so the latest use goes to the end.
      known.delete(key)
      known.set(key, verified)
      return verified
    },
    put(token: string, verified: VerifiedToken): void {
      known.set(keyOf(token), verified)
      if (known.size <= maximum) return
      const [oldest] = known.keys()
      known.delete(oldest as string)
    },
  }
}
