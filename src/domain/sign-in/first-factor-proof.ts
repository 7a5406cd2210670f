/**
 * "The first factor of this account was proved a moment ago": what a login of an account with two factors leaves for
 * the call that brings the second one. It holds for the client that logged in, and for the account's password of that
 * moment: another one set meanwhile ends it.
 */
import { createHash } from 'node:crypto'
import type { Account } from '../accounts/account.ts'
import type { Services, Stores } from '../services.ts'

type Proved = Pick<Account, 'uuid' | 'passwordDigest'>

/** By password, or through another provider (a value of its own, RFC 8176 has none). */
export type FirstFactor = 'pwd' | 'fed'

/** A client is known again by its device or by its address: people move between networks, few devices have a name. */
export interface ProvingClient {
  fingerprint: string | null
  addressBucket: string
}

export interface FirstFactorProofs {
  readonly lifetimeSeconds: number
  /** `account` as it was when its first factor was judged. */
  remember(account: Proved, factor: FirstFactor, client: ProvingClient): Promise<void>
  find(account: Proved, client: ProvingClient): Promise<FirstFactorProof | null>
}

export interface FirstFactorProof {
  factor: FirstFactor
  /** The login it came from is over. */
  spend(): Promise<void>
}

const LIFETIME_SECONDS = 600

type Needs = Pick<Services, 'clock'> & { stores: Pick<Stores, 'tickets'> }

export function createFirstFactorProofs({ stores, clock }: Needs): FirstFactorProofs {
  const { tickets } = stores
  const keysOf = (accountUuid: string, { fingerprint, addressBucket }: ProvingClient) =>
    [`address ${addressBucket}`, ...(fingerprint ? [`device ${fingerprint}`] : [])].map(
      (client) => `first-factor:${digest(`${accountUuid} ${client}`)}`,
    )
  const proofOf = ({ passwordDigest }: Proved) => digest(passwordDigest ?? '')
  return {
    lifetimeSeconds: LIFETIME_SECONDS,
    async remember(account, factor, client) {
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000)
      const keys = keysOf(account.uuid, client)
      const value = { factor, proof: proofOf(account), keys }
      await Promise.all(keys.map((key) => tickets.put(key, value, expiresAt, now)))
    },
    async find(account, client) {
      const now = clock.now()
      const found = await Promise.all(keysOf(account.uuid, client).map((key) => tickets.find(key, now)))
      const ticket = found.find((one) => one?.proof === proofOf(account))
      if (!ticket) return null
      const { factor, keys } = ticket as { factor: FirstFactor; keys: string[] }
      return {
        factor,
        spend: async () => {
          await Promise.all(keys.map((key) => tickets.remove(key)))
        },
      }
    },
  }
}

const digest = (text: string) => createHash('sha256').update(text).digest('base64url')
