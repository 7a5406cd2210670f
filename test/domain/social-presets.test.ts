/** The providers the service knows, against stubs of what they document. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHmac, generateKeyPairSync } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { type JWTPayload, jwtVerify } from 'jose'
import { newEmail } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { createSigner, type Signer } from '../helpers/pretend-provider.ts'
import { createWorld, type World, type WorldRequest } from '../helpers/pretend-world.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { startService, type TestService } from '../helpers/service.ts'
import { APP, createSocialBrowser, newPkce, type SocialBrowser } from '../helpers/social.ts'

setDefaultTimeout(30_000)

const TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad'
const OTHER_TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const appleKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })

let signer: Signer
/** The claims of the next answers. */
let claims: JWTPayload
let githubUser: object
let githubEmails: unknown
let facebookUser: object
let world: World
let service: TestService
let browser: SocialBrowser

const describedBy = (issuer: string, { tokens = `${new URL(issuer).origin}/token`, ...more } = {}) => ({
  issuer,
  authorization_endpoint: `${new URL(issuer).origin}/authorize`,
  token_endpoint: tokens,
  jwks_uri: `${new URL(issuer).origin}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  token_endpoint_auth_methods_supported: ['client_secret_post'],
  ...more,
})

const now = () => Math.floor(Date.now() / 1000)
const signed = () => signer.sign({ iat: now(), exp: now() + 600, ...claims })

const openId =
  (description: object, keyExtras: object = {}) =>
  async ({ url }: WorldRequest) => {
    if (url.pathname.endsWith('/.well-known/openid-configuration')) return description
    if (url.pathname === '/keys') return { keys: [{ ...signer.publicJwk, ...keyExtras }] }
    if (url.pathname !== '/token') return new Response('', { status: 404 })
    return { access_token: 'a', token_type: 'Bearer', id_token: await signed() }
  }

const hosts = {
  'accounts.google.com': openId(
    describedBy('https://accounts.google.com', { tokens: 'https://oauth2.googleapis.com/token' }),
  ),
  'oauth2.googleapis.com': openId({}),
  'appleid.apple.com': openId(describedBy('https://appleid.apple.com')),
  'login.microsoftonline.com': openId(describedBy('https://login.microsoftonline.com/{tenantid}/v2.0'), {
    issuer: 'https://login.microsoftonline.com/{tenantid}/v2.0',
  }),
  'github.com': () => ({ access_token: 'gho_16C7e42F', scope: 'user:email', token_type: 'bearer' }),
  'api.github.com': ({ url }: WorldRequest) =>
    url.pathname === '/user' ? githubUser : Response.json(githubEmails),
  'graph.facebook.com': ({ url }: WorldRequest) =>
    url.pathname.endsWith('/me')
      ? facebookUser
      : { access_token: 'EAAB', token_type: 'bearer', expires_in: 5183944 },
}

beforeAll(async () => {
  signer = await createSigner()
  world = createWorld(hosts)
  const client = { client_id: 'id', client_secret: 'hunter2' }
  const providers = [
    { name: 'google', preset: 'google', ...client, native_client_ids: ['ios.apps.googleusercontent.com'] },
    {
      name: 'apple',
      preset: 'apple',
      client_id: 'com.example.web',
      native_client_ids: ['com.example.app'],
      team_id: 'ABCDE12345',
      key_id: 'FGHIJ67890',
      private_key: appleKey.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    },
    { name: 'microsoft', preset: 'microsoft', ...client },
    { name: 'github', preset: 'github', ...client },
    { name: 'facebook', preset: 'facebook', ...client },
  ]
  service = await startService({ network: world, settings: { social: { redirect_uris: [APP], providers } } })
  browser = createSocialBrowser(service)
}, 60_000)
afterAll(() => service?.close())

/** The whole browser flow; `answer` is what the provider adds to the redirect. */
async function walk(provider: string, next: JWTPayload = {}, answer: Record<string, string> = {}) {
  const pkce = newPkce()
  const { location, cookie } = await browser.begin(provider, pkce)
  claims = { nonce: location.searchParams.get('nonce') ?? '', ...next }
  const callback = new URL(location.searchParams.get('redirect_uri')!)
  const parameters = { code: 'from-the-provider', state: location.searchParams.get('state')!, ...answer }
  for (const [name, value] of Object.entries(parameters)) callback.searchParams.set(name, value)
  const back = await browser.comeBack(callback, cookie)
  return { location, pkce, back: back.location! }
}

async function signIn(provider: string, next: JWTPayload = {}, answer: Record<string, string> = {}) {
  const { pkce, back } = await walk(provider, next, answer)
  const code = back.searchParams.get('code')
  if (code === null) throw new Error(back.search)
  const { status, body } = await browser.exchange(code, pkce.verifier)
  expect(status).toBe(200)
  return body.account
}

async function signInNatively(provider: string, next: JWTPayload) {
  claims = { nonce: 'n', ...next }
  return service.post(`social/${provider}/token`, { id_token: await signed(), nonce: 'n' })
}

/** Tells whether the account has verified its e-mail, which no answer shows. */
const isVerified = async (accountId: number) =>
  (await countRows(
    service,
    'accounts',
    sql`id = ${sql.raw(String(accountId))} and email_confirmed_at is not null`,
  )) === 1

const asked = (host: string, path: string) =>
  world.requests.filter(({ url }) => url.host === host && url.pathname.endsWith(path))

test('nobody is asked before somebody signs in', () => {
  expect(world.requests).toHaveLength(0)
})

describe('Google', () => {
  const iss = 'https://accounts.google.com'

  test('signs in, its endpoints on three hosts', async () => {
    const email = newEmail()
    const account = await signIn(
      'google',
      { iss, aud: 'id', sub: '110169', email, email_verified: true },
      { iss },
    )
    expect(account).toMatchObject({ email, provider: 'google', provider_uid: '110169' })
    const { form, headers } = asked('oauth2.googleapis.com', '/token')[0]!
    expect(form.get('client_secret')).toBe('hunter2')
    expect(form.get('code')).toBe('from-the-provider')
    expect(headers.get('authorization')).toBeNull()
  })

  test('spells its issuer in two ways, which are one', async () => {
    const sub = '110170'
    const web = await signIn('google', { iss, aud: 'id', sub })
    const native = await signInNatively('google', { iss: 'accounts.google.com', aud: 'id', sub })
    expect(native.body.account.id).toBe(web.id)
  })

  test('knows the native app by another name, in native tokens only', async () => {
    const aud = 'ios.apps.googleusercontent.com'
    expect((await signInNatively('google', { iss, aud, azp: aud, sub: '1' })).status).toBe(200)
    expect((await signInNatively('google', { iss, aud: 'else', sub: '1' })).body.code).toBe('invalid_token')
    const { back } = await walk('google', { iss, aud, sub: '1' })
    expect(back.searchParams.get('error')).toBe('invalid_token')
  })
})

describe('Apple', () => {
  const iss = 'https://appleid.apple.com'

  test('gets a client secret that the team signed, for half a year at most', async () => {
    await signIn('apple', { iss, aud: 'com.example.web', sub: '000.a' })
    await signIn('apple', { iss, aud: 'com.example.web', sub: '000.a' })
    const [first, second] = asked('appleid.apple.com', '/token').map(({ form }) => form.get('client_secret')!)
    const { payload, protectedHeader } = await jwtVerify(first!, appleKey.publicKey)
    expect(protectedHeader).toEqual({ alg: 'ES256', kid: 'FGHIJ67890' })
    expect(payload).toMatchObject({ iss: 'ABCDE12345', sub: 'com.example.web', aud: iss })
    expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(15_777_000)
    expect(second).toBe(first!)
    service.clock.advance(3600_000)
    claims = {}
    await walk('apple', { iss, aud: 'com.example.web', sub: '000.a', iat: now() + 3600, exp: now() + 7200 })
    expect(asked('appleid.apple.com', '/token').at(-1)?.form.get('client_secret')).not.toBe(first!)
    service.clock.advance(-3600_000)
  })

  test('posts its answer as a form, which the browser carries on to the same place', async () => {
    const pkce = newPkce()
    const { location, cookie } = await browser.begin('apple', pkce)
    expect(location.searchParams.get('response_mode')).toBe('form_post')
    claims = {
      iss,
      aud: 'com.example.web',
      sub: '000.b',
      nonce: location.searchParams.get('nonce')!,
      email: newEmail(),
      email_verified: true,
    }
    const state = location.searchParams.get('state')!
    const form = new URLSearchParams({ state, code: 'c', user: '{"name":{"firstName":"A"}}' })
    const posted = await fetch(`${service.url}/api/v1/auth/social/apple/callback`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
    })
    expect(posted.status).toBe(303)
    const callback = new URL(posted.headers.get('location')!)
    expect(callback.href.split('?')[0]).toBe('http://auth.internal/api/v1/auth/social/apple/callback')
    expect([...callback.searchParams.keys()]).toEqual(['state', 'code'])
    const back = await browser.comeBack(callback, cookie)
    const { body } = await browser.exchange(back.location!.searchParams.get('code')!, pkce.verifier)
    expect(body.account.email).toBe(claims.email)
  })

  test('takes a form there and JSON nowhere, and the other routes no form', async () => {
    const callback = '/api/v1/auth/social/apple/callback'
    expect((await service.call('POST', callback, { state: 'x' })).status).toBe(415)
    const form = await fetch(`${service.url}/api/v1/auth/login`, {
      method: 'POST',
      body: new URLSearchParams({ identifier: 'x', password: 'y' }),
    })
    expect(form.status).toBe(415)
    const cancelled = await fetch(service.url + callback, {
      method: 'POST',
      body: new URLSearchParams({ state: 's', error: 'user_cancelled_authorize' }),
      redirect: 'manual',
    })
    expect(cancelled.headers.get('location')).toEndWith('?state=s&error=user_cancelled_authorize')
  })

  test('calls the person the same in the app, under the app’s own name', async () => {
    const web = await signIn('apple', { iss, aud: 'com.example.web', sub: '000.c' })
    const native = await signInNatively('apple', { iss, aud: 'com.example.app', sub: '000.c' })
    expect(native.body.account.id).toBe(web.id)
  })

  test('a verified e-mail is the boolean only', async () => {
    const asText = { iss, aud: 'com.example.web', sub: '000.d', email: newEmail(), email_verified: 'true' }
    expect((await signIn('apple', asText)).email).toBeNull()
  })
})

describe('Microsoft', () => {
  const issuerOf = (tid: string) => `https://login.microsoftonline.com/${tid}/v2.0`

  test('signs in people of any tenant, each under its own issuer', async () => {
    const [one, two] = await Promise.all(
      [TENANT, OTHER_TENANT].map(async (tid) => {
        const id_token = await signer.sign({
          iss: issuerOf(tid),
          tid,
          aud: 'id',
          sub: 'same',
          nonce: 'n',
          iat: now(),
          exp: now() + 600,
        })
        return service.post('social/microsoft/token', { id_token, nonce: 'n' })
      }),
    )
    expect([one?.status, two?.status]).toEqual([200, 200])
    expect(one?.body.account.id).not.toBe(two?.body.account.id)
    const web = await signIn('microsoft', { iss: issuerOf(TENANT), tid: TENANT, aud: 'id', sub: 'same' })
    expect(web.id).toBe(one?.body.account.id)
  })

  test('a token whose issuer and tenant differ is refused', async () => {
    for (const forged of [
      { iss: issuerOf(OTHER_TENANT), tid: TENANT },
      { iss: issuerOf(TENANT) },
      { iss: issuerOf('{tenantid}'), tid: '{tenantid}' },
      { iss: 'https://login.microsoftonline.com/x/../v2.0', tid: 'x/..' },
      { iss: issuerOf('common'), tid: 'common' },
    ]) {
      const { body } = await signInNatively('microsoft', { aud: 'id', sub: 's', ...forged })
      expect(body.code).toBe('invalid_token')
    }
  })

  test('its word on an e-mail opens nobody’s account, unless the tenant has proved to own the domain', async () => {
    const { person: owner, account } = await service.signedIn()
    const about = { iss: issuerOf(TENANT), tid: TENANT, aud: 'id', email: owner.identifier }
    for (const xms_edov of [undefined, false, 'true', 1, null]) {
      const lying = { ...about, sub: 'nOAuth', email_verified: true, xms_edov }
      const { status, body } = await signInNatively('microsoft', lying)
      expect([status, body.code]).toEqual([409, 'account_exists'])
    }
    const own = await signIn('microsoft', { ...about, sub: 'own', xms_edov: true })
    expect(own.id).toBe(account.id)
  })
})

describe('GitHub', () => {
  const iss = 'https://github.com/login/oauth'

  test('signs in with the primary e-mail it verified', async () => {
    const email = newEmail()
    githubUser = { login: 'octocat', id: 583231, email: 'shown@example.com', name: 'The Octocat' }
    githubEmails = [
      { email: 'other@example.com', verified: true, primary: false, visibility: null },
      { email, verified: true, primary: true, visibility: 'private' },
    ]
    const { location } = await walk('github')
    expect(location.href).toStartWith('https://github.com/login/oauth/authorize?')
    expect(location.searchParams.get('scope')).toBe('user:email')
    expect(location.searchParams.get('code_challenge_method')).toBe('S256')
    const account = await signIn('github', {}, { iss })
    expect(account).toMatchObject({ email, provider: 'github', provider_uid: '583231' })
    const { form } = asked('github.com', '/access_token').at(-1)!
    expect(form.get('client_secret')).toBe('hunter2')
    expect(form.get('code_verifier')).toMatch(/^[\w-]{43}$/)
    const user = asked('api.github.com', '/user').at(-1)!
    expect(user.headers.get('authorization')).toBe('Bearer gho_16C7e42F')
    expect(user.headers.get('user-agent')).toBe('poterne')
    githubUser = { login: 'renamed', id: 583231 }
    expect((await signIn('github')).id).toBe(account.id)
  })

  test('an e-mail that is not verified, or not the primary one, is none', async () => {
    let id = 600
    for (const emails of [
      [{ email: newEmail(), verified: false, primary: true, visibility: null }],
      [{ email: newEmail(), verified: true, primary: false, visibility: null }],
      [{ email: newEmail(), verified: 'true', primary: true, visibility: null }],
      [null, 7, 'x'],
      { message: 'x' },
      [],
    ]) {
      githubUser = { login: 'x', id: ++id }
      githubEmails = emails
      expect((await signIn('github')).email).toBeNull()
    }
  })

  test('an answer that names nobody is refused', async () => {
    for (const user of [{}, { id: '583231' }, { id: 1.5 }, { id: null }, { message: 'Bad credentials' }]) {
      githubUser = user
      expect((await walk('github')).back.searchParams.get('error')).toBe('invalid_token')
    }
  })

  test('another issuer in the redirect is refused', async () => {
    const { back } = await walk('github', {}, { iss: 'https://evil.example' })
    expect(back.searchParams.get('error')).toBe('invalid_token')
  })

  test('has no identity tokens', async () => {
    expect((await signInNatively('github', { sub: 'x' })).body.code).toBe('provider_not_found')
  })
})

describe('Facebook', () => {
  test('signs in by its own number, and its e-mail is a mere claim', async () => {
    const email = newEmail()
    facebookUser = { id: '10158', email }
    const { location } = await walk('facebook')
    expect(location.href).toMatch(/^https:\/\/www\.facebook\.com\/v\d+\.0\/dialog\/oauth\?/)
    const account = await signIn('facebook')
    expect(account).toMatchObject({ email, provider: 'facebook', provider_uid: '10158' })
    expect(await isVerified(account.id)).toBe(false)
    const { url } = asked('graph.facebook.com', '/me').at(-1)!
    expect(url.searchParams.get('fields')).toBe('id,email')
    const proof = createHmac('sha256', 'hunter2').update('EAAB').digest('hex')
    expect(url.searchParams.get('appsecret_proof')).toBe(proof)
  })

  test('an answer that names nobody is refused', async () => {
    for (const user of [{}, { id: 10158 }, { id: '' }, { error: { code: 190, type: 'OAuthException' } }]) {
      facebookUser = user
      expect((await walk('facebook')).back.searchParams.get('error')).toBe('invalid_token')
    }
  })

  test('who presses cancel comes back as denied', async () => {
    const { location, cookie } = await browser.begin('facebook', newPkce())
    const callback = new URL(location.searchParams.get('redirect_uri')!)
    const answer = {
      error: 'access_denied',
      error_code: '200',
      error_description: 'Permissions error',
      error_reason: 'user_denied',
      state: location.searchParams.get('state')!,
    }
    for (const [name, value] of Object.entries(answer)) callback.searchParams.set(name, value)
    const back = await browser.comeBack(callback, cookie)
    expect(Object.fromEntries(back.location!.searchParams)).toEqual({ error: 'access_denied' })
  })
})

describe('an e-mail opens the account that verified it only where the provider is authoritative:', () => {
  const at = (domain: string) => newEmail().replace(/@.*/, `@${domain}`)
  const google = { iss: 'https://accounts.google.com', aud: 'id', email_verified: true }
  const apple = { iss: 'https://appleid.apple.com', aud: 'com.example.web', email_verified: true }

  test.each<[string, string, string, JWTPayload, boolean]>([
    ['Google for gmail.com', 'google', 'gmail.com', google, true],
    ['Google for googlemail.com', 'google', 'googlemail.com', google, true],
    ['Google for a domain it hosts', 'google', 'example.org', { ...google, hd: 'Example.org' }, true],
    ['Google for another domain', 'google', 'example.org', google, false],
    [
      'Google for another than the hosted one',
      'google',
      'example.org',
      { ...google, hd: 'example.com' },
      false,
    ],
    ['Google for a domain that only ends alike', 'google', 'notgmail.com', google, false],
    ['Apple for icloud.com', 'apple', 'icloud.com', apple, true],
    ['Apple for me.com', 'apple', 'me.com', apple, true],
    ['Apple for mac.com', 'apple', 'mac.com', apple, true],
    ['Apple for its relay', 'apple', 'privaterelay.appleid.com', apple, true],
    ['Apple for another domain', 'apple', 'gmail.com', apple, false],
  ])('%s', async (_, provider, domain, about, authoritative) => {
    const email = at(domain)
    const sub = email
    const fresh = await signInNatively(provider, { ...about, email, sub })
    expect(fresh.body.account).toMatchObject({ email, account_confirmed: true, provider })
    expect(await isVerified(fresh.body.account.id)).toBe(authoritative)

    const { person: owner, account } = await service.signedIn(at(domain))
    const linked = await signInNatively(provider, { ...about, email: owner.identifier, sub: `${sub} 2` })
    if (authoritative) expect([linked.status, linked.body.account.id]).toEqual([200, account.id])
    else expectRefusal(linked, 'account_exists')
  })

  test('Google without its word that it verified the address is not heard at all', async () => {
    const email = at('gmail.com')
    const said = { ...google, email, email_verified: false, sub: email }
    expect((await signInNatively('google', said)).body.account.email).toBeNull()
  })

  test('GitHub for none, and Facebook for none: the redirect says nothing, the exchange does', async () => {
    const owner = await service.signUp(newEmail())
    githubUser = { login: 'x', id: 90_001 }
    githubEmails = [{ email: owner.identifier, verified: true, primary: true, visibility: null }]
    facebookUser = { id: '90001', email: owner.identifier }
    for (const provider of ['github', 'facebook']) {
      const { pkce, back } = await walk(provider)
      expect([...back.searchParams.keys()]).toEqual(['code'])
      const { status, body } = await browser.exchange(back.searchParams.get('code')!, pkce.verifier)
      expect([status, body.code]).toEqual([409, 'account_exists'])
    }
    expect((await service.logIn(owner)).account.provider).toBe('local')
  })
})
