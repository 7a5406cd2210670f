/** `[tokens.claims]`: what access tokens say of an account, how much of it, and what is refused where it is required. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import fc from 'fast-check'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { createRoles } from '../../src/domain/accounts/core/roles.ts'
import {
  CLAIMS_BYTES,
  createAccountClaims,
  noAccount,
} from '../../src/domain/sessions/tokens/account-claims.ts'
import type { ClaimConfig } from '../../src/platform/config/claims-rule.ts'
import type { Config } from '../../src/platform/config/types.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, registration } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { createConfigDirectory } from '../helpers/config.ts'
import { newPerson, startPretendProvider } from '../helpers/pretend-provider.ts'
import { race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { rareShapes, type Settings, startService } from '../helpers/service.ts'
import { createSocialBrowser, newPkce, socialSettings } from '../helpers/social.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(20_000)

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

const claims: Settings = {
  roles: { 1: 'user', 7: 'editor' },
  tokens: {
    claims: {
      role: { from: 'role' },
      groups: { from: 'groups' },
      plan: { from: 'metadata.plan', default: 'free' },
      seats: { from: 'metadata.seats' },
      login: { from: 'username' },
      owner: { from: 'accountable_id' },
      email_verified: { from: 'email_verified' },
      phone_verified: { from: 'phone_verified' },
      locale: { from: 'language' },
      tenant: { value: 'acme' },
    },
  },
}

describe('claims', () => {
  const service = useService({ settings: claims })
  const call = operatorOf(service)
  const person = async () => {
    const known = await service.signUp(newEmail())
    return { known, ...(await service.logIn(known)) }
  }

  test('say what the account is, and the next token says what changed', async () => {
    const { access_token, refresh_token, account } = await person()
    expect(claimsOf(access_token)).toMatchObject({
      role: 'user',
      groups: [],
      plan: 'free',
      owner: account.id,
      email_verified: true,
      phone_verified: false,
      tenant: 'acme',
      role_id: 1,
    })
    expect(Object.keys(claimsOf(access_token))).not.toContain('seats')
    const username = `u${crypto.randomUUID().slice(0, 8)}`
    await call('PATCH', `accounts/${account.uuid}`, {
      role_id: 9,
      groups: ['staff'],
      username,
      metadata: { plan: 'team', seats: 12, tenant: 'evil' },
    })
    const { body } = await service.post('refresh', { refresh_token })
    expect(claimsOf(body.access_token)).toMatchObject({
      role: '9',
      groups: ['staff'],
      plan: 'team',
      seats: 12,
      login: username,
      tenant: 'acme',
    })
    await call('PATCH', `accounts/${account.uuid}`, { metadata: { plan: ['team'], seats: { of: 12 } } })
    const again = await service.post('refresh', { refresh_token: body.refresh_token })
    expect(claimsOf(again.body.access_token).plan).toBe('free')
    expect(Object.keys(claimsOf(again.body.access_token))).not.toContain('seats')
  })

  test('are verified by jose and by PyJWT', async () => {
    const { access_token } = await person()
    const jwks = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`))
    const expected = { issuer: 'http://auth.internal', audience: 'http://auth.internal' }
    const { payload } = await jwtVerify(access_token, jwks, {
      ...expected,
      typ: 'at+jwt',
      algorithms: ['ES256'],
    })
    expect(payload).toMatchObject({ role: 'user', groups: [], tenant: 'acme' })
    const program = [
      'import jwt, json, sys',
      'token, url = sys.argv[1:]',
      'key = jwt.PyJWKClient(url).get_signing_key_from_jwt(token)',
      'print(json.dumps(jwt.decode(token, key.key, algorithms=["ES256"], audience="http://auth.internal", issuer="http://auth.internal")))',
    ].join('\n')
    const decoded = Bun.spawn(
      ['/usr/bin/python3', '-c', program, access_token, `${service.url}/.well-known/jwks.json`],
      { stdout: 'pipe', stderr: 'inherit' },
    )
    expect(JSON.parse(await new Response(decoded.stdout).text())).toEqual(payload as never)
  })

  test('are bounded: what does not fit is left out, and a change that would exceed it names the claim', async () => {
    const { known, account, refresh_token } = await person()
    const long = (letter: string) => letter.repeat(1500)
    const refused = await call('PATCH', `accounts/${account.uuid}`, {
      metadata: { plan: long('p'), seats: long('s') },
    })
    expect([refused.status, refused.body.code, refused.body.errors[0].field]).toEqual([
      422,
      'claims_too_large',
      'seats',
    ])
    expect((await call('PATCH', `accounts/${account.uuid}`, { metadata: { plan: long('p') } })).status).toBe(
      200,
    )
    // An invitation may do this, and never fails for it.
    const text = `update accounts set groups = (select jsonb_agg(repeat('g', 50) || n) from generate_series(10, 41) n) where uuid = $1`
    await service.inside.database.all({ text, params: [account.uuid] }, {})
    const { body } = await service.post('refresh', { refresh_token })
    const said = claimsOf(body.access_token)
    expect([Object.keys(said).includes('plan'), said.groups.length]).toEqual([false, 32])
    expect(said.tenant).toBe('acme')
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(200)
    await waitFor(() => service.log.some((line) => line.includes('a claim was left out')), {
      what: 'the log line',
    })
    await service.inside.services.events.flush()
    const { items } = (await call('GET', `accounts/${account.uuid}/events`)).body
    expect(items.map(({ type }: { type: string }) => type)).toContain('token.claim_omitted')
    const report = await call('GET', 'doctor')
    const finding = report.body.findings.find(({ name }: { name: string }) => name === 'claims')
    expect([finding.level, finding.message]).toEqual(['warning', expect.stringContaining(account.uuid)])
    // A value that did not fit before does not bind other changes.
    expect((await call('PATCH', `accounts/${account.uuid}`, { role_id: 'editor' })).status).toBe(200)
    await service.logIn(known)
  })
})

describe.each(rareShapes)('a required claim on %s', (shape) => {
  const service = useService({
    shape,
    settings: { tokens: { claims: { login: { from: 'username', required: true } } } },
  })
  const call = operatorOf(service)
  const uuidOf = async (identifier: string) =>
    (await call('GET', `accounts?query=${identifier}`)).body.items[0].uuid
  const name = () => `u${crypto.randomUUID().slice(0, 12)}`
  const repair = async (identifier: string) =>
    call('PATCH', `accounts/${await uuidOf(identifier)}`, { username: name() })
  const spoil = async (identifier: string) =>
    call('PATCH', `accounts/${await uuidOf(identifier)}`, { username: null })
  const complete = async () => {
    const known = await service.signUp(newEmail())
    await repair(known.identifier)
    return known
  }

  test('that is missing refuses a sign-in, and one that is given lets it through', async () => {
    const known = await service.signUp(newEmail())
    expectRefusal(await service.post('login', known), 'account_incomplete')
    expectRefusal(
      await service.post('login', { ...known, password: 'wrong password' }),
      'invalid_credentials',
    )
    await repair(known.identifier)
    expect(claimsOf((await service.logIn(known)).access_token).login).toStartWith('u')
  })

  test('that is missing at a refresh rotates nothing, also for 32 callers, and the same token works once it is there', async () => {
    const known = await complete()
    const { refresh_token } = await service.logIn(known)
    await spoil(known.identifier)
    const refused = await race(Array.from({ length: 32 }), () => service.post('refresh', { refresh_token }))
    for (const answer of refused) expectRefusal(answer, 'account_incomplete')
    service.clock.advance(60_000)
    await repair(known.identifier)
    const refreshed = await service.post('refresh', { refresh_token })
    expect(refreshed.status).toBe(200)
    const next = await service.post('refresh', { refresh_token: refreshed.body.refresh_token })
    expect(next.status).toBe(200)
    // A token that was used twice still ends the session.
    service.clock.advance(60_000)
    expectRefusal(await service.post('refresh', { refresh_token }), 'invalid_token')
    expectRefusal(await service.post('refresh', { refresh_token: next.body.refresh_token }), 'invalid_token')
  })

  test('that is missing leaves a sent code unspent, and a wrong code is wrong', async () => {
    const known = await complete()
    const otp = await service.askCode('2fa/request-otp', known.identifier)
    await spoil(known.identifier)
    const verify = (typed: string) => service.post('2fa/verify', { identifier: known.identifier, otp: typed })
    expectRefusal(await verify(otp), 'account_incomplete')
    expectRefusal(await verify(otp), 'account_incomplete')
    expectRefusal(await verify(otp === '000000' ? '000001' : '000000'), 'invalid_code')
    await repair(known.identifier)
    expect((await verify(otp)).status).toBe(200)
    expectRefusal(await verify(otp), 'invalid_code')
  })

  test('that is missing leaves codes of an app and recovery codes unspent', async () => {
    const identifier = newEmail()
    const first = await complete()
    expect(first.identifier).not.toBe(identifier)
    const known = await service.signUp(identifier)
    await repair(identifier)
    const { access_token: bearer } = await service.logIn(known)
    const app = (await service.post('2fa/totp', { password: known.password }, { bearer })).body.secret
    const confirmed = await service.post(
      '2fa/totp/confirm',
      { otp: appCode(app, service.clock.now()) },
      { bearer },
    )
    const [recovery] = confirmed.body.recovery_codes
    service.clock.advance(60_000)
    const { body } = await service.post('login', known)
    const { login_token } = body.two_factor
    await spoil(identifier)
    expectRefusal(await service.post('login', known), 'account_incomplete')
    const verify = (otp: string) => service.post('2fa/verify', { identifier, otp, login_token })
    const otp = appCode(app, service.clock.now())
    for (const typed of [otp, otp, recovery, recovery])
      expectRefusal(await verify(typed), 'account_incomplete')
    expectRefusal(await verify('123456'), 'invalid_code')
    await repair(identifier)
    expect((await verify(otp)).status).toBe(200)
    expect((await service.post('2fa/verify', { ...known, otp: recovery })).status).toBe(200)
  })

  test('that is missing refuses a confirmation that signs in whole', async () => {
    const identifier = newEmail()
    const typed = registration(identifier)
    await service.post('register', typed)
    const otp = await service.inbox.nextCode(identifier)
    const confirm = (body: object) => service.post('verify-account', { identifier, otp, ...body })
    const signingIn = { sign_in: true, password: typed.password }
    expectRefusal(await confirm({ ...signingIn, otp: '000000' }), 'invalid_code')
    expectRefusal(await confirm(signingIn), 'account_incomplete')
    expectRefusal(
      await service.post('login', { identifier, password: typed.password }),
      'account_unconfirmed',
    )
    expect((await confirm({})).status).toBe(201)
  })
})

test('a required claim that is missing leaves a code of a provider unspent, and opens nothing', async () => {
  await using provider = await startPretendProvider()
  const settings = {
    ...socialSettings(provider.issuer),
    tokens: { claims: { login: { from: 'username', required: true } } },
  }
  await using service = await startService({ settings })
  const call = operatorOf(service)
  const browser = createSocialBrowser(service)
  const email = newEmail()
  provider.present(newPerson({ email, email_verified: true }))
  const pkce = newPkce()
  const code = (await browser.walk('p1', pkce)).searchParams.get('code')!
  for (let tries = 0; tries < 2; tries++)
    expectRefusal(await browser.exchange(code, pkce.verifier), 'account_incomplete')
  expect((await call('GET', `accounts?query=${email}`)).body.items).toEqual([])
})

describe('the configuration of claims', () => {
  const directory = createConfigDirectory()
  afterAll(() => directory.remove())
  const problemsOf = (line: string) => {
    directory.write('config.toml', `[tokens.claims]\n${line}\n[roles]\n1 = "user"\n`)
    return directory.problemsOf()
  }

  test.each([
    ['plan = { from = "metdata.plan" }', 'plan: unknown source "metdata.plan"; did you mean metadata.?'],
    ['kind = { from = "accountable_typ" }', 'did you mean accountable_type?'],
    ['name = { from = "profile.name" }', 'a profile is what its owner writes'],
    ['sub = { value = "x" }', 'this name is reserved'],
    ['role_id = { from = "role_id" }', 'this name is reserved'],
    ['constructor = { value = "x" }', 'this name is reserved'],
    ['"__proto__" = { value = "x" }', 'this name is reserved'],
    ['plan = { value = "x", required = true }', 'expected value alone'],
    ['plan = { form = "role" }', 'unknown key form'],
    ['plan = "role"', 'expected { from = "…" } or { value = "…" }'],
    ['plan = { value = nan }', 'expected a text, a number, true or false'],
  ])('%s is refused', (line, message) => {
    expect(problemsOf(line).join()).toContain(message)
  })

  test.each([
    'groups = { from = "groups" }',
    'roles = { from = "role" }',
    'entitlements = { from = "metadata.e" }',
  ])('%s is taken', (line) => expect(problemsOf(line)).toEqual([]))
})

describe('the bound of all claims', () => {
  const madeOf = (configured: ClaimConfig[], metadata: Record<string, unknown>) =>
    createAccountClaims({
      config: { tokens: { claims: configured } } as unknown as Config,
      roles: createRoles({}),
      events: { add: () => {} },
      tellOperator: () => {},
      logger: { warn: () => {} },
      clock: { now: () => new Date(0) },
    }).make({ ...noAccount, metadata })

  const value = fc.oneof(
    fc.string({ maxLength: 900, unit: 'grapheme' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
  )
  const wishes = fc.uniqueArray(
    fc.record({ name: fc.stringMatching(/^[a-z:/]{1,40}$/), value, required: fc.boolean() }),
    { selector: ({ name }) => name, maxLength: 32 },
  )

  test('holds whatever an account carries; the order of the file decides, and nothing that fits is left out', () => {
    fc.assert(
      fc.property(wishes, (wished) => {
        const configured = wished.map(
          ({ name, required }): ClaimConfig => ({ name, from: `metadata.${name}`, default: null, required }),
        )
        const made = madeOf(
          configured,
          Object.fromEntries(wished.map(({ name, value: each }) => [name, each])),
        )
        const bytes = Buffer.byteLength(JSON.stringify(made.claims))
        expect(bytes).toBeLessThanOrEqual(CLAIMS_BYTES)
        expect([...Object.keys(made.claims), ...made.omitted].sort()).toEqual(
          wished.map(({ name }) => name).sort(),
        )
        // Each claim that was left out had no place behind those before it.
        for (const name of made.omitted) {
          const index = wished.findIndex((each) => each.name === name)
          const before = wished.slice(0, index).filter((each) => each.name in made.claims)
          const with_ = Object.fromEntries([...before, wished[index]!].map((each) => [each.name, each.value]))
          expect(Buffer.byteLength(JSON.stringify(with_))).toBeGreaterThan(CLAIMS_BYTES)
        }
        const lacking = wished.find(({ name, required }) => required && made.omitted.includes(name))
        expect(made.missing).toBe(lacking?.name ?? null)
      }),
      { numRuns: 300 },
    )
  })
})
