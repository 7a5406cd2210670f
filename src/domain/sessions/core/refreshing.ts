/**
 * Refreshing a session, by whoever holds it: its newest token, or one that is only late. A token that comes later counts as
 * stolen, and the session ends.
 */

import type { Ground } from '../../../platform/ground.ts'
import { bucketAddress } from '../../../platform/http/client-address.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { AccountClaims, ClaimAccount } from '../tokens/account-claims.ts'
import type { SignedSubject } from '../tokens/claims.ts'
import type { RefreshToken, RefreshTokens } from '../tokens/refresh-token.ts'
import type { FamilyStore, Rotation, SessionFamily } from './family-store.ts'

export interface RefreshingClient {
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

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  accountClaims: AccountClaims
  refreshTokens: RefreshTokens
  notices: OwnerNotices
  metrics: Metrics
  stores: { families: FamilyStore }
}

/** A client that lost the answer tries again within this time, and two tabs of one person refresh at the same time. */
const OWN_DEVICE_MS = 30_000
/** A client may change networks between two attempts. */
const ANYBODY_MS = 10_000
/** A device may have slept while the request was under way. */
const LATE_RETRIES = 2
const LATE_RETRIES_MS = 7 * 86_400_000

export function createRefreshing(needs: Needs) {
  const { accountClaims, refreshTokens, notices, clock, config, metrics } = needs
  const { families } = needs.stores

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

  return advance
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
