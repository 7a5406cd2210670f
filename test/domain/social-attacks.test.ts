/** Sign-in through a provider that lies, and by a browser that mixes things up: none of it opens anything. */
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
import { createPublicKey } from 'node:crypto'
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { newEmail, type Person } from '../helpers/api-client.ts'
import {
  createSigner,
  type Lies,
  newPerson,
  type PretendProvider,
  startPretendProvider,
} from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { APP, createSocialBrowser, newPkce, type SocialBrowser, socialSettings } from '../helpers/social.ts'

setDefaultTimeout(30_000)

let provider: PretendProvider
let other: PretendProvider
let service: TestService
let browser: SocialBrowser
let victim: Person
beforeAll(async () => {
  ;[provider, other] = await Promise.all([startPretendProvider(), startPretendProvider()])
  service = await startService({ settings: socialSettings(provider.issuer, other.issuer) })
  browser = createSocialBrowser(service)
  victim = await service.signUp(newEmail())
}, 60_000)
afterAll(async () => {
  await service?.close()
  await Promise.all([provider?.stop(), other?.stop()])
})

/** It also claims to support what must never be used. */
const algorithms: Lies = {
  description: (honest) => ({
    ...honest,
    id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'],
  }),
}
const lie = (lies: Lies) => provider.lie({ ...algorithms, ...lies })
beforeEach(() => lie({}))
afterEach(() => other.lie({}))

const changed = (change: Record<string, unknown>) => (claims: JWTPayload) => ({ ...claims, ...change })
const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds

const hmacWith = (secretOf: () => string) => (claims: JWTPayload) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', kid: provider.signer.kid })
    .sign(Buffer.from(secretOf()))
const publicKey = () => createPublicKey({ key: provider.signer.publicJwk as never, format: 'jwk' })
const spki = () => publicKey().export({ type: 'spki', format: 'pem' }).toString()

/** In each the person would be the victim if one believed it. */
const forgeries: Record<string, Lies> = {
  'another issuer': { claims: changed({ iss: 'https://accounts.google.com' }) },
  'an issuer with a slash more': { claims: (claims) => ({ ...claims, iss: `${claims.iss}/` }) },
  'no issuer': { claims: changed({ iss: undefined }) },
  'another audience': { claims: changed({ aud: 'somebody-else' }) },
  'no audience': { claims: changed({ aud: undefined }) },
  'two audiences, made for the other': { claims: changed({ aud: ['poterne', 'x'], azp: 'x' }) },
  'another nonce': { claims: changed({ nonce: 'x'.repeat(43) }) },
  'no nonce': { claims: changed({ nonce: undefined }) },
  'a nonce in a list': { claims: (claims) => ({ ...claims, nonce: [claims.nonce] }) },
  'its time over': { claims: changed({ exp: inSeconds(-120), iat: inSeconds(-400) }) },
  'no expiry': { claims: changed({ exp: undefined }) },
  'no time of issue': { claims: changed({ iat: undefined }) },
  'its time of issue more than a day ago': { claims: changed({ iat: inSeconds(-90_000) }) },
  'its time of issue years ahead': { claims: changed({ iat: 1e12, exp: 1e20 }) },
  'a time of issue that is no number': { claims: changed({ iat: 'now' }) },
  'its time not come': { claims: changed({ nbf: inSeconds(600) }) },
  'no subject': { claims: changed({ sub: undefined }) },
  'an empty subject': { claims: changed({ sub: '' }) },
  'a subject that is a number': { claims: changed({ sub: 7 }) },
  'a subject with a line break': { claims: changed({ sub: 'a\nb' }) },
  'an endless subject': { claims: changed({ sub: 'x'.repeat(256) }) },
  'alg none': { idToken: (claims) => new UnsecuredJWT(claims).encode() },
  'HS256 with the public key in PEM': { idToken: hmacWith(spki) },
  'HS256 with the public key in PEM, unbroken': { idToken: hmacWith(() => spki().trim()) },
  'HS256 with the public key as JWK': { idToken: hmacWith(() => JSON.stringify(provider.signer.publicJwk)) },
  'HS256 with the client secret': { idToken: hmacWith(() => 'hunterTwo') },
  'the key of somebody else under the name of the right one': {
    idToken: async (claims) => (await createSigner()).sign(claims, { kid: provider.signer.kid }),
  },
  'a key that is not published': { idToken: async (claims) => (await createSigner()).sign(claims) },
  'a key that it brings along': {
    idToken: async (claims) => {
      const { sign, publicJwk } = await createSigner()
      return sign(claims, { jwk: publicJwk, jku: `${other.issuer}/keys`, x5u: `${other.issuer}/keys` })
    },
  },
  'its signature cut off': {
    idToken: async (claims) => (await provider.signer.sign(claims)).replace(/[^.]+$/, ''),
  },
  'another algorithm than those described': {
    idToken: async (claims) => (await createSigner('ES256')).sign(claims),
  },
  'something else in its place': { idToken: () => 'not.a.token' },
}

describe('an identity token', () => {
  test.each(Object.entries(forgeries))('with %s is refused, in the browser and natively', async (_, lies) => {
    provider.present(newPerson({ email: victim.identifier, email_verified: true }))
    lie(lies)
    const app = await browser.walk('p1', newPkce())
    expect(Object.fromEntries(app.searchParams)).toEqual({ error: 'invalid_token' })
    const id_token = await provider.idToken('n')
    expectRefusal(await service.post('social/p1/token', { id_token, nonce: 'n' }), 'invalid_token')
  })

  test('that is honest passes, under the same description', async () => {
    provider.present(newPerson())
    expect((await browser.signIn()).status).toBe(200)
    const id_token = await provider.idToken('n')
    expect((await service.post('social/p1/token', { id_token, nonce: 'n' })).status).toBe(200)
    expect((await service.post('social/p1/token', { id_token, nonce: 'm' })).body.code).toBe('invalid_token')
  })

  test('for another provider is refused, natively', async () => {
    other.present(newPerson({ email: victim.identifier, email_verified: true }))
    const id_token = await other.idToken('n')
    expect((await service.post('social/p1/token', { id_token, nonce: 'n' })).body.code).toBe('invalid_token')
  })

  test('brought a second time is refused, however its signature is spelled', async () => {
    provider.present(newPerson())
    const id_token = await provider.idToken('n')
    expect((await service.post('social/p1/token', { id_token, nonce: 'n' })).status).toBe(200)
    for (const again of [id_token, `${id_token}=`, `${id_token} `]) {
      const { body } = await service.post('social/p1/token', { id_token: again, nonce: 'n' })
      expect(body.code).toBe('invalid_token')
    }
  })
})

test.each<[string, Lies, string]>([
  [
    'no identity token',
    { tokenAnswer: ({ id_token: _, ...rest }) => ({ status: 200, body: rest }) },
    'invalid_token',
  ],
  ['a list', { tokenAnswer: () => ({ status: 200, body: [1] }) }, 'invalid_token'],
  [
    'a refused code',
    { tokenAnswer: () => ({ status: 400, body: { error: 'invalid_grant' } }) },
    'invalid_token',
  ],
  [
    'a refused client',
    { tokenAnswer: () => ({ status: 401, body: { error: 'invalid_client' } }) },
    'provider_refused',
  ],
  ['a failure', { tokenAnswer: () => ({ status: 500, body: {} }) }, 'provider_unavailable'],
])('an exchange that ends in %s ends the sign-in', async (_, lies, error) => {
  lie(lies)
  const app = await browser.walk('p1', newPkce())
  expect(Object.fromEntries(app.searchParams)).toEqual({ error })
})

describe('the redirect back', () => {
  test('with another state, or none, leads nowhere', async () => {
    const { location, cookie } = await browser.begin('p1', newPkce())
    const callback = await browser.visit(location)
    for (const state of ['x'.repeat(43), '', null]) {
      const forged = new URL(callback)
      if (state === null) forged.searchParams.delete('state')
      else forged.searchParams.set('state', state)
      const back = await browser.comeBack(forged, cookie)
      expect([back.status, back.answer.code, back.location]).toEqual([422, 'invalid_sign_in_state', null])
    }
    expect((await browser.comeBack(callback, cookie)).location?.searchParams.has('code')).toBe(true)
  })

  test('in another browser leads nowhere, and the first one may still go on', async () => {
    const { location, cookie } = await browser.begin('p1', newPkce())
    const attacker = await browser.begin('p1', newPkce())
    const callback = await browser.visit(location)
    const [name] = cookie.split('=')
    for (const wrong of [null, attacker.cookie, `${name}=`, `${name}=${attacker.cookie.split('=')[1]}`]) {
      const back = await browser.comeBack(callback, wrong)
      expect([back.status, back.answer.code]).toEqual([422, 'invalid_sign_in_state'])
    }
    expect((await browser.comeBack(callback, cookie)).location?.searchParams.has('code')).toBe(true)
  })

  test('works once, and within ten minutes', async () => {
    const { location, cookie } = await browser.begin('p1', newPkce())
    const callback = await browser.visit(location)
    const parallel = await Promise.all(Array.from({ length: 32 }, () => browser.comeBack(callback, cookie)))
    expect(parallel.filter(({ location }) => location?.searchParams.has('code'))).toHaveLength(1)
    expect(parallel.filter(({ answer }) => answer?.code === 'invalid_sign_in_state')).toHaveLength(31)
    const late = await browser.begin('p1', newPkce())
    service.clock.advance(600_000)
    const back = await browser.comeBack(await browser.visit(late.location), late.cookie)
    expect(back.answer.code).toBe('invalid_sign_in_state')
  })

  test('with the code of another sign-in of the same browser is refused', async () => {
    const [mine, planted] = [await browser.begin('p1', newPkce()), await browser.begin('p1', newPkce())]
    provider.present(newPerson({ email: victim.identifier, email_verified: true }))
    const [one, two] = [await browser.visit(mine.location), await browser.visit(planted.location)]
    one.searchParams.set('code', two.searchParams.get('code')!)
    const back = await browser.comeBack(one, mine.cookie)
    expect(Object.fromEntries(back.location!.searchParams)).toEqual({ error: 'invalid_token' })
  })

  test('with a code that was exchanged before is refused', async () => {
    const { location, cookie } = await browser.begin('p1', newPkce())
    const used = (await browser.visit(location)).searchParams.get('code')!
    const first = new URL(await browser.visit(location))
    first.searchParams.set('code', used)
    expect((await browser.comeBack(first, cookie)).location?.searchParams.has('code')).toBe(true)
    const next = await browser.begin('p1', newPkce())
    const replayed = await browser.visit(next.location)
    replayed.searchParams.set('code', used)
    const back = await browser.comeBack(replayed, next.cookie)
    expect(Object.fromEntries(back.location!.searchParams)).toEqual({ error: 'invalid_token' })
  })

  test('of one provider at the path of another is refused', async () => {
    const { location, cookie } = await browser.begin('p1', newPkce())
    const callback = await browser.visit(location)
    callback.pathname = callback.pathname.replace('/p1/', '/p2/')
    const back = await browser.comeBack(callback, cookie)
    expect(Object.fromEntries(back.location!.searchParams)).toEqual({ error: 'invalid_token' })
    expect(other.exchanges).toHaveLength(0)
  })

  test('with the name of another provider, or without any where one was promised, is refused', async () => {
    const before = provider.exchanges.length
    for (const redirect of [
      (honest: Record<string, string>) => ({ ...honest, iss: other.issuer }),
      ({ code, state }: Record<string, string>) => ({ code: code!, state: state! }),
      ({ state }: Record<string, string>) => ({ error: 'access_denied', state: state!, iss: other.issuer }),
    ]) {
      lie({ redirect })
      const app = await browser.walk('p1', newPkce())
      expect(Object.fromEntries(app.searchParams)).toEqual({ error: 'invalid_token' })
    }
    expect(provider.exchanges).toHaveLength(before)
  })

  test('without a code, or with a token in it, is refused', async () => {
    for (const redirect of [
      ({ state, iss }: Record<string, string>) => ({ state: state!, iss: iss! }),
      ({ state, iss }: Record<string, string>) => ({ state: state!, iss: iss!, id_token: 'x' }),
    ]) {
      lie({ redirect })
      const app = await browser.walk('p1', newPkce())
      expect(Object.fromEntries(app.searchParams)).toEqual({ error: 'invalid_token' })
    }
  })
})

test('another site that begins sign-ins without end leaves 16 of their cookies in a browser', async () => {
  const jar = new Map([['__Host-poterne', 'a session']])
  const address = `${service.url}/api/v1/auth/social/p1/authorize`
  const query = new URLSearchParams({ redirect_uri: APP, code_challenge: newPkce().challenge })
  const begun: string[] = []
  for (let call = 0; call < 40; call++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const { headers } = await fetch(`${address}?${query}`, { redirect: 'manual', headers: { cookie } })
    for (const line of headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';')[0]!.split('=')
      if (line.includes('Max-Age=0')) jar.delete(name)
      else {
        jar.set(name, value)
        begun.push(name)
      }
    }
    expect(jar.size).toBeLessThanOrEqual(17)
  }
  // The newest ones stay, and so does every other cookie.
  expect([...jar.keys()]).toEqual(['__Host-poterne', ...begun.slice(-16)])
})

test('what a provider made of the victim’s e-mail never opened the victim’s account', async () => {
  const { access_token } = await service.logIn(victim)
  expect((await service.get('identities', { bearer: access_token })).body.identities).toEqual([])
  expect((await service.get('sessions', { bearer: access_token })).body.sessions).toHaveLength(1)
})

test('what a provider repeats in place of a code is not said in the log', async () => {
  const before = service.log.length
  const errors = [
    'hunterTwo',
    () => provider.exchanges.at(-1)?.body.get('code') ?? '',
    'gho_16C7e42F292c6912E7710c838347Ae178B4a',
  ]
  for (const error of errors) {
    lie({
      tokenAnswer: () => ({ status: 400, body: { error: typeof error === 'string' ? error : error() } }),
    })
    await browser.walk('p1', newPkce())
  }
  const causes = service.log
    .slice(before)
    .map((line) => JSON.parse(line))
    .filter(({ provider }) => provider === 'p1')
  expect(causes.map(({ cause }) => cause)).toEqual(['other', 'other', 'other'])
})

test('nothing of a failed sign-in stands in the log but why', () => {
  const failures = service.log.map((line) => JSON.parse(line)).filter(({ provider }) => provider === 'p1')
  expect(failures.length).toBeGreaterThan(20)
  for (const failure of failures) {
    expect(Object.keys(failure)).not.toContain('err')
    expect(failure.cause).toMatch(/^[\w.-]{1,60}$/)
  }
  expect(service.log.join('\n')).not.toMatch(/hunter|eyJ|id_token=/)
})
