/**
 * Refresh tokens: 32 bytes in hex that look random, and tell only this service something. 16 random ones name the
 * session's family to whoever holds a token of it, four count its generations, twelve authenticate both under the
 * server secret and mask them. So the successor of a token is the same however often it is reckoned, an older token of
 * a family is recognised without keeping it, and what stands in the database (the SHA-256 of the random part, and a
 * number) is of no use to who reads it.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { ServerSecret } from '../../platform/secret.ts'

export interface RefreshToken {
  /** Secret, as the token is. */
  family: Uint8Array
  /** What stands in the database in its place. */
  familyHash: Uint8Array
  /** 0 is the login's. */
  generation: number
}

export interface RefreshTokens {
  /** Of a new session. */
  create(): RefreshToken
  /** 64 hexadecimal digits. */
  write(token: Pick<RefreshToken, 'family' | 'generation'>): string
  /** Null for everything that `write` did not make under this server secret. */
  read(text: string): RefreshToken | null
}

const FAMILY_BYTES = 16
const BODY_BYTES = 20
const TAG_BYTES = 12
const TOKEN = /^[0-9a-f]{64}$/

export function createRefreshTokens(secret: ServerSecret): RefreshTokens {
  /** 96 bits, of which each guess costs a request (NIST SP 800-107, 5.3.3, asks for 32 at least). */
  const tagOf = (body: Uint8Array) => secret.tag('refresh token', body).subarray(0, TAG_BYTES)
  /** Puts the mask on, or takes it off: the tag is its nonce, as in SIV (RFC 5297). */
  const masked = (body: Uint8Array, tag: Uint8Array) => {
    const mask = secret.tag('refresh token mask', tag)
    return Buffer.from(body.map((byte, index) => byte ^ (mask[index] ?? 0)))
  }
  return {
    create: () => withHash(randomBytes(FAMILY_BYTES), 0),
    write({ family, generation }) {
      const body = Buffer.alloc(BODY_BYTES)
      body.set(family)
      body.writeUInt32BE(generation, FAMILY_BYTES)
      const tag = tagOf(body)
      return tag.toString('hex') + masked(body, tag).toString('hex')
    },
    read(text) {
      if (!TOKEN.test(text)) return null
      const bytes = Buffer.from(text, 'hex')
      const tag = bytes.subarray(0, TAG_BYTES)
      const body = masked(bytes.subarray(TAG_BYTES), tag)
      if (!timingSafeEqual(tag, tagOf(body))) return null
      return withHash(body.subarray(0, FAMILY_BYTES), body.readUInt32BE(FAMILY_BYTES))
    },
  }
}

function withHash(family: Uint8Array, generation: number): RefreshToken {
  return { family, familyHash: createHash('sha256').update(family).digest(), generation }
}
