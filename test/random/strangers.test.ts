/**
 * Many strangers against two owners: from IPv4 addresses and from /64 networks, with every anonymous operation, with the
 * owners' identifiers and with others. Every few calls the owners sign in by every way they have. What strangers fill must
 * not refuse an owner on a known device, ever; on a device that is not known, only within the bounds that docs/security.md
 * states. POTERNE_SEED and POTERNE_SOAK as in seed.ts.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { Redis } from 'ioredis'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { from, newClient, noon, startLimited } from '../helpers/limited-service.ts'
import { startRedis } from '../helpers/redis-server.ts'
import type { TestService } from '../helpers/service.ts'
import { strangersCall, strangersCalls } from '../helpers/strangers-calls.ts'
import { createRandom, type Random, seed, stepsOf } from './seed.ts'

setDefaultTimeout(600_000)

const [MINUTE, HOUR] = [60_000, 3_600_000]
const KNOWN = 'the device with which the owner signs in'

interface Owner {
  identifier: string
  /** Base32; null where two factors are off. */
  secret: string | null
}

/** One of this many IPv4 addresses, or one of as many /64 networks. */
function addressOf(random: Random, many: number): string {
  const n = random.below(many)
  return random.oneIn(2) ? `203.0.113.${n + 1}` : `2001:db8:${n.toString(16)}:1::${random.below(9) + 1}`
}

/** Anything that a stranger may send, at an owner or at somebody else. */
async function attack(service: TestService, random: Random, owners: Owner[], addresses: number) {
  // Half of them guess passwords.
  const { operation, body } = random.oneIn(2) ? strangersCall('login') : random.pick(strangersCalls)
  const identifier = random.oneIn(8) ? newEmail() : random.pick(owners).identifier
  const guess = {
    ...body(identifier),
    ...(random.oneIn(4) && { device_fingerprint: `guess ${random.below(99)}` }),
  }
  const sent = 'otp' in guess ? { ...guess, otp: random.digits(6) } : guess
  const { status } = await service.post(operation, sent, from(addressOf(random, addresses)))
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
  expect([first.status, first.body.two_factor?.methods]).toEqual([202, ['totp']])
  const { login_token } = first.body.two_factor
  const otp = appCode(secret, service.clock.now(), 1)
  service.clock.advance(MINUTE)
  return (await service.post('2fa/verify', { identifier, otp, login_token, ...fields }, client)).status
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
  await service.delivered()
  const password = { password: PASSWORD, password_confirmation: PASSWORD }
  const otp = lastCode(service, identifier)
  return (await service.post('password/reset', { identifier, otp, ...password, device_fingerprint }, client))
    .status
}

/** Asks for a code on the known device and signs in with it. */
async function signsInByCode(service: TestService, { identifier }: Owner) {
  const fields = { identifier, device_fingerprint: KNOWN }
  const client = newClient()
  const asked = await service.post('2fa/request-otp', fields, client)
  if (asked.status !== 201) return asked.status
  await service.delivered()
  const otp = lastCode(service, identifier)
  return (await service.post('2fa/verify', { ...fields, otp }, client)).status
}

const lastCode = (service: TestService, identifier: string): string =>
  service.inbox
    .textsTo(identifier)
    .flatMap((text) => /(?<!\d)\d{6}(?!\d)/.exec(text)?.[0] ?? [])
    .at(-1) ?? ''

async function createOwners(service: TestService): Promise<[plain: Owner, guarded: Owner]> {
  const { identifier } = await service.signUp(newEmail())
  const { person, secret } = await protectByApp(service, newEmail())
  const owners: [Owner, Owner] = [
    { identifier, secret: null },
    { identifier: person.identifier, secret },
  ]
  service.clock.advance(MINUTE)
  for (const owner of owners) expect(await signsIn(service, owner, { device_fingerprint: KNOWN })).toBe(200)
  return owners
}

test('whatever strangers do, an owner signs in from a known device, and from any other within the bounds', async () => {
  const random = createRandom(seed)
  const service = await startLimited({ clock: noon() })
  const told = (what: string, round: number, status: number) =>
    expect([`POTERNE_SEED=${seed}`, round, what, status]).toEqual([`POTERNE_SEED=${seed}`, round, what, 200])
  try {
    const owners = await createOwners(service)
    const [plain] = owners
    const device_fingerprint = KNOWN
    let { refresh_token } = await service.logIn({ identifier: plain.identifier, password: PASSWORD })
    const rounds = stepsOf(4, 200)
    for (let round = 0; round < rounds; round++) {
      // Eight addresses guess, which leaves others room; a crowd closes the identifiers for who is not known.
      const isCrowd = round % 2 === 1
      const networks = isCrowd ? 100 : 4
      for (let batch = 0; batch < (isCrowd ? 10 : 5); batch++) {
        await Promise.all(Array.from({ length: 60 }, () => attack(service, random, owners, networks)))
      }
      if (isCrowd) {
        const onNewDevices = await Promise.all(owners.map((owner) => logsIn(service, owner)))
        expect([round, onNewDevices]).toEqual([round, [429, 429]])
      }
      for (const owner of owners) {
        told('known device', round, await signsIn(service, owner, { device_fingerprint }))
        if (!isCrowd) told('new device', round, await signsIn(service, owner, {}))
      }
      const refreshed = await service.post('refresh', { refresh_token })
      told('refresh', round, refreshed.status)
      refresh_token = refreshed.body.refresh_token
      told('code on the known device', round, await signsInByCode(service, plain))
      service.clock.advance(61 * MINUTE)
      for (const owner of owners) told('an hour later', round, await signsIn(service, owner, {}))
      // An owner has 30 codes a day, which more rounds in a day would use up.
      service.clock.advance(HOUR)
      if (isCrowd) {
        told('reset on the known device', round, await resets(service, plain, device_fingerprint))
        refresh_token = (await service.logIn({ identifier: plain.identifier, password: PASSWORD }))
          .refresh_token
      }
    }
  } finally {
    await service.close()
  }
})

test('by a code or a reset an owner comes from a new device until strangers sent 20 wrong ones that day', async () => {
  const service = await startLimited({ clock: noon() })
  try {
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
        await service.delivered()
        const otp = lastCode(service, identifier)
        return service.post(take, { identifier, otp, ...fields }, newClient())
      }
      service.clock.advance(24 * HOUR)
      await wrong(19)
      expect((await right()).status).toBe(200)
      service.clock.advance(24 * HOUR)
      await wrong(20)
      expect((await right()).body.code).toBe('too_many_attempts')
    }
  } finally {
    await service.close()
  }
})

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
    const calls = stepsOf(1000, 20_000)
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
