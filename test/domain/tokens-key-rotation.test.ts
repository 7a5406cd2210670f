/**
 * Signing keys: who makes them, when they sign, how replicas follow. It runs on a real PostgreSQL and on the embedded
 * one.
 */
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  setDefaultTimeout,
  test,
} from 'bun:test'
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { decodeProtectedHeader } from 'jose'
import { createAccessTokenService } from '../../src/domain/sessions/tokens/access-token.ts'
import { createKeyRotation } from '../../src/domain/sessions/tokens/key-rotation.ts'
import { createKeyService, type KeyService } from '../../src/domain/sessions/tokens/key-service.ts'
import { createKeyStore } from '../../src/domain/sessions/tokens/key-store.ts'
import { createKeyRoutes } from '../../src/domain/sessions/tokens/routes.ts'
import { type Database, statement } from '../../src/platform/postgres/database.ts'
import { openServer } from '../../src/platform/postgres/server.ts'
import { createServerSecret } from '../../src/platform/secret.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { AppError } from '../../src/texts/errors.ts'
import { newDataDirectory } from '../helpers/embedded-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

const HOUR = 3_600_000
const DAY = 24 * HOUR
const start = new Date('2026-07-01T12:00:00.000Z')
const accessLifetimeSeconds = 900
const serverSecret = randomBytes(32)
const emptyTable = statement(sql`delete from signing_keys`)
const everything = statement<Record<string, never>, { row: string }>(
  sql`select row_to_json(k)::text as row from signing_keys k`,
)

async function openBackend(kind: 'PostgreSQL' | 'embedded PostgreSQL') {
  if (kind === 'PostgreSQL') {
    const { url, drop } = await createDatabase()
    const databases = [openServer({ url, poolSize: 4 }), openServer({ url, poolSize: 4 })]
    const close = async () => {
      await Promise.all(databases.map((database) => database.close()))
      await drop()
    }
    return { databases, close }
  }
  const database = await openEmbedded(await newDataDirectory())
  return { databases: [database, database], close: () => database.close() }
}

describe.each(['PostgreSQL', 'embedded PostgreSQL'] as const)('signing keys in %s', (kind) => {
  let backend: Awaited<ReturnType<typeof openBackend>>
  let now = start
  const running: KeyService[] = []
  const clock = { now: () => now }
  const later = (ms: number) => {
    now = new Date(start.getTime() + ms)
  }

  const optionsOf = (replica: number, secret: Uint8Array = serverSecret) => ({
    store: createKeyStore(backend.databases[replica] as Database),
    secret: createServerSecret(secret),
    clock,
    accessLifetimeSeconds,
  })
  const startReplica = async (replica: number, secret?: Uint8Array) => {
    const keys = createKeyService(optionsOf(replica, secret))
    await keys.start()
    running.push(keys)
    return keys
  }
  const rotationOf = (replica: number) => createKeyRotation(optionsOf(replica))
  const tokensOf = (keys: KeyService) =>
    createAccessTokenService({
      keys,
      clock,
      issuer: 'i',
      audience: 'a',
      lifetimeSeconds: accessLifetimeSeconds,
    })
  const subject = { accountUuid: 'u', sessionId: 's', roleId: 1, authTime: start, amr: ['pwd'] }
  const publishedKids = (keys: KeyService) => keys.published().keys.map(({ kid }) => kid)
  const states = async (keys: KeyService) => (await keys.list()).map(({ state }) => state)

  beforeAll(async () => {
    backend = await openBackend(kind)
  })
  afterAll(() => backend.close())
  beforeEach(async () => {
    now = start
    await (backend.databases[0] as Database).all(emptyTable, {})
  })
  afterEach(() => {
    for (const keys of running.splice(0)) keys.close()
  })

  test('the first start makes one, also when many processes start at once', async () => {
    const replicas = await Promise.all(Array.from({ length: 16 }, (_, index) => startReplica(index % 2)))
    const kids = new Set(replicas.map((keys) => keys.signingKey().kid))
    expect(kids.size).toBe(1)
    expect(await states(replicas[0] as KeyService)).toEqual(['signing'])
  })

  test('a restart keeps it', async () => {
    const first = await startReplica(0)
    expect((await startReplica(1)).signingKey().kid).toBe(first.signingKey().kid)
  })

  test('no private part stands in the table, in the published set, or can be read from memory', async () => {
    const keys = await startReplica(0)
    const rows = await (backend.databases[0] as Database).all(everything, {})
    expect(rows).toHaveLength(1)
    expect(rows[0]?.row).not.toContain('"d"')
    const [published] = keys.published().keys
    expect(Object.keys(published ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
    expect(keys.signingKey().privateKey.extractable).toBe(false)
  })

  test('after 89 days the next one is published, a day later it signs, and then the old one goes', async () => {
    const [one, two] = await Promise.all([startReplica(0), startReplica(1)])
    const old = one.signingKey().kid
    later(89 * DAY - 1)
    await Promise.all([one.refresh(), two.refresh()])
    expect(publishedKids(one)).toEqual([old])

    later(89 * DAY)
    await Promise.all([one.refresh(), two.refresh()])
    await one.refresh()
    expect(await states(one)).toEqual(['signing', 'next'])
    const next = publishedKids(one)[1] as string
    expect(publishedKids(two)).toEqual([old, next])
    expect(one.signingKey().kid).toBe(old)

    later(90 * DAY - 1)
    const lastOfOld = await tokensOf(one).sign(subject)
    later(90 * DAY)
    // Both switch by the clock, without reading anything.
    expect(one.signingKey().kid).toBe(next)
    expect(two.signingKey().kid).toBe(next)
    expect(await states(one)).toEqual(['superseded', 'signing'])

    later(90 * DAY + accessLifetimeSeconds * 1000 - 2000)
    expect((await tokensOf(two).verify(lastOfOld)).sessionId).toBe('s')
    later(90 * DAY + accessLifetimeSeconds * 1000 + HOUR)
    expect(publishedKids(two)).toEqual([next])
    expect(await states(one)).toEqual(['removed', 'signing'])
    later(179 * DAY)
    await one.refresh()
    expect(await states(one)).toEqual(['signing', 'next'])
  })

  test('a service that slept for a year publishes the next one for a day all the same', async () => {
    const keys = await startReplica(0)
    const old = keys.signingKey().kid
    later(365 * DAY)
    await keys.refresh()
    expect(keys.signingKey().kid).toBe(old)
    later(366 * DAY)
    expect(keys.signingKey().kid).not.toBe(old)
  })

  test('due rotations of many processes add one key', async () => {
    const replicas = await Promise.all(Array.from({ length: 8 }, (_, index) => startReplica(index % 2)))
    later(89 * DAY)
    await Promise.all(replicas.map((keys) => keys.refresh()))
    expect(await states(replicas[0] as KeyService)).toEqual(['signing', 'next'])
  })

  test('rotating by hand publishes a key that signs after a day; again, it takes that one back', async () => {
    const keys = await startReplica(0)
    const old = keys.signingKey().kid
    const first = await keys.rotate()
    expect(first).toMatchObject({ state: 'next', signsFrom: new Date(start.getTime() + DAY) })
    later(HOUR)
    const second = await keys.rotate()
    expect(publishedKids(keys)).toEqual([old, second.kid])
    later(DAY)
    expect(keys.signingKey().kid).toBe(old)
    later(DAY + HOUR)
    expect(keys.signingKey().kid).toBe(second.kid)
    expect((await keys.list())[0]?.publishedUntil).toEqual(
      new Date(start.getTime() + DAY + 2 * HOUR + accessLifetimeSeconds * 1000),
    )
  })

  test('rotating at once signs at once, and every replica accepts its tokens at once', async () => {
    const [one, two] = await Promise.all([startReplica(0), startReplica(1)])
    const oldToken = await tokensOf(one).sign(subject)
    later(HOUR / 60)
    const { kid } = await one.rotate({ atOnce: true })
    const token = await tokensOf(one).sign(subject)
    expect(decodeProtectedHeader(token).kid).toBe(kid)
    const claims = await Promise.all(Array.from({ length: 32 }, () => tokensOf(two).verify(token)))
    expect(claims).toHaveLength(32)
    expect((await tokensOf(two).verify(oldToken)).sessionId).toBe('s')
    expect(two.signingKey().kid).toBe(kid)
  })

  test('a revoked key that signs is replaced at once, also for a replica whose clock is behind', async () => {
    const keys = await startReplica(0)
    const old = keys.signingKey().kid
    const token = await tokensOf(keys).sign(subject)
    later(40 * DAY)
    const next = await keys.rotate()
    const revoked = await rotationOf(0).revoke(old)
    await keys.refresh()
    const { kid } = keys.signingKey()
    expect([old, next.kid]).not.toContain(kid)
    expect(revoked?.successor).toMatchObject({ kid, state: 'signing' })
    expect(publishedKids(keys)).toEqual([kid])
    expect(tokensOf(keys).verify(token)).rejects.toThrow('invalid_token')
    later(40 * DAY - HOUR / 2)
    expect(keys.signingKey().kid).toBe(kid)
    expect((await tokensOf(keys).verify(await tokensOf(keys).sign(subject))).sessionId).toBe('s')
  })

  test('a revoked key that waits to sign gets another one in its place, and the one that signs goes on', async () => {
    const keys = await startReplica(0)
    const old = keys.signingKey().kid
    const next = await keys.rotate()
    later(HOUR)
    const revoked = await rotationOf(0).revoke(next.kid)
    await keys.refresh()
    expect(publishedKids(keys)).toEqual([old, revoked?.successor?.kid as string])
    expect(await states(keys)).toEqual(['signing', 'next'])
    later(25 * HOUR)
    expect(keys.signingKey().kid).toBe(revoked?.successor?.kid as string)
  })

  test('a revoked key that does not sign any more just goes; a name that no key has is said', async () => {
    const keys = await startReplica(0)
    const old = keys.signingKey().kid
    later(HOUR)
    const { kid } = await keys.rotate({ atOnce: true })
    expect(await rotationOf(0).revoke(old)).toEqual({ successor: null })
    await keys.refresh()
    expect(publishedKids(keys)).toEqual([kid])
    expect(await rotationOf(0).revoke(old)).toBeNull()
  })

  test('32 who revoke the same key at once make one successor', async () => {
    const keys = await startReplica(0)
    const old = keys.signingKey().kid
    const rotations = Array.from({ length: 32 }, (_, index) => rotationOf(index % 2).revoke(old))
    const revoked = (await Promise.all(rotations)).filter((one) => one !== null)
    await keys.refresh()
    expect(revoked).toHaveLength(1)
    expect(publishedKids(keys)).toEqual([revoked[0]?.successor?.kid as string])
  })

  test('rotations by hand at the same moment stand in line', async () => {
    const [one, two] = await Promise.all([startReplica(0), startReplica(1)])
    await Promise.all([one.rotate(), two.rotate(), one.rotate(), two.rotate({ atOnce: true })])
    const all = await states(one)
    expect(all.filter((state) => state === 'signing')).toHaveLength(1)
    expect(all.filter((state) => state === 'next').length).toBeLessThanOrEqual(1)
  })

  test('names of keys that nobody made cost at most one read a second', async () => {
    let reads = 0
    const options = optionsOf(0)
    const list = () => {
      reads++
      return options.store.list()
    }
    const store = { ...options.store, list }
    const keys = createKeyService({ ...options, store })
    await keys.start()
    running.push(keys)
    const before = reads
    for (let index = 0; index < 50; index++) expect(await keys.findPublicKey(`invented ${index}`)).toBeNull()
    expect(reads - before).toBe(1)
    later(1000)
    await keys.findPublicKey('invented')
    expect(reads - before).toBe(2)
    now = new Date(start.getTime() - HOUR)
    await keys.findPublicKey('invented')
    expect(reads - before).toBe(3)
  })

  test('while the store is away the keys in memory go on, and an unknown name says so', async () => {
    const options = optionsOf(0)
    let away = false
    const list = () => (away ? Promise.reject(new Error('connection')) : options.store.list())
    const failures: unknown[] = []
    const keys = createKeyService({
      ...options,
      store: { ...options.store, list },
      refreshMs: 20,
      onRefreshFailure: (error) => failures.push(error),
    })
    await keys.start()
    running.push(keys)
    const tokens = tokensOf(keys)
    away = true
    await waitFor(() => failures.length > 0, { what: 'a failed reading' })
    expect((await tokens.verify(await tokens.sign(subject))).sessionId).toBe('s')
    await expect(keys.findPublicKey('unknown')).rejects.toThrow('connection')
  })

  test('a replica follows by itself, without being asked', async () => {
    const one = await startReplica(0)
    const two = createKeyService({ ...optionsOf(1), refreshMs: 20 })
    await two.start()
    running.push(two)
    const { kid } = await one.rotate({ atOnce: true })
    later(1)
    await waitFor(() => two.signingKey().kid === kid, { what: 'the replica to follow' })
  })

  test('a clock set back an hour after the first start stops nothing', async () => {
    const keys = await startReplica(0)
    now = new Date(start.getTime() - HOUR)
    await keys.refresh()
    const tokens = tokensOf(keys)
    expect((await tokens.verify(await tokens.sign(subject))).sessionId).toBe('s')
    const before = keys.signingKey().kid
    await keys.rotate({ atOnce: true })
    expect(publishedKids(keys)).toHaveLength(2)
    expect(publishedKids(keys)).toContain(before)
    expect((await tokens.verify(await tokens.sign(subject))).sessionId).toBe('s')
  })

  test('another server secret is refused at the start, and rotating at once leads out', async () => {
    const one = await startReplica(0)
    const token = await tokensOf(one).sign(subject)
    const otherSecret = randomBytes(32)
    await expect(createKeyService(optionsOf(1, otherSecret)).start()).rejects.toThrow(
      'poterne keys rotate --now',
    )
    // Where other values open, the secret is right, and nobody is told to revoke it.
    const unreadable: string[] = []
    const onUnreadable = (kid: string) => unreadable.push(kid)
    const damaged = createKeyService({ ...optionsOf(1, otherSecret), onUnreadable }).start(true)
    const said = await damaged.catch((error: Error) => error.message)
    expect(said).toContain('the row in signing_keys is damaged')
    expect(said).not.toContain('revoke')
    expect(unreadable).toEqual([one.signingKey().kid])
    later(1000)
    const rotation = createKeyRotation(optionsOf(1, otherSecret))
    const { kid } = await rotation.rotate({ atOnce: true })
    const two = await startReplica(1, otherSecret)
    expect(two.signingKey().kid).toBe(kid)
    // A token that was signed before the change lives until it expires.
    expect((await tokensOf(two).verify(token)).sessionId).toBe('s')
    // The replica that still has the old secret cannot open the new key, and goes on with the one it can.
    await one.refresh()
    expect((await tokensOf(two).verify(await tokensOf(one).sign(subject))).sessionId).toBe('s')
  })

  test('without a key that opens, signing says that the service is unavailable', async () => {
    const keys = await startReplica(0)
    await (backend.databases[0] as Database).all(emptyTable, {})
    await createKeyRotation(optionsOf(0, randomBytes(32))).maintain()
    await keys.refresh()
    expect(() => keys.signingKey()).toThrow(new AppError('unavailable'))
  })

  test('the published set is answered with its public parts only, for five minutes', async () => {
    const keys = await startReplica(0)
    const answer = await createKeyRoutes(keys).handle(new Request('http://localhost/.well-known/jwks.json'))
    expect(answer.status).toBe(200)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
    expect(await answer.json()).toEqual(keys.published())
  })
})
