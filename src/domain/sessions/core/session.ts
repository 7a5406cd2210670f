/** A session as it is opened and as it is listed. */
import type { ValuesOf } from '../../../platform/postgres/statement.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { DeviceTags } from '../../accounts/devices/store.ts'

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

export const listedRow = {
  id: 'uuid',
  deviceType: 'text?',
  deviceName: 'text?',
  deviceOs: 'text?',
  ip: 'text?',
  createdAt: 'timestamptz',
  lastUsedAt: 'timestamptz',
  expiresAt: 'timestamptz',
  /** The application that has it. */
  clientId: 'text?',
} as const
export type ListedSession = ValuesOf<typeof listedRow>

/** `isNewDevice`: neither its device nor its address was known. */
export type SignedInAccount = Account & { isNewDevice: boolean }
