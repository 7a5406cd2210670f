/**
 * Recognizes calls from a device that the account signed in with: those are the owner's, and pay on counters of their
 * own. An answer that must be alike for everybody relies on the fingerprint alone, since an address is shared. A login
 * may also come from a public address of the account's last sign-ins.
 */
import type { Ground } from '../../../platform/ground.ts'
import { bucketAddress, isPublicAddress } from '../../../platform/http/client-address.ts'
import { decoyAccount } from '../../foundation/decoys/decoys.ts'
import {
  type AddressSource,
  type Caller,
  type DeviceSource,
  deviceAt,
  onKnownDevice,
  type Source,
  stranger,
} from '../../foundation/limits/callers.ts'
import type { Account } from '../core/account.ts'
import type { DeviceTags, KnownDeviceStore } from './store.ts'

/** The address and the device of a session when it was opened. */
export interface SessionClient {
  deviceFingerprint: string | null
  signInIp: string | null
}

interface Options extends Pick<Ground, 'clock' | 'secret'> {
  store: KnownDeviceStore
}

export type KnownDevices = ReturnType<typeof createKnownDevices>

export function createKnownDevices({ store, secret, clock }: Options) {
  const deviceTag = (uuid: string, fingerprint: string | null): Uint8Array | null =>
    fingerprint === null ? null : secret.tag('known device', uuid, fingerprint)
  const addressTag = (uuid: string, address: string) =>
    isPublicAddress(address) ? secret.tag('known address', uuid, bucketAddress(address)) : null

  async function recognizeBy(
    account: Account | null,
    fingerprint: string | null,
    address: string | null,
    client: Source,
  ): Promise<Caller> {
    const { id, uuid } = account ?? decoyAccount
    const tags = {
      device: deviceTag(uuid, fingerprint),
      address: address === null ? null : addressTag(uuid, address),
    }
    if (tags.device === null && tags.address === null) return stranger(client, account)
    const known = await store.find(id, tags, clock.now())
    if (account === null) return stranger(client)
    if (known.device) return onKnownDevice(account, `${fingerprint}`, client)
    if (known.address) return onKnownDevice(account, deviceAt(client.addressBucket), client)
    return stranger(client, account)
  }

  return {
    /** Recognizes the caller by the fingerprint alone. Without one nothing is asked of the database. */
    recognize: (account: Account | null, client: DeviceSource) =>
      recognizeBy(account, client.fingerprint, null, client),
    /** Recognizes the caller also by the address. */
    recognizeAtLogin: (account: Account | null, client: AddressSource & DeviceSource) =>
      recognizeBy(account, client.fingerprint, client.address, client),
    /**
     * True if the account had signed in so long ago with the device of this session. The session must be used where it
     * was opened, or from a public address that is known as long: a token that was taken elsewhere is on no known device.
     * Where the session names no device, the address alone decides.
     */
    async knewFor(
      { id, uuid }: Pick<Account, 'id' | 'uuid'>,
      { deviceFingerprint, signInIp }: SessionClient,
      address: string,
      ms: number,
    ): Promise<boolean> {
      const now = clock.now()
      const before = new Date(now.getTime() - ms)
      const knew = (tags: Partial<DeviceTags>) =>
        store.knewBefore(id, { device: null, address: null, ...tags }, before, now)
      const device = deviceTag(uuid, deviceFingerprint)
      const knewAddress = () => knew({ address: addressTag(uuid, address) })
      if (device === null) return knewAddress()
      if (!(await knew({ device }))) return false
      return (signInIp !== null && bucketAddress(signInIp) === bucketAddress(address)) || knewAddress()
    },
    /** The tag of a device; null where it named no fingerprint. */
    tagOf: deviceTag,
    /**
     * Returns what stays known of a session where all else is forgotten: its device or, if it named none, its public
     * address.
     */
    keptOf: (uuid: string, { deviceFingerprint, signInIp }: SessionClient): Uint8Array | null =>
      deviceTag(uuid, deviceFingerprint) ?? (signInIp === null ? null : addressTag(uuid, signInIp)),
    /** Returns the tags that a sign-in makes known; an address only where it is public. */
    tagsOf: (uuid: string, { fingerprint, address }: { fingerprint: string | null; address: string }) => ({
      device: deviceTag(uuid, fingerprint),
      address: addressTag(uuid, address),
    }),
  }
}
