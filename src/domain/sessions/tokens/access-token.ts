/**
 * Access tokens: JWTs of RFC 9068 (`typ: at+jwt`), signed with ES256 through @elysiajs/jwt, verified with jose
 * against the published keys only. Algorithm, issuer, audience and type are pinned (RFC 8725); a header's jku, x5u,
 * x5c or jwk is never followed, since nothing here reads them.
 */
import { randomUUID } from 'node:crypto'
import { jwt } from '@elysiajs/jwt'
import { errors, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../../../platform/clock.ts'
import { ownClaims } from '../../../platform/config/claims-rule.ts'
import { AppError } from '../../../texts/errors.ts'
import type { AccessTokenClaims, SignedSubject } from './claims.ts'
import type { KeyService, SigningKey } from './key-service.ts'
import { createVerifiedTokens } from './verified-tokens.ts'

const ALGORITHM = 'ES256'
const TOKEN_TYPE = 'at+jwt'
/**
 * The time beyond the configured lifetime for which a token may still be valid, because the clocks of replicas differ.
 * A token that is valid for longer is not ours, whatever key signed it, or was signed under a longer
 * `tokens.access_lifetime`.
 */
const LIFETIME_MARGIN_SECONDS = 60
/** Our tokens have about 500 characters, and at most 3,300 with the claims of `[tokens.claims]`. */
const MAXIMUM_LENGTH = 4096

interface AccessTokenOptions {
  keys: Pick<KeyService, 'signingKey' | 'findPublicKey'>
  clock: Clock
  /** The service's base_url. */
  issuer: string
  audience: string
  lifetimeSeconds: number
}

export type AccessTokenService = ReturnType<typeof createAccessTokenService>

export function createAccessTokenService(options: AccessTokenOptions) {
  const { keys, clock, issuer, audience, lifetimeSeconds } = options
  const signers = new WeakMap<CryptoKey, ReturnType<typeof createSigner>>()
  const signerOf = (key: SigningKey) => {
    const signer = signers.get(key.privateKey) ?? createSigner(key, issuer, audience)
    signers.set(key.privateKey, signer)
    return signer
  }
  const findKey = async ({ kid }: { kid?: string }) => {
    const key = typeof kid === 'string' ? await keys.findPublicKey(kid) : null
    if (key === null) throw new AppError('invalid_token', { cause: 'unknown_key' })
    return key
  }

  const verified = createVerifiedTokens()

  /** The claims of a token that was verified before, if its key is still published; otherwise null. */
  async function recall(token: string, lateSeconds: number): Promise<AccessTokenClaims | null> {
    const known = verified.find(token)
    if (known === null || (await keys.findPublicKey(known.kid)) === null) return null
    const nowSeconds = toSeconds(clock.now()) - lateSeconds
    if (toSeconds(known.claims.expiresAt) <= nowSeconds) throw new AppError('token_expired')
    return known.claims
  }

  return {
    /** `iat` is the system time, which @elysiajs/jwt sets itself; `exp` is computed from the clock. */
    sign: ({ accountUuid, sessionId, roleId, authTime, amr, clientId, claims }: SignedSubject) =>
      signerOf(keys.signingKey()).sign({
        ...claims,
        sub: accountUuid,
        sid: sessionId,
        jti: randomUUID(),
        exp: toSeconds(clock.now()) + lifetimeSeconds,
        auth_time: toSeconds(authTime),
        amr,
        role_id: roleId,
        ...(clientId && { client_id: clientId }),
      }),
    /**
     * Tells a token that is only too old from every other token that is refused. A token that expired less than
     * `lateSeconds` ago still passes.
     */
    async verify(token: string, lateSeconds: number = 0): Promise<AccessTokenClaims> {
      if (token.length > MAXIMUM_LENGTH) throw new AppError('invalid_token', { cause: 'too_long' })
      const known = await recall(token, lateSeconds)
      if (known !== null) return known
      try {
        const { payload, protectedHeader } = await jwtVerify(token, findKey, {
          algorithms: [ALGORITHM],
          typ: TOKEN_TYPE,
          issuer,
          audience,
          requiredClaims: [...ownClaims],
          currentDate: clock.now(),
          clockTolerance: lateSeconds,
        })
        const claims = readClaims(payload)
        const latestExpiry = toSeconds(clock.now()) + lifetimeSeconds + LIFETIME_MARGIN_SECONDS
        if (toSeconds(claims.expiresAt) > latestExpiry) {
          throw new AppError('invalid_token', { cause: 'lifetime' })
        }
        verified.put(token, { claims, kid: protectedHeader.kid as string })
        return claims
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw new AppError('token_expired')
        if (error instanceof errors.JOSEError) throw new AppError('invalid_token', { cause: error.code })
        throw error
      }
    },
  }
}

/** The plugin holds one key, so each key has its own instance. `exp` is passed at each signing. */
function createSigner({ kid, privateKey }: SigningKey, issuer: string, audience: string) {
  const plugin = jwt({
    secret: privateKey,
    alg: ALGORITHM,
    kid,
    typ: TOKEN_TYPE,
    iss: issuer,
    aud: audience,
  })
  return plugin.decorator.jwt
}

function readClaims({ sub, sid, jti, iat, exp, auth_time, amr, role_id }: JWTPayload): AccessTokenClaims {
  const strings = [sub, sid, jti, ...(Array.isArray(amr) ? amr : [null])]
  const numbers = [iat, exp, auth_time, role_id]
  if (!strings.every((claim) => typeof claim === 'string') || !numbers.every(Number.isSafeInteger)) {
    throw new AppError('invalid_token', { cause: 'claim_type' })
  }
  return {
    accountUuid: sub as string,
    sessionId: sid as string,
    tokenId: jti as string,
    roleId: role_id as number,
    amr: amr as string[],
    authTime: toDate(auth_time as number),
    issuedAt: toDate(iat as number),
    expiresAt: toDate(exp as number),
  }
}

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000)
}

function toDate(seconds: number): Date {
  return new Date(seconds * 1000)
}
