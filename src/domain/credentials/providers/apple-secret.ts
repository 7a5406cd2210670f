/** Apple's client secret: a token that the operator's team signs with the key of its developer account. */
import { createPrivateKey } from 'node:crypto'
import { SignJWT } from 'jose'
import type { Clock } from '../../../platform/clock.ts'

/** Apple accepts up to 15,777,000 s (six months); ours only has to outlive a request. */
const LIFETIME_SECONDS = 3600
const RENEWED_BEFORE_SECONDS = 600

interface AppleKey {
  teamId: string
  keyId: string
  /** PEM, P-256. */
  privateKey: string
  clientId: string
}

/** Returns a function that gives the current secret. About one is signed in an hour, not one for each sign-in. */
export function createAppleSecret({ teamId, keyId, privateKey, clientId }: AppleKey, clock: Clock) {
  const key = createPrivateKey(privateKey)
  let secret = ''
  let issuedAt = Number.NEGATIVE_INFINITY

  return async function appleSecret(): Promise<string> {
    const now = Math.floor(clock.now().getTime() / 1000)
    if (Math.abs(now - issuedAt) < LIFETIME_SECONDS - RENEWED_BEFORE_SECONDS) return secret
    secret = await new SignJWT()
      .setProtectedHeader({ alg: 'ES256', kid: keyId })
      .setIssuer(teamId)
      .setSubject(clientId)
      .setAudience('https://appleid.apple.com')
      .setIssuedAt(now)
      .setExpirationTime(now + LIFETIME_SECONDS)
      .sign(key)
    issuedAt = now
    return secret
  }
}
