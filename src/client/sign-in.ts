/** A sign-in: what this device says of itself, and what the service answers. */
import type { Account } from './api.ts'
import { parse, type Storage } from './storage.ts'

/** What `finish` needs, beside what the page shows. */
export interface TwoFactor {
  methods: string[]
  sent_to: string | null
  expires_in: number
  login_token: string
  identifier: string
}

/** `twoFactor` is there where a second factor is due. */
export type Step =
  | { account: Account; twoFactor?: never; message?: never }
  | { account?: never; twoFactor: TwoFactor; message: string }

interface Device {
  device_fingerprint?: string
  device_token?: string
}

/** Made once and kept: what strangers do elsewhere then never refuses the owner of this device. */
export const deviceOf = (storage: Storage, key: string): Promise<Device> =>
  storage.inTurn(async () => {
    const kept = parse<Device>(await storage.read(key)) ?? {}
    if (kept.device_fingerprint || !globalThis.crypto) return kept
    const bytes = [...crypto.getRandomValues(new Uint8Array(16))]
    const device_fingerprint = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
    await storage.write(key, JSON.stringify({ ...kept, device_fingerprint }))
    return { ...kept, device_fingerprint }
  })
