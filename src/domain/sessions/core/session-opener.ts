/** Opens sessions: the last step of every way to sign in. */

import { randomUUID } from 'node:crypto'
import type { Config } from '../../../platform/config/types.ts'
import type { Ground } from '../../../platform/ground.ts'
import { AppError } from '../../../texts/errors.ts'
import type { Account } from '../../accounts/core/account.ts'
import { accountRecord } from '../../accounts/core/account-schema.ts'
import type { OwnerNotices } from '../../accounts/core/owner-notices.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { AccessTokenService } from '../tokens/access-token.ts'
import type { AccountClaims } from '../tokens/account-claims.ts'
import type { RefreshTokens } from '../tokens/refresh-token.ts'
import type { SignInPolicy } from './policy.ts'
import type { Device, NewSession } from './session.ts'
import type { SessionStore } from './store.ts'

type WrittenAccount = Account & { isNewDevice?: boolean }

interface SignIn {
  /** The id of the session; default: a new one. */
  id?: string
  account: Account
  device: Device
  address: string
  /** The methods by which the person signed in, as RFC 8176 values: `pwd`, `otp`, `mfa`. */
  amr: string[]
  /** Writes the session together with other changes of the sign-in; without it only the session is written. */
  write?: (session: NewSession, now: Date) => Promise<WrittenAccount | null>
}

interface Needs extends Pick<Ground, 'clock' | 'config' | 'logger'> {
  devices: KnownDevices
  accessTokens: AccessTokenService
  accountClaims: AccountClaims
  refreshTokens: RefreshTokens
  limits: LimitService
  notices: OwnerNotices
  outbox: Outbox
  policy: SignInPolicy | null
  stores: { sessions: SessionStore }
}

/** A new session, with its tokens and its account; `deviceToken`: the device is trusted now. */
export type OpenedSession = Awaited<ReturnType<SessionOpener['open']>> & { deviceToken?: string }
export type SessionOpener = ReturnType<typeof createSessionOpener>

export function createSessionOpener(needs: Needs) {
  const {
    devices,
    accessTokens,
    accountClaims,
    refreshTokens,
    limits,
    notices,
    outbox,
    clock,
    logger,
    config,
    policy,
  } = needs
  const store = needs.stores.sessions
  const { refreshLifetimeSeconds, refreshAbsoluteLifetimeSeconds } = config.tokens
  const lifetimeSeconds = policy?.lifetimeSeconds ?? refreshAbsoluteLifetimeSeconds
  const idleSecondsOf = ({ browser }: Device) =>
    browser ? browserIdleSeconds(browser.stays, config.tokens) : refreshLifetimeSeconds

  /** A sign-in is not refused because nobody can be told of it. */
  async function tellOwner(account: Account, { name, os }: Device): Promise<void> {
    try {
      if (!(await limits.admits([limits.counters.newDevices(account.uuid)]))) return
      const named = name ?? os
      const values = named === null ? {} : { device: named }
      await outbox.sendNotices(await notices.about(account, 'new_device', { values }))
    } catch {
      logger.warn({ account: account.uuid }, 'the owner could not be told of a new device')
    }
  }

  /** A right that an administrator took away since the account was read ends the session that was opened. */
  async function claimsOf(account: Account, sessionId: string, now: Date) {
    try {
      return accountClaims.of(account)
    } catch (error) {
      await store.end(sessionId, account.uuid, now)
      throw error
    }
  }

  async function signToken(account: Account, { id, kind, amr }: NewSession, now: Date): Promise<string> {
    const claims = await claimsOf(account, id, now)
    if (kind === 'browser') return ''
    const { uuid: accountUuid, roleId } = account
    return accessTokens.sign({ accountUuid, sessionId: id, roleId, authTime: now, amr, claims })
  }

  return {
    /**
     * Refuses if the account was locked or erased, or its password changed, in the meantime. An incomplete account is
     * refused before anything is written. The session of a browser, or of a place with a policy, has no access token.
     */
    async open({ id = randomUUID(), account, device, address, amr, write }: SignIn) {
      if (!suffices(policy, amr)) throw new AppError('invalid_credentials', { cause: 'policy' })
      if (policy === null) accountClaims.require(account)
      const now = clock.now()
      const refreshToken = refreshTokens.create()
      const tags = devices.tagsOf(account.uuid, { fingerprint: device.fingerprint, address })
      const after = (seconds: number) => new Date(now.getTime() + seconds * 1000)
      const session = {
        id,
        device,
        address,
        tags,
        amr,
        familyHash: refreshToken.familyHash,
        kind: device.browser ? ('browser' as const) : ('direct' as const),
        stays: device.browser?.stays ?? false,
        expiresAt: after(policy ? lifetimeSeconds : Math.min(idleSecondsOf(device), lifetimeSeconds)),
        endsAt: after(lifetimeSeconds),
      }
      const signedIn: WrittenAccount | null = await (policy
        ? policy.write(account, session, now)
        : (write?.(session, now) ?? store.signIn(account, session, now)))
      if (signedIn === null) throw new AppError('invalid_credentials')
      if (signedIn.isNewDevice && config.accounts.notifyNewDevice) await tellOwner(signedIn, device)
      return {
        accessToken: policy === null ? await signToken(signedIn, session, now) : '',
        refreshToken: refreshTokens.write(refreshToken),
        account: accountRecord(signedIn, config.accounts.passwordDigest),
      }
    },
  }
}

/** Tells whether a session may be opened for what was proved (RFC 8176): everything that opens one asks here. */
const suffices = (policy: SignInPolicy | null, amr: readonly string[]): boolean =>
  policy === null || (amr.includes('pwd') && amr.includes('mfa'))

const USUAL_SECONDS = 12 * 3600
const STAYS_SECONDS = 30 * 86_400

/** The seconds that a browser's session lives without a request to a page, never more than that of a client that refreshes. */
export const browserIdleSeconds = (stays: boolean, { refreshLifetimeSeconds }: Config['tokens']): number =>
  Math.min(stays ? STAYS_SECONDS : USUAL_SECONDS, refreshLifetimeSeconds)
