/**
 * Somebody who proved two factors on a device can have it trusted for a while (`two_factor.trust_device`). Its token
 * then takes the place of the second step of a sign-in, and of nothing else. A session that it opens has proved one
 * factor.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import { AppError } from '../../../texts/errors.ts'
import { isUuid } from '../../foundation/identifiers/identifier.ts'
import type { Account } from '../core/account.ts'
import type { KnownDevices } from './service.ts'
import type { TrustedDeviceStore } from './trusted-device-store.ts'

interface Needs {
  devices: Pick<KnownDevices, 'tagOf'>
  clock: Clock
  config: Pick<Config, 'twoFactor'>
  stores: { trustedDevices: TrustedDeviceStore }
}

const hashOf = (token: string) => createHash('sha256').update(token).digest()

export interface TrustedDevice {
  id: string
  /** It is null where its sign-ins named none, or are forgotten. */
  name: string | null
  createdAt: Date
  lastUsedAt: Date | null
}

export type TrustedDevices = ReturnType<typeof createTrustedDevices>

export function createTrustedDevices({ devices, clock, config, stores }: Needs) {
  const store = stores.trustedDevices
  /** It is null if trust is off. */
  const lifetimeSeconds = config.twoFactor.trustDevice
  const since = (now: Date) => new Date(now.getTime() - (lifetimeSeconds ?? 0) * 1000)
  return {
    /** The token, of which only a hash is stored. Null where the account, the session or the device cannot be trusted. */
    async trust(
      account: Account,
      { id: sessionId, fingerprint }: { id: string; fingerprint: string | null },
    ): Promise<string | null> {
      const deviceTag = devices.tagOf(account.uuid, fingerprint)
      if (lifetimeSeconds === null || deviceTag === null) return null
      const now = clock.now()
      const token = randomBytes(32).toString('base64url')
      const expiresAt = new Date(now.getTime() + lifetimeSeconds * 1000)
      const added = { hash: hashOf(token), accountId: account.id, deviceTag, sessionId, expiresAt, now }
      return (await store.add(added)) ? token : null
    },
    /** Tells whether the token takes the place of the second step of the session that is opened under this id. */
    async use(
      account: Account,
      { fingerprint, trust }: { fingerprint: string | null; trust?: string | null },
      sessionId: string,
    ): Promise<boolean> {
      const deviceTag = devices.tagOf(account.uuid, fingerprint)
      if (lifetimeSeconds === null || deviceTag === null || typeof trust !== 'string') return false
      const now = clock.now()
      const used = { hash: hashOf(trust), accountId: account.id, deviceTag, sessionId }
      return store.use({ ...used, since: since(now), now })
    },
    /**
     * The ids of the account's sessions whose device is trusted. It returns null where devices are not trusted at all.
     */
    async sessionsOf({ id }: Account): Promise<ReadonlySet<string> | null> {
      if (lifetimeSeconds === null) return null
      const now = clock.now()
      return new Set(await store.listSessions(id, since(now), now))
    },
    /** Lists them whether a session of theirs lives or not. */
    async list({ id }: Account): Promise<TrustedDevice[]> {
      const now = clock.now()
      return lifetimeSeconds === null ? [] : store.list(id, since(now), now)
    },
    /** A device of another account is not found. */
    async forgetDevice({ id: accountId }: Account, id: string): Promise<void> {
      const forgotten = isUuid(id) && (await store.removeById(accountId, id, clock.now()))
      if (!forgotten) throw new AppError('device_not_found')
    },
    /** It returns false if the device of the session is not trusted. */
    forget: ({ id }: Account, sessionId: string) => store.remove(id, sessionId, clock.now()),
  }
}
