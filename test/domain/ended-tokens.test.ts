/** Services that verify access tokens themselves follow which were ended, on every storage shape. */
import { describe, expect, test } from 'bun:test'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { createEventStore } from '../../src/domain/foundation/events/store.ts'
import { asOperator } from '../helpers/administration.ts'
import { newEmail } from '../helpers/api-client.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { rareShapes, type TestService, testsOn } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'

const RETENTION = { retentionSeconds: 1, addressRetentionSeconds: 1 }
const LIFE_SECONDS = 15 * 60 + 60

async function newToken(service: TestService, scopes = ['sessions:watch']): Promise<string> {
  const made = await asOperator(service, 'POST', 'tokens', { name: 'verifier', scopes, expires_in: '90d' })
  return made.body.token as string
}

interface Ended {
  cursor: string
  ended: Record<string, string | number>[]
}

const follow = async (service: TestService, token: string, query = ''): Promise<Ended> =>
  (await service.get(`sessions/ended${query}`, { bearer: token })).body

const sidOf = (bearer: string) => decodeJwt(bearer).sid as string

describe.each(rareShapes)('the feed of ended tokens on %s', (shape) => {
  const { test, rule } = testsOn(shape)
  const service = useService({ shape })
  const seconds = () => Math.floor(service.clock.now().getTime() / 1000)

  test('names sessions, accounts and keys, oldest first, and goes on after its cursor', async () => {
    const token = await newToken(service)
    const startedAt = seconds()
    const { cursor: start } = await follow(service, token)
    const [one, other] = [await service.signedIn(), await service.signedIn()]
    await service.post('logout', {}, { bearer: one.bearer })
    await asOperator(service, 'PATCH', `accounts/${other.uuid}`, { end_tokens: true })
    const { kid } = decodeProtectedHeader(one.bearer)
    await asOperator(service, 'POST', 'keys/revoke', { kid })
    await asOperator(service, 'DELETE', `accounts/${other.uuid}`)
    const { ended, cursor } = await follow(service, token, `?after=${start}`)
    const until = expect.any(Number)
    expect(ended).toEqual([
      { session: sidOf(one.bearer), until },
      { account: other.uuid, before: expect.any(Number), until },
      { key: kid!, until },
      { account: other.uuid, until },
    ])
    for (const entry of ended) {
      expect(entry.until).toBeGreaterThanOrEqual(startedAt + LIFE_SECONDS)
      expect(entry.until).toBeLessThanOrEqual(seconds() + LIFE_SECONDS)
    }
    expect(Number(cursor)).toBeGreaterThan(Number(start))
    expect((await follow(service, token, `?after=${cursor}`)).ended).toEqual([])
  })

  rule('answers as soon as something ends, and moves its cursor where nothing does', async () => {
    const token = await newToken(service)
    const { cursor } = await follow(service, token)
    const { bearer } = await service.signedIn()
    await service.delivered()
    const asked = performance.now()
    const waiting = follow(service, token, `?after=${cursor}&wait=20`)
    await Bun.sleep(300)
    expect((await service.post('logout', {}, { bearer })).status).toBe(200)
    expect((await waiting).ended).toMatchObject([{ session: sidOf(bearer) }])
    expect(performance.now() - asked).toBeLessThan(3000)
    const quiet = await follow(service, token, `?after=${cursor}&wait=0`)
    await service.signedIn()
    const later = await follow(service, token, `?after=${quiet.cursor}&wait=1`)
    expect(later.ended).toEqual([])
    expect(Number(later.cursor)).toBeGreaterThan(Number(quiet.cursor))
  })

  rule('begins anew without a cursor, with a foreign one, and with one ahead of the log', async () => {
    const token = await newToken(service)
    const { bearer } = await service.signedIn()
    await service.post('logout', {}, { bearer })
    const { ended, cursor } = await follow(service, token)
    expect(ended.at(-1)).toMatchObject({ session: sidOf(bearer) })
    for (const after of ['x', '-1', '99999999999', '1e9', ''])
      expect((await follow(service, token, `?after=${after}`)).ended).toEqual(ended)
    service.clock.advance((LIFE_SECONDS + 1) * 1000)
    expect((await follow(service, token)).ended).toEqual([])
    expect((await follow(service, token, `?after=${cursor}`)).ended).toEqual([])
  })
})

describe('the feed of ended tokens', () => {
  const service = useService({ shape: 'redis' })
  const replica = useReplica(service, { shape: 'redis' })

  test('is the same at every replica', async () => {
    const token = await newToken(service)
    const { cursor } = await follow(service, token)
    const waiting = follow(replica, token, `?after=${cursor}&wait=20`)
    const { bearer } = await service.signedIn(newEmail())
    await service.post('logout', {}, { bearer })
    expect((await waiting).ended).toMatchObject([{ session: sidOf(bearer) }])
  })

  test('asks for a token with its own scope, here and while one waits', async () => {
    const { bearer } = await service.signedIn()
    for (const authorization of [undefined, 'pot_adm_nothing', bearer]) {
      const options = authorization === undefined ? {} : { bearer: authorization }
      expectRefusal(await service.get('sessions/ended', options), 'invalid_token')
    }
    const reader = await newToken(service, ['events:read'])
    expectRefusal(await service.get('sessions/ended', { bearer: reader }), 'insufficient_scope')
    const made = await asOperator(service, 'POST', 'tokens', {
      ...{ name: 'verifier', scopes: ['sessions:watch'], expires_in: '90d' },
    })
    const { token, id } = made.body
    const { cursor } = await follow(service, token)
    const waiting = service.get(`sessions/ended?after=${cursor}&wait=20`, { bearer: token })
    await Bun.sleep(200)
    await asOperator(service, 'DELETE', `tokens/${id}`)
    await service.post('logout', {}, { bearer })
    expectRefusal(await waiting, 'invalid_token')
  })

  test('lets sixteen calls of one token wait, and takes 25 seconds at most', async () => {
    const [token, another] = [await newToken(service), await newToken(service)]
    for (const wait of ['26', 'x', '-1'])
      expectRefusal(await service.get(`sessions/ended?wait=${wait}`, { bearer: token }), 'validation_failed')
    const { cursor } = await follow(service, token)
    const address = `sessions/ended?after=${cursor}&wait=20`
    const calls = Array.from({ length: 17 }, () => service.get(address, { bearer: token }))
    // The others wait: the first answer is that of the one too many.
    expectRefusal(await Promise.race(calls), 'too_many_requests')
    calls.push(service.get(address, { bearer: another }))
    const { bearer } = await service.signedIn()
    await service.post('logout', {}, { bearer })
    const told = (await Promise.all(calls)).filter(({ status }) => status === 200)
    expect(told.length).toBe(17)
    for (const { body } of told) expect(body.ended).toMatchObject([{ session: sidOf(bearer) }])
  })

  test('the loops of the documents, in Python and Go, know what ended', async () => {
    const token = await newToken(service)
    const { bearer, uuid } = await service.signedIn()
    await service.post('logout', {}, { bearer })
    const [sid, iat] = [sidOf(bearer), decodeJwt(bearer).iat!]
    const directory = newDirectory('ended')
    const samples = join(import.meta.dir, '../../docs/quickstart')
    for (const name of ['ended.py', 'ended.go']) copyFileSync(join(samples, name), join(directory, name))
    writeFileSync(
      join(directory, 'try.py'),
      `from ended import follow, is_ended
follow("${service.url}", "${token}", 1)
print(is_ended({"sid": "${sid}", "sub": "${uuid}", "iat": ${iat}}, "k"), is_ended({"sid": "s", "sub": "${uuid}", "iat": ${iat}}, "k"))`,
    )
    writeFileSync(
      join(directory, 'try.go'),
      `package main
func main() {
  var ended Ended
  if _, err := ended.ask("${service.url}", "${token}", ""); err != nil { panic(err) }
  print(ended.IsEnded("${sid}", "${uuid}", "k", ${iat}), " ", ended.IsEnded("s", "${uuid}", "k", ${iat}))
}`,
    )
    const tries = { 'python3 try.py': 'True False', 'go run try.go ended.go': 'true false' }
    for (const [command, expected] of Object.entries(tries)) {
      const child = Bun.spawn(command.split(' '), {
        cwd: directory,
        env: { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GO111MODULE: 'off' },
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const said = await Promise.all(
        [child.stdout, child.stderr].map((stream) => new Response(stream).text()),
      )
      expect(said.join('').trim()).toBe(expected)
    }
  })

  test('doctor says two weeks before when such a token ends', async () => {
    const finding = async () => {
      const { findings } = (await asOperator(service, 'GET', 'doctor')).body
      return findings.find(({ name }: { name: string }) => name === 'watching-tokens')
    }
    expect((await finding()).level).toBe('ok')
    await asOperator(service, 'POST', 'tokens', {
      ...{ name: 'short-lived', scopes: ['sessions:watch'], expires_in: '13d' },
    })
    expect(await finding()).toMatchObject({
      level: 'warning',
      message: expect.stringContaining('short-lived'),
    })
  })

  test('a restore refuses everything that was signed before its second', async () => {
    const token = await newToken(service)
    const { cursor } = await follow(service, token)
    const at = service.clock.now()
    const restored = { type: 'backup.restored', account: null, data: {} } as const
    await createEventStore(service.inside.database, RETENTION).add([restored], at)
    const before = Math.floor(at.getTime() / 1000)
    const { ended } = await follow(service, token, `?after=${cursor}`)
    expect(ended).toEqual([{ before, until: before + LIFE_SECONDS }])
  })
})
