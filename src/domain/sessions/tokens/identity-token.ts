/**
 * ID tokens, which tell an application who signed in (OpenID Connect Core, 2), and logout tokens, which tell it that a
 * session ended (Back-Channel Logout, 2.4): JWTs by RS256, under keys that sign no access token. An ID token may come back
 * as a hint.
 */
import { createHash, randomUUID } from 'node:crypto'
import { CompactSign, errors, type JWTPayload, jwtVerify } from 'jose'
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { KeyService } from './key-service.ts'

const ALGORITHM = 'RS256'
const ID_TOKEN = 'JWT'
const LOGOUT_TOKEN = 'logout+jwt'
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const LOGOUT_SECONDS = 120
/** Ours have at most some 9,000 characters: 2 KiB of a profile, 2 KiB of further claims, 32 groups. */
const MAXIMUM_HINT = 12_000

/**
 * The issuer of both. It is not that of access tokens, so that no service that verifies those by their issuer takes an ID
 * token for one.
 */
export const identityIssuer = ({ server }: Pick<Config, 'server'>): string => `${server.baseUrl}/oauth2`

/** The names are those of the claims; `iss`, `iat` and `exp` are added. */
export interface OwnIdTokenClaims {
  /** The uuid of the account. */
  sub: string
  /** The id of the application. */
  aud: string
  /** The id of the application's session. */
  sid: string
  /** In seconds. */
  auth_time: number
  amr: string[]
  at_hash?: string
  nonce?: string
  /** About the account. */
  [claim: string]: unknown
}

export type LogoutTokenClaims = Pick<OwnIdTokenClaims, 'sub' | 'aud' | 'sid'>

/** The statements of an ID token that came back as `id_token_hint`. */
export type Hint = LogoutTokenClaims

interface Options {
  keys: Pick<KeyService, 'haveBeenRead' | 'signingKey' | 'findPublicKey'>
  clock: Clock
  issuer: string
  lifetimeSeconds: number
}

export type IdentityTokens = ReturnType<typeof createIdentityTokens>

export function createIdentityTokens({ keys, clock, issuer, lifetimeSeconds }: Options) {
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1000)

  async function sign(typ: string, seconds: number, claims: JWTPayload): Promise<string> {
    await keys.haveBeenRead()
    const { kid, privateKey } = keys.signingKey()
    const iat = nowSeconds()
    // `SignJWT` would copy the claims, which took a tenth of the time of a signature.
    return new CompactSign(Buffer.from(JSON.stringify({ ...claims, iss: issuer, iat, exp: iat + seconds })))
      .setProtectedHeader({ alg: ALGORITHM, typ, kid })
      .sign(privateKey)
  }

  const findKey = async ({ kid }: { kid?: string }) => {
    const key = typeof kid === 'string' ? await keys.findPublicKey(kid) : null
    if (key === null) throw new errors.JWKSNoMatchingKey()
    return key
  }

  return {
    /** Waits where the first key is being made. */
    signIdToken: (claims: OwnIdTokenClaims): Promise<string> => sign(ID_TOKEN, lifetimeSeconds, claims),
    signLogoutToken: ({ sub, aud, sid }: LogoutTokenClaims): Promise<string> =>
      sign(LOGOUT_TOKEN, LOGOUT_SECONDS, {
        sub,
        aud,
        sid,
        jti: randomUUID(),
        events: { [LOGOUT_EVENT]: {} },
      }),
    /**
     * Reads an ID token of ours, whatever its age, if the key that signed it is still published. Null for any other text: a
     * hint that does not count is as good as none.
     */
    async readHint(text: string): Promise<Hint | null> {
      if (text.length > MAXIMUM_HINT) return null
      try {
        await keys.haveBeenRead()
        const { payload } = await jwtVerify(text, findKey, {
          algorithms: [ALGORITHM],
          typ: ID_TOKEN,
          issuer,
          requiredClaims: ['iat', 'exp', 'auth_time'],
          clockTolerance: Number.MAX_SAFE_INTEGER,
        })
        const { sub, aud, sid } = payload
        return isText(sub) && isText(aud) && isText(sid) ? { sub, aud, sid } : null
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}

/** The claim by which an ID token names the access token that comes with it (OpenID Connect Core, 3.1.3.6). */
export const atHash = (accessToken: string): string =>
  createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url')

const isText = (claim: unknown): claim is string => typeof claim === 'string'
