/**
 * Sessions after login. A refresh token can be used once. Shortly afterwards the same token returns the same successor
 * again, for the device of the session longer than for other clients. A token that comes later counts as stolen, and
 * the session ends.
 */

import { isOwn, isPublic } from '../../../platform/config/applications.ts'
import { AppError } from '../../../texts/errors.ts'
import type { TrustedDevices } from '../../accounts/devices/trusted-devices.ts'
import { isUuid } from '../../foundation/identifiers/identifier.ts'
import type { AccessTokenService } from '../tokens/access-token.ts'
import { type Authenticated, readBearerToken } from './authentication.ts'
import { createRefreshing, type Holder, type RefreshingClient } from './refreshing.ts'
import type { ListedSession } from './session.ts'
import { sessionRecord } from './session-schema.ts'
import type { SessionStore } from './store.ts'

export type SessionRecord = ReturnType<typeof ownSessionRecord> & { trusted_device?: boolean }

type Needs = Parameters<typeof createRefreshing>[0] & {
  accessTokens: AccessTokenService
  trustedDevices: TrustedDevices
  stores: { sessions: SessionStore }
}

/**
 * The time after its expiry in which an access token may still name the session to sign out of: as long as its key is
 * published (tokens/key-rotation.ts).
 */
const LATE_LOGOUT_SECONDS = 3600

/** Nobody would read through more sessions. */
const MAXIMUM_LISTED = 100

export type SessionService = ReturnType<typeof createSessionService>

export function createSessionService(needs: Needs) {
  const { trustedDevices, accessTokens, refreshTokens, clock, config } = needs
  const { sessions: store, families } = needs.stores
  const advance = createRefreshing(needs)

  /**
   * Anybody who presents the token of a session. An application that was taken out of the configuration gets nothing more,
   * and one with a secret has to prove it.
   */
  const bearer: Holder = {
    kind: 'direct',
    applications: [
      '-',
      ...config.pages.applications.filter((one) => isOwn(one) && isPublic(one)).map(({ id }) => id),
    ],
    otherwise: 'application_removed',
    rotates: true,
  }

  return {
    advance,
    async refresh(typed: string, client: RefreshingClient) {
      const { subject, refreshToken } = await advance(typed, client, bearer)
      return { accessToken: await accessTokens.sign(subject), refreshToken }
    },
    /** Ends the session of each token given and ignores tokens without a session. One of the two must be given. */
    async logOut(refreshToken: string | null, authorization: string | undefined): Promise<void> {
      if (refreshToken === null && authorization === undefined) {
        throw new AppError('validation_failed', { fields: [{ field: 'refresh_token', code: 'required' }] })
      }
      const now = clock.now()
      const presented = refreshToken === null ? null : refreshTokens.read(refreshToken)
      if (presented !== null) await families.endFamily(presented.familyHash, now)
      const claims = await readClaims(authorization)
      if (claims !== null) await store.end(claims.sessionId, claims.accountUuid, now, { bySelf: true })
    },
    /** Ends every session of the account, including the caller's. */
    logOutAll: ({ account }: Authenticated): Promise<void> => store.endAll(account.id, clock.now()),
    async list({ account, sessionId }: Authenticated): Promise<SessionRecord[]> {
      const sessions = await store.list(account.id, MAXIMUM_LISTED, clock.now())
      const trusted = await trustedDevices.sessionsOf(account)
      return sessions.map((session) => ({
        ...ownSessionRecord(session, sessionId),
        ...(trusted && { trusted_device: trusted.has(session.id) }),
      }))
    },
    /** A session of another account is not found. */
    async end({ account, sessionId: own }: Authenticated, sessionId: string): Promise<void> {
      const bySelf = sessionId === own
      const ended = isUuid(sessionId) && (await store.end(sessionId, account.uuid, clock.now(), { bySelf }))
      if (!ended) throw new AppError('session_not_found')
    },
    /** Ends the trust in one device, whether a session of it lives or not. */
    forgetTrustedDevice: ({ account }: Authenticated, id: string): Promise<void> =>
      trustedDevices.forgetDevice(account, id),
    /** Ends the trust in the device of a session, which goes on. A device that is not trusted is not found. */
    async forgetDevice({ account }: Authenticated, sessionId: string): Promise<void> {
      const forgotten = isUuid(sessionId) && (await trustedDevices.forget(account, sessionId))
      if (!forgotten) throw new AppError('session_not_found')
    },
  }

  /** It returns null for a token that is not one of ours. */
  async function readClaims(authorization: string | undefined) {
    const token = readBearerToken(authorization)
    if (token === null) return null
    try {
      return await accessTokens.verify(token, LATE_LOGOUT_SECONDS)
    } catch (error) {
      if (error instanceof AppError) return null
      throw error
    }
  }
}

const ownSessionRecord = (session: ListedSession, currentId: string) => ({
  ...sessionRecord(session),
  current: session.id === currentId,
})
