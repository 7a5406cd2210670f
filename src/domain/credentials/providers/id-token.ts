/**
 * Verifies identity tokens (OpenID Connect Core 3.1.3.7), those of the code exchange and those of native apps. It
 * checks the signature by a published key, an asymmetric algorithm, issuer, audience, nonce and expiry.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose'
import type { ServerMetadata } from 'openid-client'
import type { Clock } from '../../../platform/clock.ts'
import type { CachedDocument } from './cached-document.ts'
import { ProviderFailure } from './provider.ts'

/** Everybody who can read the public key could sign with HS256. */
const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$/
const CLOCK_TOLERANCE_SECONDS = 30
/**
 * A token is accepted for a day at most, whatever its expiry is, because each must be remembered for as long as it is
 * valid. OpenID Connect Core 3.1.3.7, 10, leaves that range to us. It may come from a clock that is ahead by as much.
 */
const MAXIMUM_AGE_SECONDS = 86_400
/** OpenID Connect Core 2: a subject has at most 255 ASCII characters. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/
const TENANT = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export interface IdTokenClaims extends JWTPayload {
  iss: string
  sub: string
  /** From then on it would be refused as expired or too old. */
  refusedFrom: Date
}

interface Options {
  metadata: CachedDocument<ServerMetadata>
  keys: CachedDocument<JSONWebKeySet>
  issuerAliases: string[]
  clock: Clock
}

/**
 * Throws ProviderFailure and jose's errors. One of the audiences must be meant. `iss` of what it gives is the published
 * spelling.
 */
export function createIdTokenVerifier({ metadata, keys, issuerAliases, clock }: Options) {
  async function verifyWith(
    keySet: JSONWebKeySet,
    algorithms: string[],
    idToken: string,
    audience: string[],
  ) {
    return jwtVerify(idToken, createLocalJWKSet(keySet), {
      algorithms,
      audience,
      currentDate: clock.now(),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat'],
    })
  }

  return async (
    idToken: string,
    { nonce, audiences }: { nonce: string; audiences: string[] },
  ): Promise<IdTokenClaims> => {
    const { issuer: published, id_token_signing_alg_values_supported = ['RS256'] } = await metadata.get()
    const algorithms = id_token_signing_alg_values_supported.filter((alg) => ASYMMETRIC.test(alg))
    let keySet = await keys.get()
    const verified = await verifyWith(keySet, algorithms, idToken, audiences).catch(async (error) => {
      // A key that is not known yet: the provider may have begun to sign with a new one.
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      keySet = await keys.renewed()
      return verifyWith(keySet, algorithms, idToken, audiences)
    })
    const { payload, protectedHeader } = verified
    const issuer = inTenant(published, payload)
    const key = keySet.keys.find(({ kid }) => kid === protectedHeader.kid) as { issuer?: unknown } | undefined
    if (typeof key?.issuer === 'string' && inTenant(key.issuer, payload) !== issuer) throw refusal('key')
    if (payload.iss !== issuer && !issuerAliases.includes(payload.iss ?? '')) throw refusal('issuer')
    if (payload.nonce !== nonce) throw refusal('nonce')
    if (Array.isArray(payload.aud) && payload.aud.length > 1 && !audiences.includes(String(payload.azp)))
      throw refusal('azp')
    if (typeof payload.sub !== 'string' || !SUBJECT.test(payload.sub)) throw refusal('subject')
    const [issuedAt, now] = [payload.iat!, clock.now().getTime() / 1000]
    if (Math.abs(now - issuedAt) > MAXIMUM_AGE_SECONDS) throw refusal('age')
    const lastSecond = Math.min(payload.exp! + CLOCK_TOLERANCE_SECONDS, issuedAt + MAXIMUM_AGE_SECONDS)
    return { ...payload, iss: issuer, sub: payload.sub, refusedFrom: new Date((lastSecond + 1) * 1000) }
  }
}

const refusal = (what: string) => new ProviderFailure('invalid_token', what)

/**
 * Microsoft publishes one issuer for all tenants, `https://login.microsoftonline.com/{tenantid}/v2.0`. It documents
 * that a token's, and where it is given its key's, must be the same with the token's own tenant in its place.
 */
function inTenant(issuer: string, { tid }: JWTPayload): string {
  return issuer.replace('{tenantid}', typeof tid === 'string' && TENANT.test(tid) ? tid : '')
}
