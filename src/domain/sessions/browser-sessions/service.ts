/** The session of a browser: a cookie of the pages names it. JSON routes never read that cookie. */

import type { Ground } from '../../../platform/ground.ts'
import { setCurrentSession } from '../../../platform/request-context.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { Authenticated } from '../core/authentication.ts'
import { browserIdleSeconds } from '../core/session-opener.ts'
import type { RefreshTokens } from '../tokens/refresh-token.ts'
import type { BrowserSessionStore } from './store.ts'

export interface BrowserSession extends Authenticated {
  /**
   * The present cookie: `renew` replaces it. It shows a recent sign-in where a route asks for the refresh token.
   */
  cookie: string
  /** The cookie outlives the browser's window. */
  stays: boolean
  renew: () => Promise<void>
  /** The person signed in here then. */
  authenticatedAt: Date
}

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  refreshTokens: RefreshTokens
  stores: { browserSessions: BrowserSessionStore }
}

export type BrowserSessions = ReturnType<typeof createBrowserSessions>

export function createBrowserSessions({ refreshTokens, clock, config, stores }: Needs) {
  const store = stores.browserSessions
  const idle = {
    usual: browserIdleSeconds(false, config.tokens),
    stays: browserIdleSeconds(true, config.tokens),
  }
  const hashOf = (cookie: string | undefined) =>
    (cookie ? refreshTokens.read(cookie) : null)?.familyHash ?? null

  async function find(cookie: string | undefined, address: string): Promise<BrowserSession | null> {
    const cookieHash = hashOf(cookie)
    if (cookieHash === null) return null
    const now = clock.now()
    const found = await store.visit(cookieHash, address, idle, now)
    if (found === null) return null
    const { sessionId, startedAt, amr, deviceName, deviceFingerprint, signInIp, stays, ...account } = found
    setCurrentSession({ id: sessionId, deviceName })
    const session: BrowserSession = {
      account,
      sessionId,
      deviceFingerprint,
      signInIp,
      claims: sessionClaims({ account, sessionId, startedAt, amr }, now),
      cookie: cookie as string,
      stays,
      authenticatedAt: startedAt,
      async renew() {
        const next = refreshTokens.create()
        const former = hashOf(session.cookie) as Uint8Array
        if (!(await store.renew(sessionId, former, next.familyHash, clock.now())))
          throw new AppError('invalid_token', { cause: 'cookie_renewed' })
        session.cookie = refreshTokens.write(next)
      },
    }
    return session
  }

  return {
    /** It returns null for a cookie that names no living session. */
    find,
    /** Called after a sign-in: the session that this browser had before ends. */
    async replace(formerCookie: string | undefined, cookie: string): Promise<void> {
      const [former, opened] = [hashOf(formerCookie), hashOf(cookie)]
      if (former !== null && opened !== null) await store.replace(former, opened, clock.now())
    },
    async end(cookie: string): Promise<void> {
      const cookieHash = hashOf(cookie)
      if (cookieHash !== null) await store.end(cookieHash, clock.now())
    },
  }
}

interface ReadSession {
  account: Account
  sessionId: string
  startedAt: Date
  amr: string
}

/** No token exists: the row itself was read with this request. */
export const sessionClaims = ({ account, sessionId, startedAt, amr }: ReadSession, now: Date) => ({
  accountUuid: account.uuid,
  sessionId,
  roleId: account.roleId,
  authTime: startedAt,
  amr: amr.split(' '),
  tokenId: sessionId,
  issuedAt: startedAt,
  expiresAt: now,
})
