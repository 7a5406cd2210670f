/** `poterne keys` beside services that run: what the command does, they follow. */
import { expect, test } from 'bun:test'
import { decodeProtectedHeader } from 'jose'
import { newEmail } from '../helpers/api-client.ts'
import { runPoterne } from '../helpers/executable.ts'
import {
  createStorage,
  type Settings,
  startService,
  type TestService,
  writeSettings,
} from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

const service = useService({ shape: 'postgres' })

async function keys(storage: Settings, ...args: string[]) {
  const { directory, file } = writeSettings(storage)
  return runPoterne(['keys', ...args, '--config', file], { directory })
}

const states = async () =>
  JSON.parse((await keys(service.storage, 'list', '--json')).out).map(({ state }: { state: string }) => state)
const published = async ({ call }: TestService) =>
  (await call('GET', '/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid)
const kidOf = (token: string) => decodeProtectedHeader(token).kid

test('lists the key that signs, for people and for programs', async () => {
  const [kid] = await published(service)
  const { out, code } = await keys(service.storage, 'list')
  expect(code).toBe(0)
  expect(out).toMatch(new RegExp(`^KEY .*\n${kid}  signing  ES256  .*Z  -\n$`))
  const [key] = JSON.parse((await keys(service.storage, 'list', '--json')).out)
  expect(key).toEqual({
    kid,
    algorithm: 'ES256',
    state: 'signing',
    created_at: expect.any(String),
    signs_from: expect.any(String),
    published_until: null,
  })
}, 30_000)

test('rotates from tomorrow on, or at once; a replica that was running accepts the new key’s tokens', async () => {
  const person = await service.signUp(newEmail())
  const [old] = await published(service)
  expect((await keys(service.storage, 'rotate')).code).toBe(0)
  expect(await states()).toEqual(['signing', 'next'])
  const { out } = await keys(service.storage, 'rotate', '--now')
  expect(await states()).toEqual(['superseded', 'signing'])
  await using replica = await startService({ shape: 'postgres', storage: service.storage })
  expect(await published(replica)).toContain(out.slice(0, 43))
  const { access_token } = await replica.logIn(person)
  expect(kidOf(access_token)).toBe(out.slice(0, 43))
  expect((await service.get('me', { bearer: access_token })).status).toBe(200)
  const before = await service.logIn(person)
  expect((await replica.get('me', { bearer: before.access_token })).status).toBe(200)
  expect(await published(service)).toEqual([old, out.slice(0, 43)])
}, 60_000)

test('says so where no service has made a key yet, and what is wrong with the command line', async () => {
  const { settings, drop } = await createStorage('postgres')
  const { out, code } = await keys(settings, 'list')
  await drop()
  expect([out, code]).toEqual(['No key yet: the service makes the first one when it starts.\n', 0])
  const wrong = await keys(settings, 'rotate', '--always')
  expect([wrong.error.split('\n')[0], wrong.code]).toEqual(["error: unknown option '--always'", 2])
}, 60_000)
