/** Sign-in through a provider that speaks the truth: the flow, and whose account it opens. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { newPerson, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, startService, testsOn } from '../helpers/service.ts'
import { APP, createSocialBrowser, newPkce, socialSettings } from '../helpers/social.ts'
import { use } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(30_000)

describe.each(racingShapes)('social login on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const [provider, other] = [use(startPretendProvider), use(startPretendProvider)]
  const service = use(
    () => startService({ shape, settings: socialSettings(provider.issuer, other.issuer) }),
    provider,
  )
  const browser = createSocialBrowser(service)

  const run = (text: string, ...params: unknown[]) => service.inside.database.all({ text, params }, {})

  rule('lists its providers', async () => {
    const { status, body } = await service.get('social')
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 200,
      providers: ['p1', 'p2'].map((name) => ({
        name,
        authorize_url: `http://auth.internal/api/v1/auth/social/${name}/authorize`,
      })),
    })
  })

  rule('a first sign-in makes a confirmed account with the verified e-mail and no password', async () => {
    const email = newEmail()
    const person = newPerson({ email, email_verified: true })
    provider.present(person)
    const { status, body } = await browser.signIn('p1', { device_name: 'Firefox', device_type: 'Navigateur' })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['status', 'access_token', 'refresh_token', 'account'])
    expect(body.account).toMatchObject({
      email,
      phone: null,
      provider: 'p1',
      provider_uid: person.sub,
      password_digest: '',
      account_confirmed: true,
      sign_in_count: 1,
      two_factor_enabled: false,
    })
    const [, payload] = body.access_token.split('.')
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).amr).toEqual(['fed'])
    const sessions = await service.get('sessions', { bearer: body.access_token })
    expect(sessions.body.sessions[0]).toMatchObject({ device_name: 'Firefox', device_type: 'Navigateur' })

    const again = await browser.signIn()
    expect(again.body.account.id).toBe(body.account.id)
    expect(again.body.account.sign_in_count).toBe(2)
  })

  rule('the exchange proves itself to the provider, and the browser carries no token', async () => {
    provider.present(newPerson())
    const pkce = newPkce()
    const { location, setCookie } = await browser.begin('p1', pkce, { state: 'the client’s own' })
    expect(location.origin + location.pathname).toBe(`${provider.issuer}/authorize`)
    const sent = Object.fromEntries(location.searchParams)
    expect(sent).toMatchObject({
      client_id: 'poterne',
      response_type: 'code',
      scope: 'openid email',
      redirect_uri: 'http://auth.internal/api/v1/auth/social/p1/callback',
      code_challenge_method: 'S256',
    })
    expect(sent.code_challenge).not.toBe(pkce.challenge)
    expect(new Set([sent.state, sent.nonce, sent.code_challenge]).size).toBe(3)
    expect(setCookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/)
    const back = await browser.comeBack(await browser.visit(location), setCookie.split(';')[0]!)
    expect(back.status).toBe(302)
    expect(`${back.location?.origin}${back.location?.pathname}`).toBe(APP)
    expect([...back.location!.searchParams.keys()]).toEqual(['code', 'state'])
    expect(back.location!.searchParams.get('state')).toBe('the client’s own')
    expect(back.setCookie).toContain('Max-Age=0')
    const { authorization } = provider.exchanges.at(-1)!
    expect(authorization).toBe(`Basic ${Buffer.from('poterne:hunterTwo').toString('base64')}`)
    const { code, verifier } = { code: back.location!.searchParams.get('code')!, verifier: pkce.verifier }
    expect((await browser.exchange(code, verifier)).status).toBe(200)
    expect(service.log.join('\n')).not.toContain(code)
  })

  test('a code works once, for a minute, and only for who began', async () => {
    provider.present(newPerson())
    const first = await browser.obtainCode()
    expect((await service.post('social/exchange', first)).status).toBe(200)
    expect((await service.post('social/exchange', first)).body.code).toBe('invalid_code')

    const stolen = await browser.obtainCode()
    expectRefusal(await browser.exchange(stolen.code, newPkce().verifier), 'invalid_code')
    expect((await service.post('social/exchange', stolen)).body.code).toBe('invalid_code')

    const late = await browser.obtainCode()
    service.clock.advance(60_000)
    expect((await service.post('social/exchange', late)).body.code).toBe('invalid_code')
  })

  raced('32 parallel exchanges of one code: one success', async () => {
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const code = await browser.obtainCode()
    const answers = await Promise.all(Array.from({ length: 32 }, () => service.post('social/exchange', code)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(answers.filter(({ body }) => body.code === 'invalid_code')).toHaveLength(31)
  })

  raced('32 parallel first sign-ins of one person make one account', async () => {
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const codes = await Promise.all(Array.from({ length: 32 }, () => browser.obtainCode()))
    const answers = await Promise.all(codes.map((code) => service.post('social/exchange', code)))
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(200))
    expect(new Set(answers.map(({ body }) => body.account.id)).size).toBe(1)
  })

  rule('the redirect goes to a listed address, letter by letter, or nowhere', async () => {
    const { challenge } = newPkce()
    for (const redirect_uri of [
      `${APP}/`,
      `${APP}?x=1`,
      'https://app.example.com',
      'https://evil.example',
      'x',
    ]) {
      const query = new URLSearchParams({ redirect_uri, code_challenge: challenge })
      const { status, body, headers } = await service.get(`social/p1/authorize?${query}`)
      expect([redirect_uri, status, body.code]).toEqual([redirect_uri, 422, 'invalid_redirect_uri'])
      expect(headers.get('location')).toBeNull()
    }
    const own = await browser.walk('p1', newPkce(), { redirect_uri: 'com.example.app:/signed-in' })
    expect(own.href).toStartWith('com.example.app:/signed-in?code=')
  })

  rule('a challenge is wanted, and an unknown provider is not offered', async () => {
    for (const code_challenge of ['', 'short', 'x'.repeat(44), `${'x'.repeat(42)}=`]) {
      const query = new URLSearchParams({ redirect_uri: APP, code_challenge })
      const { status, body } = await service.get(`social/p1/authorize?${query}`)
      expect([status, body.code, body.errors[0].field]).toEqual([422, 'validation_failed', 'code_challenge'])
    }
    const query = new URLSearchParams({ redirect_uri: APP, code_challenge: newPkce().challenge })
    for (const call of [
      service.get(`social/nobody/authorize?${query}`),
      service.get('social/nobody/callback'),
      service.post('social/nobody/callback', undefined),
      // A value that no header could carry, as in a redirect.
      service.post('social/%E2%84%AA/callback', undefined),
      service.post('social/nobody/token', { id_token: 'x', nonce: 'y' }),
    ])
      expect((await call).body.code).toBe('provider_not_found')
  })

  rule('what the provider says no to goes back as an error, with the state', async () => {
    const errors = {
      access_denied: 'access_denied',
      consent_required: 'access_denied',
      server_error: 'provider_unavailable',
      invalid_scope: 'provider_refused',
      '<script>': 'provider_refused',
    }
    for (const [said, told] of Object.entries(errors)) {
      provider.lie({ redirect: ({ state, iss }) => ({ error: said, state: state!, iss: iss! }) })
      const app = await browser.walk('p1', newPkce(), { state: 's' })
      expect(Object.fromEntries(app.searchParams)).toEqual({ error: told, state: 's' })
    }
    provider.lie({})
  })

  test('an e-mail that the local account proved links, and its owner is told', async () => {
    const { person, account } = await service.signedIn()
    const before = service.inbox.textsTo(person.identifier).length
    provider.present(newPerson({ email: person.identifier.toUpperCase(), email_verified: true }))
    const { body } = await browser.signIn()
    expect(body.account).toMatchObject({ id: account.id, email: person.identifier, provider: 'local' })
    expect(await service.logIn(person)).toBeDefined()
    await waitFor(() => service.inbox.textsTo(person.identifier).length > before)
    expect(service.inbox.textsTo(person.identifier).at(-1)).toContain('P1')
    await browser.signIn()
    expect(service.inbox.textsTo(person.identifier)).toHaveLength(before + 1)
  })

  test('an account that nobody proved is emptied before its owner gets it', async () => {
    const email = newEmail()
    await service.post('register', { ...registration(email, 'stranger’s own words'), phone: '+33612345678' })
    const strangersCode = await service.inbox.nextCode(email)
    provider.present(newPerson({ email, email_verified: true }))
    const { body } = await browser.signIn()
    expect(body.account).toMatchObject({ email, phone: null, password_digest: '', provider: 'p1' })
    const stranger = await service.post('login', { identifier: email, password: 'stranger’s own words' })
    expectRefusal(stranger, 'invalid_credentials')
    const confirmed = await service.post('verify-account', { identifier: email, otp: strangersCode })
    expect(confirmed.body.code).toBe('invalid_code')
    const again = await service.post('register', registration(email))
    expect(again.status).toBe(201)
    expect((await browser.signIn()).body.account.id).toBe(body.account.id)
  })

  test('an account with sessions and factors, whose e-mail nobody proved, only loses its claim too', async () => {
    const email = newEmail()
    const { bearer, refresh_token, account } = await service.signedIn(email)
    await service.post('2fa/enable', { password: PASSWORD }, { bearer })
    const otp = await service.inbox.nextCode(email)
    await service.post('2fa/enable/confirm', { otp }, { bearer })
    await run('update accounts set email_confirmed_at = null where id = $1', account.id)
    provider.present(newPerson({ email, email_verified: true }))
    const { status, body } = await browser.signIn()
    expect([status, body.account.email, body.account.sign_in_count]).toEqual([200, email, 1])
    expect(body.account).toMatchObject({ two_factor_enabled: false, password_digest: '' })
    expect(body.account.uuid).not.toBe(account.uuid)
    const theirs = await service.get('me', { bearer })
    expect(theirs.body.account).toMatchObject({ uuid: account.uuid, email: null })
    expect((await service.post('refresh', { refresh_token })).status).toBe(200)
    const { sessions } = (await service.get('sessions', { bearer: body.access_token })).body
    expect(sessions).toHaveLength(1)
  })

  test('an account that proved its phone, or is another identity’s, only loses its claim to the e-mail', async () => {
    const email = newEmail()
    const phone = newPhone()
    const { account } = await service.signedIn(phone)
    provider.present(newPerson())
    const social = (await browser.signIn()).body
    for (const { id } of [account, social.account])
      await run('update accounts set email = $1, email_key = $1 where id = $2', email, id)
    other.present(newPerson({ email, email_verified: true }))
    const { body } = await browser.signIn('p2')
    expect(body.account.email).toBe(email)
    expect(new Set([body.account.id, account.id, social.account.id]).size).toBe(3)
    const kept = await service.logIn({ identifier: phone, password: PASSWORD })
    expect(kept.account).toMatchObject({ id: account.id, email: null, phone })
    const me = await service.get('me', { bearer: social.access_token })
    expect(me.body.account).toMatchObject({ id: social.account.id, email: null })
  })

  raced('32 parallel first sign-ins while a registration waits make it one account', async () => {
    const email = newEmail()
    await service.post('register', registration(email))
    provider.present(newPerson({ email, email_verified: true }))
    const codes = await Promise.all(Array.from({ length: 32 }, () => browser.obtainCode()))
    const answers = await Promise.all(codes.map((code) => service.post('social/exchange', code)))
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(200))
    expect(new Set(answers.map(({ body }) => body.account.id)).size).toBe(1)
    expect(answers[0]?.body.account.email).toBe(email)
  })

  raced(
    'a registration that is confirmed while its owner signs in elsewhere ends in one account',
    async () => {
      for (let round = 0; round < 5; round++) {
        const email = newEmail()
        await service.post('register', registration(email))
        const otp = await service.inbox.nextCode(email)
        provider.present(newPerson({ email, email_verified: true }))
        const code = await browser.obtainCode()
        const [confirmed, signedIn] = await Promise.all([
          service.post('verify-account', { identifier: email, otp }),
          service.post('social/exchange', code),
        ])
        expect(signedIn.body.account?.email).toBe(email)
        const byPassword = await service.post('login', { identifier: email, password: PASSWORD })
        // The order does not matter: a confirmed password stays, an unconfirmed one does not.
        expect(byPassword.status).toBe(confirmed.status === 201 ? 200 : 401)
        if (byPassword.status === 200) expect(byPassword.body.account.id).toBe(signedIn.body.account.id)
      }
    },
  )

  rule('without a verified e-mail there is a new account without any', async () => {
    const { person: owner, account } = await service.signedIn()
    for (const email_verified of [false, undefined, 'true', 1, null]) {
      provider.present(newPerson({ email: owner.identifier, email_verified }))
      const { body } = await browser.signIn()
      expect(body.account.id).not.toBe(account.id)
      expect(body.account).toMatchObject({ email: null, phone: null, account_confirmed: true })
    }
    provider.present(newPerson())
    expect((await browser.signIn()).body.account.email).toBeNull()
  })

  rule('the e-mail may stand in the user info alone', async () => {
    const email = newEmail()
    const person = newPerson()
    provider.present(person)
    provider.lie({ userInfo: { sub: person.sub, email, email_verified: true } })
    expect((await browser.signIn()).body.account.email).toBe(email)
    provider.present(newPerson())
    expect((await browser.walk('p1', newPkce())).searchParams.get('error')).toBe('invalid_token')
    provider.lie({})
  })

  rule('a changed e-mail of the same subject changes nothing', async () => {
    const victim = await service.signUp(newEmail())
    const person = newPerson({ email: newEmail(), email_verified: true })
    provider.present(person)
    const { account } = (await browser.signIn()).body
    provider.present({ ...person, email: victim.identifier })
    const again = (await browser.signIn()).body
    expect(again.account).toMatchObject({ id: account.id, email: person.email! })
  })

  rule('the same e-mail under another subject of the same provider is somebody else', async () => {
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    const first = (await browser.signIn()).body.account
    provider.present(newPerson({ email, email_verified: true }))
    const second = (await browser.signIn()).body.account
    expect(second.id).not.toBe(first.id)
    expect(second.email).toBeNull()
    other.present(newPerson({ email, email_verified: true }))
    expect((await browser.signIn('p2')).body.account.id).toBe(first.id)
  })

  rule('the same subject at another provider is somebody else', async () => {
    const person = newPerson()
    provider.present(person)
    other.present(person)
    const [one, two] = [await browser.signIn('p1'), await browser.signIn('p2')]
    expect(one.body.account.id).not.toBe(two.body.account.id)
  })

  rule('a password opens a social account only once its owner set one', async () => {
    const email = newEmail()
    provider.present(newPerson({ email, email_verified: true }))
    const { account } = (await browser.signIn()).body
    const wrong = await service.post('login', { identifier: email, password: PASSWORD })
    const unknown = await service.post('login', { identifier: newEmail(), password: PASSWORD })
    expect({ ...wrong.body, request_id: '' }).toEqual({ ...unknown.body, request_id: '' })
    await service.resetPassword(email, PASSWORD)
    const byPassword = await service.logIn({ identifier: email, password: PASSWORD })
    expect(byPassword.account.id).toBe(account.id)
    expect((await browser.signIn()).body.account.id).toBe(account.id)
  })

  /** This person has two factors, and the provider says so. */
  async function guardedPerson() {
    const email = newEmail()
    const { person: owner, bearer, account } = await service.signedIn(email)
    const enable = await service.post('2fa/enable', { password: owner.password }, { bearer })
    expect(enable.status).toBe(201)
    const first = { otp: await service.inbox.nextCode(email) }
    expect((await service.post('2fa/enable/confirm', first, { bearer })).status).toBe(200)
    return { account, email, person: newPerson({ email, email_verified: true }) }
  }

  const waysIn: Record<string, () => Promise<Answer>> = {
    'in a browser': () => browser.signIn(),
    'in a native app': async () =>
      service.post('social/p1/token', { id_token: await provider.idToken('two'), nonce: 'two' }),
  }
  test.each(Object.entries(waysIn))(
    '%s two factors stay two: the provider is the first',
    async (_, signIn) => {
      const { account, email, person } = await guardedPerson()
      provider.present(person)
      const { status, body } = await signIn()
      expect(status).toBe(202)
      expect(Object.keys(body)).toEqual(['status', 'code', 'message', 'two_factor'])
      expect(body.two_factor).toMatchObject({ methods: ['email', 'recovery_code'], identifier: account.uuid })
      expect(JSON.stringify(body)).not.toContain(email)
      const otp = await service.inbox.nextCode(email)
      const { identifier } = body.two_factor
      const wrong = await service.post('2fa/verify', {
        identifier,
        otp: otp === '000000' ? '000001' : '000000',
      })
      expect(wrong.body.code).toBe('invalid_code')
      const done = await service.post('2fa/verify', { identifier, otp })
      expect(done.body.account?.id).toBe(account.id)
      const [, payload] = done.body.access_token.split('.')
      expect(JSON.parse(Buffer.from(payload, 'base64url').toString()).amr).toEqual(['fed', 'otp', 'mfa'])
    },
  )

  rule('a locked account stays locked', async () => {
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const { account } = (await browser.signIn()).body
    await run('update accounts set locked_at = $1 where id = $2', new Date(), account.id)
    expect((await browser.signIn()).body.code).toBe('account_locked')
  })

  raced('a native app signs in with its identity token, once', async () => {
    const person = newPerson({ email: newEmail(), email_verified: true })
    provider.present(person)
    const id_token = await provider.idToken('once')
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => service.post('social/p1/token', { id_token, nonce: 'once' })),
    )
    const successes = answers.filter(({ status }) => status === 200)
    expect(successes).toHaveLength(1)
    expect(successes[0]?.body.account.provider_uid).toBe(person.sub)
    expect(answers.filter(({ body }) => body.code === 'invalid_token')).toHaveLength(31)
    expect((await browser.signIn()).body.account.id).toBe(successes[0]?.body.account.id)
  })

  test.each([1e10, 1e12, 1e15, 1e20, Number.MAX_VALUE])(
    'an identity token that says it expires at %p serves once as well',
    async (exp) => {
      provider.present(newPerson({ email: newEmail(), email_verified: true }))
      provider.lie({ claims: (claims) => ({ ...claims, exp }) })
      const body = { id_token: await provider.idToken('far'), nonce: 'far' }
      provider.lie({})
      expect((await service.post('social/p1/token', body)).status).toBe(200)
      expect((await service.post('social/p1/token', body)).body.code).toBe('invalid_token')
    },
  )

  raced('32 parallel first native sign-ins of one person make one account', async () => {
    provider.present(newPerson({ email: newEmail(), email_verified: true }))
    const tokens = await Promise.all(Array.from({ length: 32 }, (_, i) => provider.idToken(`n${i}`)))
    const answers = await Promise.all(
      tokens.map((id_token, i) => service.post('social/p1/token', { id_token, nonce: `n${i}` })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(32).fill(200))
    expect(new Set(answers.map(({ body }) => body.account.id)).size).toBe(1)
  })
})

test('a disabled provider opens nothing and takes nothing away', async () => {
  await using provider = await startPretendProvider()
  const settings = socialSettings(provider.issuer)
  await using first = await startService({ shape: 'redis', settings })
  provider.present(newPerson())
  const { account } = (await createSocialBrowser(first).signIn()).body
  const [entry] = settings.social!.providers as object[]
  const disabled = { social: { ...settings.social, providers: [{ ...entry, enabled: false }] } }
  const second = await startService({ settings: disabled, storage: first.storage })
  expect((await second.get('social')).body.providers).toEqual([])
  const query = new URLSearchParams({ redirect_uri: APP, code_challenge: newPkce().challenge })
  expect((await second.get(`social/p1/authorize?${query}`)).body.code).toBe('provider_not_found')
  await second.close()
  expect((await createSocialBrowser(first).signIn()).body.account.id).toBe(account.id)
})

test('one address may not begin or end sign-ins without measure', async () => {
  await using provider = await startPretendProvider()
  await using service = await startService({
    settings: { ...socialSettings(provider.issuer), limits: { enabled: true, logins_per_minute: 3 } },
  })
  const query = new URLSearchParams({ redirect_uri: APP, code_challenge: newPkce().challenge })
  const exchange = { code: 'x', code_verifier: newPkce().verifier }
  const calls = [
    () => service.get(`social/p1/callback?state=x`),
    () => service.post('social/exchange', exchange),
    () => service.post('social/p1/token', { id_token: 'x', nonce: 'y' }),
  ]
  for (const call of calls) expect((await call()).body.code).not.toBe('too_many_requests')
  for (const call of [...calls, () => service.get(`social/p1/authorize?${query}`)]) {
    const { status, body } = await call()
    expect([status, body.code]).toEqual([429, 'too_many_requests'])
    expect(body.retry_after).toBeGreaterThan(0)
  }
})
