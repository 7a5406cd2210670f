/**
 * Remembers which tokens proved to be ours, so that a client's next call costs no second proof: one ES256 verification
 * takes longer than everything else such a call does. Only tokens whose signature held come in, by their SHA-256; what
 * changes with time (expiry, the key's place among the published ones, the session) is for the caller to check again.
 */
import { createHash } from 'node:crypto'
import type { AccessTokenClaims } from './access-token.ts'

export interface VerifiedToken {
  claims: AccessTokenClaims
  /** The key that signed it. */
  kid: string
}

export interface VerifiedTokens {
  find(token: string): VerifiedToken | null
  put(token: string, verified: VerifiedToken): void
}

/** Some 4 MB. */
const MAXIMUM = 4096

/** The ones used longest ago make room. */
export function createVerifiedTokens(maximum = MAXIMUM): VerifiedTokens {
  const known = new Map<string, VerifiedToken>()
  const keyOf = (token: string) => createHash('sha256').update(token).digest('base64')
  return {
    find(token) {
      const key = keyOf(token)
      const verified = known.get(key)
      if (!verified) return null
      // A map keeps the order of insertion: the newest use goes last.
      known.delete(key)
      known.set(key, verified)
      return verified
    },
    put(token, verified) {
      known.set(keyOf(token), verified)
      if (known.size <= maximum) return
      const [oldest] = known.keys()
      known.delete(oldest as string)
    },
  }
}
