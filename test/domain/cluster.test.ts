/**
 * The production shape with a Redis Cluster of three masters, and two replicas on it: the tour. The suites of test/contract
 * try the promises of its stores, also with many callers at once.
 */
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

let cluster: RedisCluster
let database: TestDatabase
let replicas: readonly [TestService, TestService]
let service: TestService

beforeAll(async () => {
  ;[cluster, database] = await Promise.all([startRedisCluster(), createDatabase()])
  const storage = {
    server: { secret: 'ab'.repeat(32) },
    database: { url: database.url },
    redis: { mode: 'cluster', urls: cluster.urls, key_prefix: redisPrefix() },
  }
  replicas = [await startService({ storage }), await startService({ storage })]
  service = replicas[0]
})
afterAll(async () => {
  for (const one of replicas ?? []) await one.close()
  await database?.drop()
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
