/**
 * Sessions after login. A refresh token can be used once. Shortly afterwards the same token returns the same successor
 * again, for the device of the session longer than for other clients. A token that comes later counts as stolen, and
 * the session ends.
 */

import { isOwn, isPublic } from '../../../platform/config/applications.ts'
import type { Ground } from '../../../platform/ground.ts'
import { bucketAddress } from '../../../platform/http/client-address.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { TrustedDevices } from '../../accounts/devices/trusted-devices.ts'
import { isUuid } from '../../foundation/identifiers/identifier.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { AccessTokenService } from '../tokens/access-token.ts'
import type { AccountClaims, ClaimAccount } from '../tokens/account-claims.ts'
import type { SignedSubject } from '../tokens/claims.ts'
import type { RefreshToken, RefreshTokens } from '../tokens/refresh-token.ts'
import { type Authenticated, readBearerToken } from './authentication.ts'
import type { FamilyStore, Rotation, SessionFamily } from './family-store.ts'
import type { ListedSession } from './session.ts'
import { sessionRecord } from './session-schema.ts'
import type { SessionStore } from './store.ts'

interface RefreshingClient {
  /** Null: the server of an application that proved its secret. */
  address: string | null
  fingerprint: string | null
}

/** Who may present a refresh token, and how it goes on. */
export interface Holder {
  kind: 'direct' | 'application'
  /** The applications whose sessions these are; `-` for those of no application. */
  applications: readonly string[]
  /** The cause, for the log, where the session is of another one. */
  otherwise: string
  /** False: the token stays the same. */
  rotates: boolean
  /** Throws if the account gets nothing more, before anything is written. */
  admit?: (account: Account) => void
}

/** The session after a refresh, with the account where `admit` was asked. */
export interface Refreshed {
  subject: SignedSubject
  account: Account | null
  /** The secret that all tokens of the session have in common. */
  family: Uint8Array
  refreshToken: string
}

export type SessionRecord = ReturnType<typeof ownSessionRecord> & { trusted_device?: boolean }

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  accessTokens: AccessTokenService
  accountClaims: AccountClaims
  trustedDevices: TrustedDevices
  refreshTokens: RefreshTokens
  notices: OwnerNotices
  metrics: Metrics
  stores: { families: FamilyStore; sessions: SessionStore }
}

/** A client that lost the answer tries again within this time, and two tabs of one person refresh at the same time. */
const OWN_DEVICE_MS = 30_000
/** A client may change networks between two attempts. */
const ANYBODY_MS = 10_000
/** A device may have slept while the request was under way. */
const LATE_RETRIES = 2
const LATE_RETRIES_MS = 7 * 86_400_000

/**
 * The time after its expiry in which an access token may still name the session to sign out of: as long as its key is
 * published (tokens/key-rotation.ts).
 */
const LATE_LOGOUT_SECONDS = 3600

/** Nobody would read through more sessions. */
const MAXIMUM_LISTED = 100

export type SessionService = ReturnType<typeof createSessionService>

export function createSessionService(needs: Needs) {
  const { trustedDevices, accessTokens, accountClaims, refreshTokens, notices, clock, config, metrics } =
    needs
  const { sessions: store, families } = needs.stores

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

  /** Where claims are required, a refusal is decided before the session is rotated. */
  async function rotate(
    rotation: Rotation,
    { admit }: Holder,
    now: Date,
  ): Promise<Pick<Refreshed, 'subject' | 'account'> | null> {
    const isAsked = admit !== undefined || accountClaims.hasRequired
    if (!isAsked && !accountClaims.isConfigured) {
      const subject = await families.rotate(rotation, now)
      return subject && { subject, account: null }
    }
    const rotated = isAsked
      ? await families.rotateAdmitted(rotation, admit ?? accountClaims.require, now)
      : await families.rotateWithClaims(rotation, now)
    return (
      rotated && {
        subject: { ...rotated.subject, claims: claimsOf(rotated.account, rotation.kind) },
        account: admit ? (rotated.account as Account) : null,
      }
    )
  }

  /** The tokens of applications of others have no claims. */
  const claimsOf = (account: ClaimAccount, kind: string) =>
    kind === 'direct' ? accountClaims.of(account) : {}

  /**
   * Finds the session of a token that is not the newest of a valid session, and says whether the token is only late.
   */
  async function checkOlder(
    { familyHash, generation }: RefreshToken,
    client: RefreshingClient,
    holder: Holder,
    now: Date,
  ): Promise<Pick<Refreshed, 'subject' | 'account'>> {
    const family = await families.findFamily(familyHash, holder.kind)
    if (family === null || family.revokedAt !== null || family.account.lockedAt !== null) {
      throw new AppError('invalid_token', { cause: 'session_over' })
    }
    if (family.expiresAt <= now) throw new AppError('token_expired')
    if (!holder.applications.includes(family.subject.clientId ?? '-'))
      throw new AppError('invalid_token', { cause: holder.otherwise })
    if (family.generation === generation + 1 && (await mayRepeat(family, client, now))) {
      holder.admit?.(family.account)
      const { subject, account } = family
      return { subject: { ...subject, claims: claimsOf(account, holder.kind) }, account }
    }
    if (family.generation > generation) await endReused(family, now)
    throw new AppError('invalid_token', { cause: 'reused' })
  }

  /** Tells whether the token before the newest one is accepted once more; the newest one was never used. */
  async function mayRepeat(family: SessionFamily, client: RefreshingClient, now: Date): Promise<boolean> {
    const rotatedMsAgo = now.getTime() - (family.rotatedAt?.getTime() ?? 0)
    if (rotatedMsAgo < ANYBODY_MS) return true
    if (rotatedMsAgo < OWN_DEVICE_MS) return isOwnDevice(family, client)
    if (family.deviceFingerprint === null || family.deviceFingerprint !== client.fingerprint) return false
    accountClaims.require(family.account)
    const since = new Date(now.getTime() - LATE_RETRIES_MS)
    const { generation, subject } = family
    const { sessionId } = subject
    return families.takeLateRetry({ sessionId, generation, since, most: LATE_RETRIES, now })
  }

  async function endReused({ account, subject, deviceName }: SessionFamily, now: Date): Promise<void> {
    metrics.count('refresh_reuse_total')
    const [first] = await notices.about(account, 'refresh_token_reused')
    const values = deviceName === null ? {} : { device: deviceName }
    await families.endReused(subject.sessionId, first ? [{ ...first, values }] : [], now)
  }

  /**
   * One round trip to the database if the token is the newest of its session. A session past its idle or absolute
   * expiry is told from every other token that is refused. An incomplete account is refused before anything is written.
   */
  async function advance(typed: string, client: RefreshingClient, holder: Holder): Promise<Refreshed> {
    const presented = refreshTokens.read(typed)
    if (presented === null) throw new AppError('invalid_token', { cause: 'not_ours' })
    const now = clock.now()
    const { family, familyHash, generation } = presented
    const step = holder.rotates ? 1 : 0
    const rotation = {
      ...{ familyHash, generation, step },
      expiresAt: new Date(now.getTime() + config.tokens.refreshLifetimeSeconds * 1000),
      address: client.address,
      kind: holder.kind,
      applications: holder.applications.join(),
    }
    const found = (await rotate(rotation, holder, now)) ?? (await checkOlder(presented, client, holder, now))
    return { ...found, family, refreshToken: refreshTokens.write({ family, generation: generation + step }) }
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

/**
 * Recognises the device by the fingerprint that the sign-in gave or, if it gave none, by the address of the sign-in
 * or of the last use. An application does not know the fingerprint, which is the browser's; one that proved its secret is
 * known by that.
 */
function isOwnDevice(
  { deviceFingerprint, ip, signInIp, subject }: SessionFamily,
  { address, fingerprint }: RefreshingClient,
): boolean {
  if (address === null) return true
  if (deviceFingerprint !== null && !subject.clientId) return deviceFingerprint === fingerprint
  const own = [ip, signInIp].flatMap((one) => (one === null ? [] : [bucketAddress(one)]))
  return own.includes(bucketAddress(address))
}

const ownSessionRecord = (session: ListedSession, currentId: string) => ({
  ...sessionRecord(session),
  current: session.id === currentId,
})
