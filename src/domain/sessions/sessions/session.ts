/** A session as it is opened and as it is listed. */
import type { Account } from '../../accounts/accounts/account.ts'
import type { DeviceTags } from '../../accounts/devices/service.ts'

/**
 * The most sessions that an account has, which is more than a person would read through. A sign-in ends the surplus.
 */
export const MAXIMUM_SESSIONS = 100

/** The description of its device that a client may send at login. */
export interface Device {
  type: string | null
  name: string | null
  os: string | null
  fingerprint: string | null
  /** The token of a trusted device. */
  trust?: string
  /** The pages open a session that their cookie names; absent: the client gets refresh tokens. */
  browser?: { stays: boolean }
}

export interface NewSession {
  id: string
  device: Device
  address: string
  /** The tags by which the device is recognised later. */
  tags: DeviceTags
  amr: string[]
  /** See tokens/refresh-token.ts; its first token has generation 0. */
  familyHash: Uint8Array
  kind: 'direct' | 'browser'
  stays: boolean
  expiresAt: Date
  endsAt: Date
}

export interface ListedSession {
  id: string
  deviceType: string | null
  deviceName: string | null
  deviceOs: string | null
  ip: string | null
  createdAt: Date
  lastUsedAt: Date
  expiresAt: Date
}

/** `isNewDevice`: neither its device nor its address was known. */
export type SignedInAccount = Account & { isNewDevice: boolean }
