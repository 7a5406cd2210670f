/**
 * A record that the first factor of an account was verified a moment ago. A login with two factors leaves it for the call
 * with the second one, and returns a token for it. A client that does not send the token is recognised by the device
 * fingerprint that the login named or, if it named none, by its address. A record opens at most one session, and is only
 * valid for the password that the account had then: a change of the password ends it.
 */

import { createHash, randomBytes } from 'node:crypto'
import type { Ground } from '../../../platform/ground.ts'
import type { Account } from '../../accounts/core/account.ts'
import type { DeviceSource } from '../../foundation/limits/callers.ts'
import type { TicketStore } from '../../foundation/tickets/store.ts'
import type { SignInPolicy } from '../../sessions/core/policy.ts'

type Proved = Pick<Account, 'uuid' | 'passwordDigest'>

/**
 * A person proves it by password, through a provider, or by a code that was sent to an account without a password. RFC
 * 8176 has no value for a provider, so that value is our own.
 */
export type FirstFactor = 'pwd' | 'fed' | 'otp'

const LIFETIME_SECONDS = 600

interface Needs extends Pick<Ground, 'clock'> {
  policy: SignInPolicy | null
  stores: { tickets: TicketStore }
}

export type FirstFactorRecord = NonNullable<Awaited<ReturnType<FirstFactorRecords['find']>>>
export type FirstFactorRecords = ReturnType<typeof createFirstFactorRecords>

export function createFirstFactorRecords({ policy, stores, clock }: Needs) {
  const { tickets } = stores
  // What was proved at one place is nothing at another.
  const recordKey = (tokenHash: string) => `${policy ? 'strict-' : ''}login-token:${tokenHash}`
  const passwordOf = ({ passwordDigest }: Proved) => hashOf(passwordDigest ?? '')
  /** The key under which the hash of the token is kept for a client that does not send it. */
  const clientKey = (accountUuid: string, by: 'device' | 'address', name: string) =>
    `first-factor:${hashOf(`${accountUuid} ${by} ${name}`)}`
  const deviceKey = ({ uuid }: Proved, { fingerprint }: DeviceSource) =>
    clientKey(uuid, 'device', fingerprint ?? '')
  const addressKey = ({ uuid }: Proved, { addressBucket }: DeviceSource) =>
    clientKey(uuid, 'address', addressBucket)

  /** The hash of the token: of the one that the client sent, or of the one it is recognised for. */
  async function findTokenHash(account: Proved, client: DeviceSource, loginToken: string | null, now: Date) {
    if (loginToken !== null) return { by: 'token' as const, tokenHash: hashOf(loginToken) }
    if (policy !== null) return { by: 'token' as const, tokenHash: 'none' }
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
    /** `account` is as it was when its first factor was verified. Returns the token, of which only a hash is stored. */
    async remember(account: Proved, factor: FirstFactor, client: DeviceSource): Promise<string> {
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000)
      const loginToken = randomBytes(32).toString('base64url')
      const tokenHash = hashOf(loginToken)
      const record = { account: account.uuid, factor, password: passwordOf(account) }
      const key = client.fingerprint === null ? addressKey(account, client) : deviceKey(account, client)
      await Promise.all([
        tickets.put(recordKey(tokenHash), record, expiresAt, now),
        policy === null && tickets.put(key, { token: tokenHash }, expiresAt, now),
      ])
      return loginToken
    },
    /** The uuid of the account whose first factor was verified for this token. */
    async findAccountUuid(loginToken: string): Promise<string | null> {
      const record = await tickets.find(recordKey(hashOf(loginToken)), clock.now())
      return record === null ? null : (record.account as string)
    },
    /** Keeps an app, sealed, that is about to be set up with this token, in place of one before. */
    async keepApp(account: Proved, loginToken: string, factor: FirstFactor, app: Uint8Array): Promise<void> {
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000)
      const record = { account: account.uuid, factor, password: passwordOf(account) }
      const kept = { ...record, app: Buffer.from(app).toString('base64') }
      await tickets.put(recordKey(hashOf(loginToken)), kept, expiresAt, now)
    },
    /** Finds it by the token if there is one, and then by nothing else. */
    async find(account: Proved, client: DeviceSource, loginToken: string | null) {
      const now = clock.now()
      const { by, tokenHash } = await findTokenHash(account, client, loginToken, now)
      const record = await tickets.find(recordKey(tokenHash), now)
      if (record?.account !== account.uuid || record.password !== passwordOf(account)) return null
      return {
        factor: record.factor as FirstFactor,
        /** The way in which the client was recognised. */
        by,
        app: typeof record.app === 'string' ? new Uint8Array(Buffer.from(record.app, 'base64')) : null,
        /** It returns true for exactly one of any number of callers, which may open the session of this login. */
        take: async () => (await tickets.take(recordKey(tokenHash), clock.now())) !== null,
      }
    },
  }
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url')
