/**
 * Who asks: the access token of a request, checked against its signature and against its session as it stands now,
 * so that a revoked session or a locked account is refused at once and not when the token expires.
 */

import { AppError } from '../../errors.ts'
import { setCurrentSession } from '../../platform/request-context.ts'
import type { AccountSession } from '../accounts/account.ts'
import type { Services, Stores } from '../services.ts'
import type { AccessTokenClaims } from '../tokens/access-token.ts'

/** `signedIn` in the handlers of Bearer routes. The account is as stored, read with this request. */
export interface Authenticated extends AccountSession {
  /** As its client told at login. */
  deviceFingerprint: string | null
  claims: AccessTokenClaims
}

export interface Authentication {
  /**
   * Of an Authorization header (RFC 6750, 2.1); one round trip. Throws `token_expired` when the token's own time is
   * over and nothing else is wrong, `invalid_token` for everything else, no header at all included.
   */
  authenticate(authorization: string | undefined): Promise<Authenticated>
}

type Needs = Pick<Services, 'accessTokens' | 'clock'> & { stores: Pick<Stores, 'sessions'> }

const BEARER = /^Bearer +([\w~+/.-]+=*) *$/i

/** Null where the header holds no Bearer token. */
export function readBearerToken(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? '')?.[1] ?? null
}

export function createAuthentication({ stores, accessTokens, clock }: Needs): Authentication {
  const store = stores.sessions
  return {
    async authenticate(authorization) {
      const token = readBearerToken(authorization)
      if (token === null) throw new AppError('invalid_token', { cause: 'no_bearer_token' })
      const claims = await accessTokens.verify(token)
      const { sessionId, accountUuid } = claims
      const found = await store.findSignedIn(sessionId, accountUuid, clock.now())
      if (found === null) throw new AppError('invalid_token', { cause: 'session_over' })
      const { deviceFingerprint, deviceName, ...account } = found
      setCurrentSession({ id: sessionId, deviceName })
      return { account, sessionId, deviceFingerprint, claims }
    },
  }
}
