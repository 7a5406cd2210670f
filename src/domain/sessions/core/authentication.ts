/**
 * Authenticates a request by its access token: the signature, and the session as it is now. So a revoked session or a
 * locked account is refused at once and not only when the token expires.
 */

import type { Clock } from '../../../platform/clock.ts'
import { setCurrentSession } from '../../../platform/request-context.ts'
import { AppError } from '../../../texts/errors.ts'
import type { AccountSession } from '../../accounts/core/account.ts'
import type { AccessTokenService } from '../tokens/access-token.ts'
import type { AccessTokenClaims } from '../tokens/claims.ts'
import type { SessionStore } from './store.ts'

/** The value that handlers of Bearer routes get as `signedIn`. The account was read with this request. */
export interface Authenticated extends AccountSession {
  /** The name that the client gave at login. */
  deviceFingerprint: string | null
  /** The address where the session was opened; null for one of an older version. */
  signInIp: string | null
  claims: AccessTokenClaims
  /**
   * Gives the session a new cookie, so that a copy of the one before opens nothing: called before its rights change. A
   * client with tokens has none. `proved`: everything that the account requires was proved in this call.
   */
  renew?: (proved?: boolean) => Promise<void>
}

interface Needs {
  accessTokens: AccessTokenService
  clock: Clock
  stores: { sessions: SessionStore }
}

const BEARER = /^Bearer +([\w~+/.-]+=*) *$/i

/** It returns null if the header contains no Bearer token. */
export function readBearerToken(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? '')?.[1] ?? null
}

export type Authentication = ReturnType<typeof createAuthentication>

export function createAuthentication({ stores, accessTokens, clock }: Needs) {
  const store = stores.sessions
  return {
    /**
     * Takes an Authorization header (RFC 6750, 2.1); one round trip. A token that has only expired is told from
     * everything else that is refused, a missing header included.
     */
    async authenticate(authorization: string | undefined): Promise<Authenticated> {
      const token = readBearerToken(authorization)
      if (token === null) throw new AppError('invalid_token', { cause: 'no_bearer_token' })
      const claims = await accessTokens.verify(token)
      const { sessionId, accountUuid } = claims
      const found = await store.findSignedIn(sessionId, accountUuid, clock.now())
      if (found === null) throw new AppError('invalid_token', { cause: 'session_over' })
      const { deviceFingerprint, deviceName, signInIp, ...account } = found
      if (account.tokensNotBefore !== null && claims.issuedAt < account.tokensNotBefore)
        throw new AppError('invalid_token', { cause: 'tokens_ended' })
      setCurrentSession({ id: sessionId, deviceName })
      return { account, sessionId, deviceFingerprint, signInIp, claims }
    },
  }
}
