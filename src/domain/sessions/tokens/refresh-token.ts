/**
 * Refresh tokens (docs/decisions/refresh-tokens.md): 32 bytes in hex that look random to everybody else. 16 random
 * bytes name the session's family, four count its generations, and twelve authenticate both under the server secret and
 * mask them. A token that was made under another accepted secret is read as well. Therefore the successor of a token is
 * always the same, and older tokens of a family are recognised without being stored. The database holds the SHA-256 of
 * the random part and a number, which are of no use to a reader.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { AcceptedSecret, ServerSecret } from '../../../platform/secret.ts'

export type RefreshToken = ReturnType<typeof withHash>

const FAMILY_BYTES = 16
const BODY_BYTES = 20
const TAG_BYTES = 12
const TOKEN = /^[0-9a-f]{64}$/

export type RefreshTokens = ReturnType<typeof createRefreshTokens>

/** `label`: what the tokens are for. Those of one use are no tokens of another. */
export function createRefreshTokens(secret: ServerSecret, label = 'refresh token') {
  /** 96 bits; each guess costs a request (NIST SP 800-107, 5.3.3, requires at least 32). */
  const tagOf = (by: AcceptedSecret, body: Uint8Array) => by.tag(label, body).subarray(0, TAG_BYTES)
  /** Applies or removes the mask; the tag is its nonce, as in SIV (RFC 5297). */
  const masked = (by: AcceptedSecret, body: Uint8Array, tag: Uint8Array) => {
    const mask = by.tag(`${label} mask`, tag)
    return Buffer.from(body.map((byte, index) => byte ^ (mask[index] ?? 0)))
  }
  return {
    /** The first token of a new session. */
    create: (): RefreshToken => withHash(randomBytes(FAMILY_BYTES), 0),
    /** 64 hexadecimal digits. */
    write({ family, generation }: Pick<RefreshToken, 'family' | 'generation'>): string {
      const body = Buffer.alloc(BODY_BYTES)
      body.set(family)
      body.writeUInt32BE(generation, FAMILY_BYTES)
      const tag = tagOf(secret.current, body)
      return tag.toString('hex') + masked(secret.current, body, tag).toString('hex')
    },
    /** It returns null for a text that `write` did not make under an accepted server secret. */
    read(text: string): RefreshToken | null {
      if (!TOKEN.test(text)) return null
      const bytes = Buffer.from(text, 'hex')
      const tag = bytes.subarray(0, TAG_BYTES)
      for (const by of secret.accepted) {
        const body = masked(by, bytes.subarray(TAG_BYTES), tag)
        if (timingSafeEqual(tag, tagOf(by, body)))
          return withHash(body.subarray(0, FAMILY_BYTES), body.readUInt32BE(FAMILY_BYTES))
      }
      return null
    },
  }
}

/**
 * `family` is as secret as the token itself: the database holds `familyHash` in its place. `generation`: 0 for the token of
 * the login.
 */
function withHash(family: Uint8Array, generation: number) {
  return { family, familyHash: createHash('sha256').update(family).digest(), generation }
}
