/** The client package on servers: the tokens in a cookie, and access tokens verified where they arrive. */
import { describe, expect, setSystemTime, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import {
  base64url,
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { createClient, type PoterneError } from '../../src/client/index.ts'
import { type Cookies, cookieStorage, createVerifier } from '../../src/client/server.ts'
import { recordEvents } from '../../src/domain/foundation/events/event-sql.ts'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const SECRET = 'the secret of the application, 32 characters'

const service = useService({ shape: 'redis' })
const replica = useReplica(service, { shape: 'redis' })
const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error) as Promise<PoterneError>

/** A browser that keeps what the application sets, and one client for each request. */
function newBrowser(options: Partial<Cookies> = {}) {
  const jar = new Map<string, string>()
  const attributes: object[] = []
  const open = (more: Partial<Cookies> = {}) => {
    const cookies = new Map(jar)
    const storage = cookieStorage({
      secret: SECRET,
      get: (name) => cookies.get(name),
      set(name, value, given) {
        attributes.push(given)
        if (given.expires.getTime() < Date.now()) jar.delete(name)
        else jar.set(name, value)
      },
      ...options,
      ...more,
    })
    return createClient({ url: service.url, storage })
  }
  return { jar, attributes, open }
}

async function signedInBrowser(options: Partial<Cookies> = {}) {
  const email = newEmail()
  await service.signUp(email)
  const browser = newBrowser(options)
  await browser.open().signIn({ identifier: email, password: PASSWORD })
  return { ...browser, email }
}

describe('the cookie storage', () => {
  test('keeps somebody signed in over requests, in one cookie that says nothing', async () => {
    const { jar, attributes, open, email } = await signedInBrowser()
    expect([...jar.keys()]).toEqual(['__Host-poterne-app'])
    expect(attributes.at(-1)).toEqual({
      path: '/',
      httpOnly: true,
      secure: true,
      sameSite: 'lax',
      expires: expect.any(Date),
    })
    const auth = open()
    expect(auth.state.status).toBe('loading')
    expect((await auth.reload()).email).toBe(email)
    expect(auth.state.status).toBe('signed_in')
    const before = jar.get('__Host-poterne-app')
    service.clock.advance(16 * 60_000)
    expect((await open().reload()).email).toBe(email)
    expect(jar.get('__Host-poterne-app')).not.toBe(before)
    await open().signOut()
    expect((await failure(open().reload())).code).toBe('signed_out')
  })

  test('what nobody here sealed is no sign-in, and another cookie’s content neither', async () => {
    const { jar, open } = await signedInBrowser()
    const good = jar.get('__Host-poterne-app')!
    const changed = `${good.slice(0, 40)}${good[40] === 'A' ? 'B' : 'A'}${good.slice(41)}`
    for (const cookie of ['', 'x', changed, good.slice(0, -4), `${good}AAAA`]) {
      jar.set('__Host-poterne-app', cookie)
      expect(open().state.status).toBe('signed_out')
    }
    jar.set('poterne-app', good)
    expect(open({ secure: false }).state.status).toBe('signed_out')
    jar.set('__Host-poterne-app', good)
    expect(open({ secret: 'another secret of the application, longer' }).state.status).toBe('signed_out')
    const rotated = { secret: 'another secret of the application, longer', previousSecrets: [SECRET] }
    expect(open(rotated).state.status).toBe('loading')
  })

  test('where nothing can be set, a token is used while it lasts', async () => {
    const { open, email, jar } = await signedInBrowser()
    const before = jar.get('__Host-poterne-app')
    const reading = { set: undefined } as unknown as Partial<Cookies>
    expect((await open(reading).reload()).email).toBe(email)
    setSystemTime(Date.now() + 890_000)
    expect((await open(reading).reload()).email).toBe(email)
    setSystemTime()
    service.clock.advance(16 * 60_000)
    expect((await failure(open(reading).reload())).code).toBe('needs_refresh')
    expect(jar.get('__Host-poterne-app')).toBe(before)
    expect((await open().reload()).email).toBe(email)
  })

  test('refuses a secret that is short, and a cookie that no browser keeps', async () => {
    expect(() => cookieStorage({ secret: 'short', get: () => null })).toThrow('32 characters')
    const storage = cookieStorage({ secret: SECRET, get: () => null, set: () => {} })
    expect(() => storage.setItem('poterne', JSON.stringify({ token: 'x'.repeat(3000) }))).toThrow(
      'tokens.claims',
    )
  })
})

describe('the verifier with the feed', () => {
  const named = { issuer: 'http://auth.internal', audience: 'http://auth.internal' }
  const newFeedToken = async () => {
    const wanted = { name: 'orders', scopes: ['sessions:watch'], expires_in: '90d' }
    return (await asOperator(service, 'POST', 'tokens', wanted)).body.token as string
  }

  test('refuses an ended session within a second, and takes the others', async () => {
    const verifier = createVerifier({ url: service.url, ...named, feedToken: await newFeedToken() })
    const [one, other] = [await service.signedIn(), await service.signedIn()]
    expect((await verifier.verify(one.bearer)).sub).toBe(one.uuid)
    await service.post('logout', {}, { bearer: one.bearer })
    const endedAt = performance.now()
    await waitFor(async () => (await failure(verifier.verify(one.bearer))).code === 'invalid_token')
    expect(performance.now() - endedAt).toBeLessThan(1500)
    expect((await verifier.verify(other.bearer)).sub).toBe(other.uuid)
    const late = createVerifier({ url: service.url, ...named, feedToken: await newFeedToken() })
    expect((await failure(late.verify(one.bearer))).code).toBe('invalid_token')
    verifier.close()
    late.close()
  })

  test('of two behind a round robin both refuse in time, and they outlive an outage, a restart and a restore', async () => {
    const targets = [service.url, replica.url]
    let turn = 0
    const pass = ({ url, headers, signal }: Request) => {
      const { pathname, search } = new URL(url)
      const target = targets[turn++ % targets.length]
      return fetch(target + pathname + search, { headers, signal, decompress: false })
    }
    let balancer = Bun.serve({ port: 0, idleTimeout: 60, fetch: pass })
    const { port } = balancer
    const options = { url: `http://127.0.0.1:${port}`, ...named, feedToken: await newFeedToken() }
    const verifiers = [createVerifier(options), createVerifier(options)]
    const takes = async (bearer: string) =>
      Promise.all(
        verifiers.map((verifier) =>
          verifier.verify(bearer).then(
            () => true,
            ({ code }) => code,
          ),
        ),
      )
    const [one, other, third] = [await service.signedIn(), await service.signedIn(), await service.signedIn()]
    expect(await takes(one.bearer)).toEqual([true, true])
    await service.post('logout', {}, { bearer: one.bearer })
    const endedAt = performance.now()
    const bothRefuse = async (bearer: string) => !(await takes(bearer)).includes(true)
    await waitFor(() => bothRefuse(one.bearer))
    expect(performance.now() - endedAt).toBeLessThan(1500)
    await balancer.stop(true)
    await service.post('logout', {}, { bearer: other.bearer })
    expect(await takes(other.bearer)).toEqual([true, true])
    expect(await takes(one.bearer)).toEqual(['invalid_token', 'invalid_token'])
    // Another process answers afterwards.
    targets.shift()
    balancer = Bun.serve({ port: port!, idleTimeout: 60, fetch: pass })
    const backAt = performance.now()
    await waitFor(() => bothRefuse(other.bearer))
    expect(performance.now() - backAt).toBeLessThan(11_000)
    expect(await takes(third.bearer)).toEqual([true, true])
    service.clock.advance(2000)
    const restored = { type: 'backup.restored', account: null, data: {} } as const
    await recordEvents(service.inside.database, [restored], service.clock.now())
    await waitFor(() => bothRefuse(third.bearer))
    for (const verifier of verifiers) verifier.close()
    await balancer.stop(true)
  })

  test('without an answer it takes tokens as without a feed and says so once, or refuses them', async () => {
    const { bearer, uuid } = await service.signedIn()
    const problems: string[] = []
    const options = { url: service.url, ...named, feedToken: 'pot_adm_unknown', staleAfter: 1 }
    const verifier = createVerifier({ ...options, onProblem: ({ code }) => void problems.push(code) })
    const strict = createVerifier({ ...options, whenStale: 'refuse' })
    for (let count = 0; count < 2; count++) expect((await verifier.verify(bearer)).sub).toBe(uuid)
    expect(problems).toEqual(['unavailable'])
    expect(await failure(strict.verify(bearer))).toMatchObject({ status: 503, code: 'unavailable' })
    verifier.close()
    strict.close()
  })

  test('keeps no process alive', async () => {
    const script = `import { createVerifier } from '${import.meta.dir}/../../src/client/server.ts'
      const verifier = createVerifier({ url: '${service.url}', feedToken: '${await newFeedToken()}' })
      await new Promise((resolve) => setTimeout(resolve, 300))`
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'ignore', stderr: 'inherit' })
    const ended = await Promise.race([child.exited, Bun.sleep(5000).then(() => 'still there')])
    child.kill()
    expect(ended).toBe(0)
  })
})

describe('the verifier', () => {
  const signedIn = () => service.signedIn()
  /** The service of a test is called by another address than its own. */
  const named = { issuer: 'http://auth.internal', audience: 'http://auth.internal' }
  const newVerifier = (more = {}) => createVerifier({ url: service.url, ...named, ...more })

  test('takes a token, a request, or what has headers', async () => {
    const { bearer, uuid } = await signedIn()
    const verifier = newVerifier()
    for (const received of [
      bearer,
      new Request('http://localhost/', { headers: { authorization: `Bearer ${bearer}` } }),
      { headers: { authorization: `bearer ${bearer}` } },
      { headers: { Authorization: `Bearer ${bearer}` } },
    ]) {
      const { sub, sid, claims } = await verifier.verify(received)
      expect([sub, claims.sub, claims.sid]).toEqual([uuid, uuid, sid])
    }
    for (const nothing of [
      undefined,
      null,
      '',
      { headers: {} },
      { headers: new Headers({ authorization: 'Basic x' }) },
    ])
      expect(await failure(verifier.verify(nothing))).toMatchObject({ status: 401, code: 'invalid_token' })
  })

  test('refuses what is forged as jose does, and what this service did not issue for it', async () => {
    const { bearer, uuid } = await signedIn()
    const jwks = (await (await fetch(`${service.url}/.well-known/jwks.json`)).json()) as {
      keys: object[]
    }
    const [header, payload, signature] = bearer.split('.') as [string, string, string]
    const { kid } = decodeProtectedHeader(bearer)
    const claims = JSON.parse(new TextDecoder().decode(base64url.decode(payload)))
    const stranger = await generateKeyPair('ES256')
    const sign = (more: object, head: object = {}) =>
      new SignJWT({ ...claims, ...more })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: kid!, ...head })
        .sign(stranger.privateKey)
    const part = (value: unknown) => base64url.encode(JSON.stringify(value))
    const hmac = (head: object) => {
      const text = `${part(head)}.${payload}`
      return `${text}.${createHmac('sha256', JSON.stringify(jwks.keys[0])).update(text).digest('base64url')}`
    }
    const forged = [
      '',
      'a.b.c',
      bearer.slice(0, -2),
      `${bearer}AA`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${part({ ...claims, sub: 'somebody' })}.${signature}`,
      `${part({ alg: 'none' })}.${payload}.`,
      `${part({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.${signature}`,
      `${part({ alg: 'ES256', typ: 'JWT', kid })}.${payload}.${signature}`,
      `${part({ alg: 'ES256', typ: 'at+jwt', kid, crit: ['b64'], b64: false })}.${payload}.${signature}`,
      hmac({ alg: 'HS256', typ: 'at+jwt', kid }),
      hmac({ alg: 'HS256', typ: 'at+jwt' }),
      new UnsecuredJWT(claims).encode(),
      await sign({}),
      await sign({}, { kid: 'unknown' }),
      await sign({}, { jwk: await crypto.subtle.exportKey('jwk', stranger.publicKey as CryptoKey) }),
      await sign({ sub: uuid, sid: claims.sid, exp: undefined }),
    ]
    const verifier = newVerifier()
    const keys = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`))
    for (const token of forged) {
      const oracle = jwtVerify(token, keys, { algorithms: ['ES256'], typ: 'at+jwt' })
      expect(
        await oracle.then(
          () => 'taken',
          () => 'refused',
        ),
      ).toBe('refused')
      expect(await failure(verifier.verify(token))).toMatchObject({ status: 401, code: 'invalid_token' })
    }
    const elsewhere = [{ issuer: 'https://auth.example.com' }, { audience: 'https://api.example.com' }]
    for (const options of elsewhere) {
      const other = newVerifier(options)
      expect(await failure(other.verify(bearer))).toMatchObject({ status: 401, code: 'invalid_token' })
    }
  })

  test('takes of its own issuer what jose takes by the same rules, and nothing else', async () => {
    const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true })
    const other = await generateKeyPair('ES384', { extractable: true })
    const jwks = {
      keys: [
        { ...(await exportJWK(publicKey)), kid: 'k', alg: 'ES256', use: 'sig' },
        { ...(await exportJWK(other.publicKey)), kid: 'other' },
      ],
    }
    using issuer = Bun.serve({ port: 0, fetch: () => Response.json(jwks) })
    const url = `http://127.0.0.1:${issuer.port}`
    const now = Math.floor(Date.now() / 1000)
    const good = { iss: url, aud: url, sub: 'someone', sid: 'a session', iat: now, exp: now + 900 }
    const claims: object[] = [
      {},
      ...['iss', 'aud', 'sub', 'sid', 'exp', 'iat'].map((name) => ({ [name]: undefined })),
      ...[{ aud: [url, 'https://api.example.com'] }, { aud: [] }, { aud: 'https://api.example.com' }],
      ...[{ iss: `${url}/` }, { iss: `${url}/oauth2` }],
      ...[{ exp: now - 3 }, { exp: now - 8 }, { exp: 'tomorrow' }, { exp: now + 1e9 }],
      ...[{ nbf: now + 3 }, { nbf: now + 60 }, { nbf: 'now' }, { iat: now + 3600 }, { iat: 'now' }],
      { more: 'x'.repeat(3000) },
    ]
    const heads: object[] = [
      { kid: undefined },
      ...[{ typ: undefined }, { typ: 'JWT' }, { typ: 'application/at+jwt' }, { typ: 'AT+JWT' }],
    ]
    const sign = (more: object, head: object = {}) =>
      new SignJWT({ ...good, ...more })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'k', ...head })
        .sign(privateKey)
    const tokens = await Promise.all([
      ...claims.map((more) => sign(more)),
      ...heads.map((head) => sign({}, head)),
    ])
    tokens.push(
      await new SignJWT(good)
        .setProtectedHeader({ alg: 'ES384', typ: 'at+jwt', kid: 'other' })
        .sign(other.privateKey),
    )
    const verifier = createVerifier({ url })
    const rules = {
      ...{ algorithms: ['ES256'], typ: 'at+jwt', issuer: url, audience: url, clockTolerance: 5 },
      requiredClaims: ['exp', 'sub', 'sid'],
    }
    const keys = createLocalJWKSet(jwks)
    const outcomes = await Promise.all(
      tokens.map(async (token) => {
        const oracle = await jwtVerify(token, keys, rules).then(
          () => 'taken',
          (error: Error) => (error instanceof errors.JWTExpired ? 'token_expired' : 'invalid_token'),
        )
        const ours = await verifier.verify(token).then(
          () => 'taken',
          ({ status, code }: PoterneError) => status === 401 && code,
        )
        return { claims: decodeJwt(token), oracle, ours }
      }),
    )
    for (const { claims, oracle, ours } of outcomes)
      expect({ claims, is: ours }).toEqual({ claims, is: oracle })
    expect(new Set(outcomes.map(({ ours }) => ours))).toEqual(
      new Set(['taken', 'token_expired', 'invalid_token']),
    )
    // What jose leaves open: a person and a session are texts.
    for (const more of [{ sub: 7 as never }, { sid: 7 }])
      expect((await failure(verifier.verify(await sign(more)))).code).toBe('invalid_token')
  })

  test('tells a token that expired from keys that cannot be had', async () => {
    const { bearer } = await signedIn()
    service.clock.advance(-3 * 3_600_000)
    const { bearer: old } = await signedIn()
    service.clock.advance(3 * 3_600_000)
    expect(await failure(newVerifier().verify(old))).toMatchObject({
      status: 401,
      code: 'token_expired',
    })
    using away = Bun.serve({ port: 0, fetch: () => new Response('no', { status: 502 }) })
    for (const url of ['http://127.0.0.1:9', `http://127.0.0.1:${away.port}`]) {
      const verifier = newVerifier({ url })
      expect(await failure(verifier.verify(bearer))).toMatchObject({ status: 503, code: 'unavailable' })
    }
  })
})
