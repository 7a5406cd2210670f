/** The production shape with a Redis Cluster of three masters, two replicas on it: the tour, and what may happen once. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import Redis from 'ioredis'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import {
  createDatabase,
  type RedisCluster,
  redisPrefix,
  startRedisCluster,
  type TestDatabase,
} from '../helpers/servers.ts'
import { startService, type TestService } from '../helpers/service.ts'

setDefaultTimeout(60_000)

const LOGINS_PER_MINUTE = 20

let cluster: RedisCluster
let databases: [TestDatabase, TestDatabase]
let replicas: readonly [TestService, TestService]
let service: TestService
let limited: readonly [TestService, TestService]

beforeAll(async () => {
  ;[cluster, ...databases] = await Promise.all([startRedisCluster(), createDatabase(), createDatabase()])
  const start = (database: TestDatabase, key_prefix: string, limits: Record<string, unknown>) =>
    startService({
      storage: {
        server: { secret: 'ab'.repeat(32) },
        database: { url: database.url },
        redis: { mode: 'cluster', urls: cluster.urls, key_prefix },
      },
      settings: { limits },
    })
  const [open, counted] = [redisPrefix(), redisPrefix()]
  const limits = { enabled: true, logins_per_minute: LOGINS_PER_MINUTE }
  // The two pairs know nothing of each other: processes that share an outbox must share the codes.
  const pair = async (...of: Parameters<typeof start>) => [await start(...of), await start(...of)] as const
  replicas = await pair(databases[0], open, { enabled: false })
  limited = await pair(databases[1], counted, limits)
  service = replicas[0]
})
afterAll(async () => {
  for (const one of [...(replicas ?? []), ...(limited ?? [])]) await one.close()
  await Promise.all((databases ?? []).map((database) => database.drop()))
  await cluster?.stop()
})

/** A message goes out from whichever replica takes it. */
const nextCode = (identifier: string) => Promise.any(replicas.map(({ inbox }) => inbox.nextCode(identifier)))

async function signUp(identifier: string) {
  expect((await service.post('register', registration(identifier))).status).toBe(201)
  const otp = await nextCode(identifier)
  expect((await replicas[1].post('verify-account', { identifier, otp })).status).toBe(201)
  return { identifier, password: PASSWORD }
}

/** 32 calls at once, every second one at the other replica. */
const race = (operation: string, body: object) =>
  Promise.all(Array.from({ length: 32 }, (_, index) => replicas[index % 2 ? 1 : 0].post(operation, body)))

test.each([
  ['e-mail', newEmail],
  ['phone', newPhone],
])('by %s: register, confirm, sign in, sign in with a code, refresh', async (_, newIdentifier) => {
  const person = await signUp(newIdentifier())
  const { identifier } = person
  const { refresh_token } = await service.logIn(person)
  expect((await replicas[1].post('refresh', { refresh_token })).status).toBe(200)
  expect((await service.post('2fa/request-otp', { identifier })).status).toBe(201)
  const otp = await nextCode(identifier)
  const verified = await replicas[1].post('2fa/verify', { identifier, otp, password: PASSWORD })
  expect(verified.status).toBe(200)
  expect((await service.get('me', { bearer: verified.body.access_token })).status).toBe(200)
})

test('a code sent again is the only one', async () => {
  const identifier = newEmail()
  await service.post('register', registration(identifier))
  const older = await nextCode(identifier)
  await replicas[1].post('resend-verification', { identifier })
  const newer = await nextCode(identifier)
  if (older !== newer)
    expect((await service.post('verify-account', { identifier, otp: older })).body.code).toBe('invalid_code')
  expect((await service.post('verify-account', { identifier, otp: newer })).status).toBe(201)
})

test('32 right codes at once confirm once', async () => {
  const identifier = newEmail()
  await service.post('register', registration(identifier))
  const otp = await nextCode(identifier)
  const answers = await race('verify-account', { identifier, otp })
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
})

test('32 right codes at once sign in once', async () => {
  const { identifier } = await signUp(newEmail())
  await service.post('2fa/request-otp', { identifier })
  const otp = await nextCode(identifier)
  const answers = await race('2fa/verify', { identifier, otp, password: PASSWORD })
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
})

test('five wrong codes kill the right one, wherever they were tried', async () => {
  const identifier = newEmail()
  await service.post('register', registration(identifier))
  const otp = await nextCode(identifier)
  const wrong = otp === '000000' ? '000001' : '000000'
  for (let tries = 0; tries < 5; tries++)
    await replicas[tries % 2 ? 1 : 0].post('verify-account', { identifier, otp: wrong })
  expect((await service.post('verify-account', { identifier, otp })).body.code).toBe('invalid_code')
})

test('logins of one address count together', async () => {
  const answers = await Promise.all(
    Array.from({ length: 2 * LOGINS_PER_MINUTE }, (_, index) =>
      limited[index % 2 ? 1 : 0].post('login', { identifier: newEmail(), password: PASSWORD }),
    ),
  )
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(LOGINS_PER_MINUTE)
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(LOGINS_PER_MINUTE)
})

test('every master holds some of the codes', async () => {
  await Promise.all(Array.from({ length: 20 }, () => service.post('register', registration(newEmail()))))
  const sizes = await Promise.all(
    cluster.masters.map(async ({ port }) => {
      const redis = new Redis(port, '127.0.0.1')
      const size = await redis.dbsize()
      redis.disconnect()
      return size
    }),
  )
  expect(Math.min(...sizes)).toBeGreaterThan(0)
})
