/**
 * "The first factor of this account was proved a moment ago": what a login of an account with two factors leaves for
 * the call that brings the second one. The login hands out a token. A client that does not send it is recognised by
 * the device fingerprint that the login named or, where it named none, by its address. A proof opens one session at
 * most, and holds for the password that the account had then: another one set meanwhile ends it.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Account } from '../accounts/account.ts'
import type { Services, Stores } from '../services.ts'

type Proved = Pick<Account, 'uuid' | 'passwordDigest'>

/** By password, or through another provider (a value of its own, RFC 8176 has none). */
export type FirstFactor = 'pwd' | 'fed'

export interface ProvingClient {
  fingerprint: string | null
  addressBucket: string
}

export interface FirstFactorProofs {
  readonly lifetimeSeconds: number
  /** `account` as it was when its first factor was checked. Gives the token, in clear this once. */
  remember(account: Proved, factor: FirstFactor, client: ProvingClient): Promise<string>
  /** By the token where there is one, and then by nothing else. */
  find(account: Proved, client: ProvingClient, loginToken: string | null): Promise<FirstFactorProof | null>
}

export interface FirstFactorProof {
  factor: FirstFactor
  /** How the client was recognised. */
  by: 'token' | 'device' | 'address'
  /** True for exactly one of any number of callers: theirs is the session that this login opens. */
  take(): Promise<boolean>
}

const LIFETIME_SECONDS = 600

type Needs = Pick<Services, 'clock'> & { stores: Pick<Stores, 'tickets'> }

export function createFirstFactorProofs({ stores, clock }: Needs): FirstFactorProofs {
  const { tickets } = stores
  const proofKey = (tokenHash: string) => `login-token:${tokenHash}`
  const passwordOf = ({ passwordDigest }: Proved) => hashOf(passwordDigest ?? '')
  /** Where the hash of the token stands for a client that does not send it. */
  const clientKey = (accountUuid: string, by: 'device' | 'address', name: string) =>
    `first-factor:${hashOf(`${accountUuid} ${by} ${name}`)}`
  const deviceKey = ({ uuid }: Proved, { fingerprint }: ProvingClient) =>
    clientKey(uuid, 'device', fingerprint ?? '')
  const addressKey = ({ uuid }: Proved, { addressBucket }: ProvingClient) =>
    clientKey(uuid, 'address', addressBucket)

  /** The token's hash, by what the client sent or what it is recognised by. */
  async function findTokenHash(account: Proved, client: ProvingClient, loginToken: string | null, now: Date) {
    if (loginToken !== null) return { by: 'token' as const, tokenHash: hashOf(loginToken) }
    const [device, address] = await Promise.all([
      client.fingerprint === null ? null : tickets.find(deviceKey(account, client), now),
      tickets.find(addressKey(account, client), now),
    ])
    const found = device ?? address
    return {
      by: device ? ('device' as const) : ('address' as const),
      tokenHash: typeof found?.token === 'string' ? found.token : 'none',
    }
  }

  return {
    lifetimeSeconds: LIFETIME_SECONDS,
    async remember(account, factor, client) {
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000)
      const loginToken = randomBytes(32).toString('base64url')
      const tokenHash = hashOf(loginToken)
      const proof = { account: account.uuid, factor, password: passwordOf(account) }
      const key = client.fingerprint === null ? addressKey(account, client) : deviceKey(account, client)
      await Promise.all([
        tickets.put(proofKey(tokenHash), proof, expiresAt, now),
        tickets.put(key, { token: tokenHash }, expiresAt, now),
      ])
      return loginToken
    },
    async find(account, client, loginToken) {
      const now = clock.now()
      const { by, tokenHash } = await findTokenHash(account, client, loginToken, now)
      const proof = await tickets.find(proofKey(tokenHash), now)
      if (proof?.account !== account.uuid || proof.password !== passwordOf(account)) return null
      return {
        factor: proof.factor as FirstFactor,
        by,
        take: async () => (await tickets.take(proofKey(tokenHash), clock.now())) !== null,
      }
    },
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')
