/**
 * Many strangers against two owners: from IPv4 addresses and from /64 networks, with every anonymous operation, with
 * the owners' identifiers and with others. Every few calls the owners sign in by every way they have. The state that
 * strangers fill must never refuse an owner on a known device. On a device that is not known, it may do so only within
 * the bounds that docs/security.md states. TEST_SEED and TEST_SOAK as in seed.ts.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Redis } from 'ioredis'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, type LogInAnswer, protectByApp } from '../helpers/authenticator.ts'
import { from, newClient, noon, startLimited } from '../helpers/limited-service.ts'
import { createPasskey, type SoftPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { startRedis } from '../helpers/redis-server.ts'
import type { TestService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { socialSettings } from '../helpers/social.ts'
import { strangersCall, strangersCalls } from '../helpers/strangers-calls.ts'
import { createRandom, type Random, seed, stepsOf } from './seed.ts'

setDefaultTimeout(600_000)

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const KNOWN = 'the device with which the owner signs in'
const ORIGIN = 'https://app.example.com'
const ofPasskeys = { passkeys: { rp_id: 'example.com', origins: [ORIGIN] } }

interface Owner {
  identifier: string
  uuid: string
  /** Base32; null where two factors are off. */
  secret: string | null
  /** The codes that are left. */
  recoveryCodes: string[]
  /** The token of a session that is five minutes old at most. */
  bearer: string
}

/** The other ways in of an owner. */
interface WaysIn {
  passkey: SoftPasskey
  /** The provider knows the person by this. */
  sub: string
}

/** One of this many IPv4 addresses, or one of as many /64 networks. */
function addressOf(random: Random, many: number): string {
  const n = random.below(many)
  return random.oneIn(2) ? `203.0.113.${n + 1}` : `2001:db8:${n.toString(16)}:1::${random.below(9) + 1}`
}

/** Calls that name nobody: a passkey, an identity token, a code and a refresh token that nobody issued. */
const namelessAttacks = (random: Random): [operation: string, body: object][] => {
  const { passkey } = createPasskey({ challenge: '', rp: { id: 'example.com' }, user: { id: '' } }, ORIGIN)
  const options = { challenge: random.digits(43), rpId: 'example.com' }
  return [
    ['passkeys/login/options', {}],
    ['passkeys/login', { credential: signWithPasskey(passkey, options, ORIGIN) }],
    ['social/p1/token', { id_token: `e30.${random.digits(20)}.${random.digits(20)}`, nonce: 'n' }],
    ['social/exchange', { code: random.digits(43), code_verifier: random.digits(43) }],
    ['refresh', { refresh_token: random.digits(86) }],
  ]
}

/** Anything that a stranger may send, at an owner or at somebody else. */
async function attack(service: TestService, random: Random, owners: Owner[], addresses: number) {
  const client = from(addressOf(random, addresses))
  if (random.oneIn(12)) {
    const [operation, body] = random.pick(namelessAttacks(random))
    const answer = await service.post(operation, body, client)
    expect([operation, 'account' in (answer.body ?? {})]).toEqual([operation, false])
    return
  }
  // Half of them guess passwords.
  const { operation, body } = random.oneIn(2) ? strangersCall('login') : random.pick(strangersCalls)
  const identifier = random.oneIn(8) ? newEmail() : random.pick(owners).identifier
  const guess = {
    ...body(identifier),
    ...(random.oneIn(4) && { device_fingerprint: `guess ${random.below(99)}` }),
  }
  const sent = 'otp' in guess ? { ...guess, otp: random.digits(6) } : guess
  const { status } = await service.post(operation, sent, client)
  expect([
    operation,
    status,
    status < 300 && ['login', '2fa/verify', 'password/reset'].includes(operation),
  ]).toEqual([operation, status, false])
}

/** Signs in with the password and, where there are two factors, with a code of the app. */
async function signsIn(service: TestService, owner: Owner, fields: object, client = newClient()) {
  const { identifier, secret } = owner
  const first = await service.post('login', { identifier, password: PASSWORD, ...fields }, client)
  if (secret === null) return first.status
  if (first.status !== 202) return first.status
  expect(first.body.two_factor.methods).toContain('totp')
  const { login_token } = first.body.two_factor
  const otp = appCode(secret, service.clock.now(), 1)
  service.clock.advance(MINUTE)
  return (await service.post('2fa/verify', { identifier, otp, login_token, ...fields }, client)).status
}

/** The same with a recovery code in place of the app's. */
async function signsInByRecoveryCode(
  service: TestService,
  { identifier, recoveryCodes }: Owner,
  fields = {},
) {
  const client = newClient()
  const first = await service.post('login', { identifier, password: PASSWORD, ...fields }, client)
  if (first.status !== 202) return first.status
  const { login_token } = first.body.two_factor
  const otp = recoveryCodes.pop()
  return (await service.post('2fa/verify', { identifier, otp, login_token, ...fields }, client)).status
}

/** The device is one that nobody knows. */
async function signsInByPasskey(service: TestService, { uuid }: Owner, { passkey }: WaysIn) {
  const client = newClient()
  const { options } = (await service.post('passkeys/login/options', {}, client)).body
  const credential = signWithPasskey(passkey, options, ORIGIN)
  const { status, body } = await service.post('passkeys/login', { credential }, client)
  return body.account?.uuid === uuid ? status : `${status} of somebody else`
}

/** Signs in on a device that nobody knows; the app follows where there are two factors. */
async function signsInByProvider(
  service: TestService,
  provider: PretendProvider,
  { identifier, uuid, secret }: Owner,
  { sub }: WaysIn,
) {
  const client = newClient()
  const issuedAt = Math.floor(service.clock.now().getTime() / 1000)
  provider.present({ sub, email: identifier, email_verified: true })
  provider.lie({ claims: (honest) => ({ ...honest, iat: issuedAt, exp: issuedAt + 60 }) })
  const nonce = crypto.randomUUID()
  const proof = { id_token: await provider.idToken(nonce), nonce }
  let answer = await service.post('social/p1/token', proof, client)
  if (secret !== null) {
    expect([answer.status, answer.body.two_factor?.methods]).toEqual([
      202,
      ['passkey', 'totp', 'recovery_code'],
    ])
    const { login_token } = answer.body.two_factor
    const otp = appCode(secret, service.clock.now(), 1)
    service.clock.advance(MINUTE)
    answer = await service.post('2fa/verify', { identifier, otp, login_token }, client)
  }
  return answer.body.account?.uuid === uuid ? answer.status : `${answer.status} of somebody else`
}

/**
 * Adds the ways in that an owner has set up long ago: a passkey, and an identity that the first sign-in by the provider
 * links.
 */
async function addWaysIn(service: TestService, { bearer, secret }: Owner): Promise<WaysIn> {
  const asOwner = { ...newClient(), bearer }
  const proof = secret && { password: PASSWORD, otp: appCode(secret, service.clock.now(), 1) }
  service.clock.advance(MINUTE)
  const asked = await service.post('passkeys/registration/options', { password: PASSWORD, ...proof }, asOwner)
  const { passkey, credential } = createPasskey(asked.body.options, ORIGIN)
  expect((await service.post('passkeys/registration', { credential }, asOwner)).status).toBe(201)
  return { passkey, sub: crypto.randomUUID() }
}

/** New recovery codes, before the last one is used. */
async function renewRecoveryCodes(service: TestService, owner: Owner) {
  if (owner.secret === null || owner.recoveryCodes.length > 1) return
  const { identifier, secret } = owner
  const code = () => appCode(secret, service.clock.now(), 1)
  const person = { identifier, password: PASSWORD, device_fingerprint: KNOWN }
  const { body } = await service.post('2fa/verify', { ...person, otp: code() }, newClient())
  service.clock.advance(MINUTE)
  const asOwner = { ...newClient(), bearer: body.access_token }
  const renewed = await service.post('2fa/recovery-codes', { password: PASSWORD, otp: code() }, asOwner)
  service.clock.advance(MINUTE)
  owner.recoveryCodes = renewed.body.recovery_codes
}

/** The first step alone. */
async function logsIn(service: TestService, { identifier }: Owner): Promise<number> {
  return (await service.post('login', { identifier, password: PASSWORD }, newClient())).status
}

/** Sets the same password again, by a code that was asked for on this device. */
async function resets(service: TestService, { identifier }: Owner, device_fingerprint: string) {
  const client = newClient()
  const asked = await service.post('password/forgot', { identifier, device_fingerprint }, client)
  if (asked.status !== 201) return asked.status
  const password = { password: PASSWORD, password_confirmation: PASSWORD }
  const otp = await service.newestCode(identifier)
  return (await service.post('password/reset', { identifier, otp, ...password, device_fingerprint }, client))
    .status
}

/** Asks for a code on the known device and signs in with it. */
async function signsInByCode(service: TestService, { identifier }: Owner) {
  const fields = { identifier, device_fingerprint: KNOWN }
  const client = newClient()
  const asked = await service.post('2fa/request-otp', fields, client)
  if (asked.status !== 201) return asked.status
  const otp = await service.newestCode(identifier)
  return (await service.post('2fa/verify', { ...fields, otp }, client)).status
}

async function createOwners(service: TestService): Promise<[plain: Owner, guarded: Owner]> {
  const plain = await service.signedIn()
  const guarded = await protectByApp(service)
  const ownerOf = async ({ person, bearer }: LogInAnswer) => {
    const { uuid } = (await service.get('me', { bearer })).body.account
    return { identifier: person.identifier, uuid, bearer, secret: null, recoveryCodes: [] }
  }
  const { secret, recoveryCodes } = guarded
  const owners: [Owner, Owner] = [
    await ownerOf(plain),
    { ...(await ownerOf(guarded)), secret, recoveryCodes },
  ]
  service.clock.advance(MINUTE)
  for (const owner of owners) expect(await signsIn(service, owner, { device_fingerprint: KNOWN })).toBe(200)
  return owners
}

interface Play {
  service: TestService
  provider: PretendProvider
  random: Random
  owners: [plain: Owner, guarded: Owner]
  ways: Map<Owner, WaysIn>
  /** The token of the plain one. */
  refreshToken: string
}

function expectSignIn(what: string, round: number, status: number | string) {
  expect([`TEST_SEED=${seed}`, round, what, status]).toEqual([`TEST_SEED=${seed}`, round, what, 200])
}

async function begin(service: TestService, provider: PretendProvider): Promise<Play> {
  const owners = await createOwners(service)
  const ways = new Map<Owner, WaysIn>()
  for (const owner of owners) {
    const more = await addWaysIn(service, owner)
    ways.set(owner, more)
    expectSignIn('first by the provider', 0, await signsInByProvider(service, provider, owner, more))
  }
  // A reset takes back what a session added within seven days.
  service.clock.advance(8 * DAY)
  const { identifier } = owners[0]
  const { refresh_token } = await service.logIn({ identifier, password: PASSWORD })
  return { service, provider, random: createRandom(seed), owners, ways, refreshToken: refresh_token }
}

/** A crowd closes the identifiers for who is not known; eight addresses leave places to others. */
async function attackMany({ service, random, owners }: Play, round: number, isCrowd: boolean) {
  for (let batch = 0; batch < (isCrowd ? 10 : 5); batch++) {
    await Promise.all(Array.from({ length: 60 }, () => attack(service, random, owners, isCrowd ? 100 : 4)))
  }
  if (!isCrowd) return
  const onNewDevices = await Promise.all(owners.map((owner) => logsIn(service, owner)))
  expect([round, onNewDevices]).toEqual([round, [429, 429]])
}

/** Signs in by every way; on devices that are not known only by those that a crowd does not close. */
async function signInByAll(play: Play, round: number, isCrowd: boolean) {
  const { service, provider, owners, ways } = play
  const [plain, guarded] = owners
  const known = { device_fingerprint: KNOWN }
  for (const owner of owners) {
    const more = ways.get(owner)!
    expectSignIn('known device', round, await signsIn(service, owner, known))
    if (!isCrowd) expectSignIn('new device', round, await signsIn(service, owner, {}))
    expectSignIn('by a passkey', round, await signsInByPasskey(service, owner, more))
    expectSignIn('by the provider', round, await signsInByProvider(service, provider, owner, more))
  }
  const recovered = await signsInByRecoveryCode(service, guarded, isCrowd ? known : {})
  expectSignIn('by a recovery code', round, recovered)
  const refreshed = await service.post('refresh', { refresh_token: play.refreshToken })
  expectSignIn('refresh', round, refreshed.status)
  play.refreshToken = refreshed.body.refresh_token
  expectSignIn('code on the known device', round, await signsInByCode(service, plain))
}

test('whatever strangers do, an owner signs in from a known device, and from any other within the bounds', async () => {
  const provider = await startPretendProvider()
  const settings = { ...ofPasskeys, ...socialSettings(provider.issuer) }
  const service = await startLimited({ clock: noon(), settings })
  try {
    const play = await begin(service, provider)
    const [plain, guarded] = play.owners
    const rounds = stepsOf(2, 200)
    for (let round = 0; round < rounds; round++) {
      const isCrowd = round % 2 === 1
      await attackMany(play, round, isCrowd)
      await signInByAll(play, round, isCrowd)
      await renewRecoveryCodes(service, guarded)
      service.clock.advance(61 * MINUTE)
      for (const owner of play.owners) expectSignIn('an hour later', round, await signsIn(service, owner, {}))
      // An owner has 30 codes a day, which more rounds in a day would use up.
      service.clock.advance(HOUR)
      if (isCrowd) {
        expectSignIn('reset on the known device', round, await resets(service, plain, KNOWN))
        const { identifier } = plain
        play.refreshToken = (await service.logIn({ identifier, password: PASSWORD })).refresh_token
      }
    }
  } finally {
    await service.close()
    await provider.stop()
  }
})

longTest(
  'by a code or a reset an owner comes from a new device until strangers sent 20 wrong ones that day',
  async () => {
    await using service = await startLimited({ clock: noon() })
    const [{ identifier }] = await createOwners(service)
    const newPassword = { password: PASSWORD, password_confirmation: PASSWORD }
    const ways = [
      ['2fa/request-otp', '2fa/verify', {}],
      ['password/forgot', 'password/reset', newPassword],
    ] as const
    for (const [ask, take, fields] of ways) {
      const wrong = async (times: number) => {
        for (let n = 0; n < times; n++)
          await service.post(take, { identifier, otp: '000000', ...fields }, newClient())
      }
      const right = async () => {
        expect((await service.post(ask, { identifier }, newClient())).status).toBe(201)
        const otp = await service.newestCode(identifier)
        return service.post(take, { identifier, otp, ...fields }, newClient())
      }
      service.clock.advance(24 * HOUR)
      await wrong(19)
      expect((await right()).status).toBe(200)
      service.clock.advance(24 * HOUR)
      await wrong(20)
      expect((await right()).body.code).toBe('too_many_attempts')
    }
  },
)

test('a flood of requests for codes from one address is refused, and an owner has a code within a second meanwhile', async () => {
  const store = await startRedis()
  const redis = new Redis(store.url)
  const used = async () => Number(/used_memory_dataset:(\d+)/.exec(await redis.info('memory'))?.[1])
  const service = await startLimited({ clock: noon(), settings: { redis: { url: store.url } } })
  try {
    const [owner] = await createOwners(service)
    const before = await used()
    const flood = from('203.0.113.77')
    let accepted = 0
    const calls = stepsOf(400, 20_000)
    const ask = async (callers: number) => {
      const answers = await Promise.all(
        Array.from({ length: callers }, (_, i) => {
          const operation = ['password/forgot', '2fa/request-otp', 'resend-verification'][i % 3] as string
          return service.post(operation, { identifier: newEmail() }, flood)
        }),
      )
      accepted += answers.filter(({ status }) => status === 201).length
    }
    for (let sent = 0; sent < calls / 2; sent += 100) await ask(100)
    const startedAt = performance.now()
    const [byCode] = await Promise.all([signsInByCode(service, owner), ask(100)])
    const ms = performance.now() - startedAt
    for (let sent = calls / 2; sent < calls; sent += 100) {
      service.clock.advance(HOUR / (calls / 200))
      await ask(100)
    }
    expect(byCode).toBe(200)
    expect(ms).toBeLessThan(1000)
    expect(accepted).toBeGreaterThanOrEqual(30)
    expect(accepted).toBeLessThanOrEqual(150)
    const grown = (await used()) - before
    expect(await redis.dbsize()).toBeGreaterThan(0)
    expect(grown).toBeLessThan(1_000_000)
    const measured = `code after ${Math.round(ms)} ms, Redis grew by ${grown} bytes`
    console.info(`${calls} requests for codes: ${accepted} accepted, ${measured}`)
  } finally {
    await service.close()
    redis.disconnect()
    await store.stop()
  }
})
