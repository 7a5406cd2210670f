/** A provider that is away, slow, or leads elsewhere: it stops neither the start nor the other ways in. */
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail } from '../helpers/api-client.ts'
import {
  createSigner,
  newPerson,
  type PretendProvider,
  startPretendProvider,
} from '../helpers/pretend-provider.ts'
import { createWorld, type Host } from '../helpers/pretend-world.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { APP, createSocialBrowser, newPkce, socialSettings } from '../helpers/social.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(30_000)

let provider: PretendProvider | undefined
let service: TestService | undefined
afterEach(async () => {
  await service?.close()
  await provider?.stop()
  service = provider = undefined
})

const authorizePath = (name = 'p1') =>
  `social/${name}/authorize?${new URLSearchParams({ redirect_uri: APP, code_challenge: newPkce().challenge })}`

test('down at the start, it is a 503 until it comes, while everything else works', async () => {
  provider = await startPretendProvider()
  await provider.stop()
  service = await startService({ settings: socialSettings(provider.issuer) })
  expectRefusal(await service.get(authorizePath()), 'provider_unavailable')
  const native = await service.post('social/p1/token', { id_token: 'x.y.z', nonce: 'n' })
  expectRefusal(native, 'provider_unavailable')
  await service.logIn(await service.signUp(newEmail()))
  expect((await service.get('social')).status).toBe(200)
  await provider.start()
  expect((await createSocialBrowser(service).signIn()).status).toBe(200)
})

test('away later, its description and keys are kept: who comes back with a code gets a plain error', async () => {
  provider = await startPretendProvider()
  service = await startService({ settings: socialSettings(provider.issuer) })
  const browser = createSocialBrowser(service)
  provider.present(newPerson())
  await browser.signIn()
  const begun = await browser.begin('p1', newPkce())
  const callback = await browser.visit(begun.location)
  provider.lie({ claims: (claims) => ({ ...claims, exp: claims.exp! + 86_400 }) })
  const tokens = [await provider.idToken('n'), await provider.idToken('m')]
  await provider.stop()
  for (const [index, hours] of [1, 5].entries()) {
    service.clock.advance(hours * 3600_000)
    await browser.begin('p1', newPkce())
    const body = { id_token: tokens[index], nonce: 'nm'[index] }
    expect((await service.post('social/p1/token', body)).status).toBe(200)
  }
  service.clock.advance(-6 * 3600_000)
  const back = await browser.comeBack(callback, begun.cookie)
  expect(Object.fromEntries(back.location!.searchParams)).toEqual({ error: 'provider_unavailable' })
})

test('its new keys are used without a restart, also before the old ones are thought old', async () => {
  provider = await startPretendProvider()
  service = await startService({ settings: socialSettings(provider.issuer) })
  const browser = createSocialBrowser(service)
  await browser.signIn()
  const asked = () => provider!.requests.filter((path) => path === '/keys').length
  expect(asked()).toBe(1)
  const next = await createSigner()
  provider.lie({ keys: (honest) => [...honest, next.publicJwk], idToken: (claims) => next.sign(claims) })
  expect((await browser.walk('p1', newPkce())).searchParams.get('error')).toBe('invalid_token')
  service.clock.advance(31_000)
  expect((await browser.signIn()).status).toBe(200)
  expect(asked()).toBe(2)
  // Keys that nobody published are not asked for at each try.
  const stranger = await createSigner()
  provider.lie({ keys: (honest) => [...honest, next.publicJwk], idToken: (claims) => stranger.sign(claims) })
  for (let tries = 0; tries < 5; tries++) await browser.walk('p1', newPkce())
  expect(asked()).toBe(2)
})

test('description and keys are renewed in the background once they are old', async () => {
  provider = await startPretendProvider()
  service = await startService({ settings: socialSettings(provider.issuer) })
  const browser = createSocialBrowser(service)
  await browser.signIn()
  const asked = () => provider!.requests.filter((path) => path.includes('openid-configuration')).length
  expect(asked()).toBe(1)
  await browser.signIn()
  expect(asked()).toBe(1)
  service.clock.advance(3601_000)
  await browser.begin('p1', newPkce())
  await waitFor(() => asked() === 2)
})

const unusable: [string, Parameters<PretendProvider['lie']>[0]][] = [
  ['says it is another issuer', { description: (honest) => ({ ...honest, issuer: 'https://evil.example' }) }],
  [
    'sends the browser into a script',
    { description: (honest) => ({ ...honest, authorization_endpoint: 'javascript:alert(1)' }) },
  ],
  ['has no page to sign in', { description: ({ authorization_endpoint: _, ...rest }) => rest }],
  ['redirects', { handle: (_, response) => !!response.writeHead(302, { location: '/elsewhere' }).end() }],
  ['answers an error', { handle: (_, response) => !!response.writeHead(500).end() }],
  ['is not there', { handle: (_, response) => !!response.writeHead(404).end() }],
  ['answers no JSON', { handle: (_, response) => !!response.writeHead(200).end('<html>') }],
  [
    'answers without end',
    {
      handle: (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        return !!response.end(`{"x":"${'x'.repeat(2_000_000)}"}`)
      },
    },
  ],
]

test('one is unavailable whose description is wrong, or does not come', async () => {
  const providers = await Promise.all(unusable.map(() => startPretendProvider()))
  for (const [index, [, lies]] of unusable.entries()) providers[index]!.lie(lies)
  service = await startService({ settings: socialSettings(...providers.map(({ issuer }) => issuer)) })
  for (const [index, [name]] of unusable.entries()) {
    const { status, body } = await service.get(authorizePath(`p${index + 1}`))
    expect([name, status, body.code]).toEqual([name, 503, 'provider_unavailable'])
  }
  await Promise.all(providers.map((one) => one.stop()))
})

longTest('one that does not answer costs five seconds, and others nothing', async () => {
  const providers = await Promise.all([startPretendProvider(), startPretendProvider()])
  const [silent, half] = providers
  silent.lie({ handle: () => true })
  half.lie({
    handle: (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{'),
  })
  service = await startService({ settings: socialSettings(silent.issuer, half.issuer) })
  const started = performance.now()
  const waiting = ['p1', 'p2'].map((name) => service!.get(authorizePath(name)))
  const list = await service.get('social')
  expect([list.status, performance.now() - started < 2000]).toEqual([200, true])
  for (const answer of waiting) {
    expectRefusal(await answer, 'provider_unavailable')
    expect(performance.now() - started).toBeWithin(4900, 7000)
  }
  await Promise.all(providers.map((one) => one.stop()))
})

const described =
  (more: object = {}): Host =>
  ({ url: { origin } }) => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/keys`,
    ...more,
  })

const places: [string, string][] = [
  ['a loopback address', 'https://127.0.0.1/keys'],
  ['the metadata of a cloud', 'https://169.254.169.254/keys'],
  ['an IPv6 address of the machine', 'https://[::1]/keys'],
  ['an IPv4 address in IPv6', 'https://[::ffff:10.0.0.1]/keys'],
  ['a name that is private', 'https://inside.example.com/keys'],
  ['a name that is both', 'https://both.example.com/keys'],
  ['a name without address', 'https://nowhere.example.com/keys'],
  ['no TLS', 'http://keys.example.com/keys'],
  ['a file', 'file:///etc/passwd'],
]

test('a provider cannot send the service to a place of its own network, or without TLS', async () => {
  const addresses = {
    'inside.example.com': ['10.1.2.3'],
    'both.example.com': ['1.1.1.1', 'fd00::1'],
    'nowhere.example.com': [],
    '127.0.0.1': ['127.0.0.1'],
    '169.254.169.254': ['169.254.169.254'],
    '::1': ['::1'],
    '::ffff:a00:1': ['::ffff:10.0.0.1'],
  }
  const hosts = places.map((_, index) => `login-${index}.example.com`)
  const descriptions = places.map(([, jwks_uri], index) => [hosts[index]!, described({ jwks_uri })] as const)
  const world = createWorld(Object.fromEntries(descriptions), addresses)
  service = await startService({
    network: world,
    settings: socialSettings(...hosts.map((host) => `https://${host}`)),
  })
  for (const [index, [name]] of places.entries()) {
    const { body } = await service.post(`social/p${index + 1}/token`, { id_token: 'x.y.z', nonce: 'n' })
    const asked = world.requests.splice(0).map(({ url }) => url.host)
    expect([name, body.code, asked]).toEqual([name, 'provider_unavailable', [hosts[index]!]])
  }
})

test('a provider of one’s own network works where the operator named its host', async () => {
  const signer = await createSigner()
  const own: Host = (request) =>
    request.url.pathname === '/keys' ? { keys: [signer.publicJwk] } : described()(request)
  const world = createWorld({ 'login.example.com': own }, { 'login.example.com': ['10.0.0.7'] })
  service = await startService({ network: world, settings: socialSettings('https://login.example.com') })
  const seconds = Math.floor(Date.now() / 1000)
  const id_token = await signer.sign({
    iss: 'https://login.example.com',
    aud: 'poterne',
    sub: 's',
    nonce: 'n',
    iat: seconds,
    exp: seconds + 60,
  })
  expect((await service.post('social/p1/token', { id_token, nonce: 'n' })).status).toBe(200)
})
