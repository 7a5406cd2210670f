/** Applications for OpenID: their secrets, what their tokens open, and who may enter. */
import { describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { asOperator } from '../../helpers/administration.ts'
import { newEmail } from '../../helpers/api-client.ts'
import {
  addressOf,
  basic,
  codeFor,
  entry,
  newVerifier,
  openIdAddress,
  parametersOf,
  REDIRECT,
  redeem,
  redeemBySecret,
  refreshBySecret,
  SECRET,
  signedInBrowser,
  token,
  userinfo,
} from '../../helpers/hand-over.ts'
import { nextOf, openBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { expectRefusal } from '../../helpers/refusals.ts'
import { mergeSettings, type TestService } from '../../helpers/service.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'

const REVIEWER = newEmail()
const settings = {
  ...pageSettings,
  test_identities: [
    { identifier: REVIEWER, code: '407915', until: new Date(Date.now() + 864e5).toISOString().slice(0, 10) },
  ] as never,
  server: { ...pageSettings.server, language: 'en' },
  texts: { support: 'help@example.com' },
  pages: {
    enabled: true,
    applications: [
      { id: 'web', name: 'Web', redirect_uris: [REDIRECT] },
      entry('grafana', { claims: { note: { from: 'metadata.note' } } }),
      entry('staff', { groups: ['staff', 'boss'] }),
      entry('team', { own: true, groups: [] }),
      entry('spa', { secret_sha256: [] }),
      entry('owned', { own: true, groups: [], secret_sha256: [] }),
    ],
  },
  admin: { listen: '127.0.0.1:8081' },
}

/** The second one begins behind the padding of the first. */
const STAFF = basic('staff').authorization

const opens = async (service: TestService, bearer: string) => (await service.get('me', { bearer })).status

describe('an application for OpenID', () => {
  const service = useService({ settings })
  const without = useReplica(service, {
    settings: mergeSettings(settings, {
      pages: {
        applications: [entry('team'), entry('grafana', { own: true, groups: [] })],
      },
    }),
  })

  const uuidOf = async (identifier: string) =>
    (await asOperator(service, 'GET', `accounts?query=${identifier}`)).body.items[0].uuid as string
  const setGroups = (uuid: string, groups: string[]) =>
    asOperator(service, 'PATCH', `accounts/${uuid}`, { groups })

  async function enter(id: string, more: Record<string, string> = {}) {
    const { browser, person } = await signedInBrowser(service)
    const { body } = await redeemBySecret(service, id, await codeFor(browser, id, more))
    return { browser, person, body }
  }

  test('of somebody else gets tokens that open userinfo and nothing else', async () => {
    const { person, body, browser } = await enter('grafana', {
      scope: 'openid offline_access x',
      state: 'abc',
    })
    expect(parametersOf(browser).get('iss')).toBe('https://auth.example.com/oauth2')
    expect(body).toEqual({
      ...{ status: 200, token_type: 'Bearer', expires_in: 900, scope: 'openid offline_access' },
      ...{ access_token: body.access_token, refresh_token: body.refresh_token, id_token: body.id_token },
    })
    expect(body.access_token + body.refresh_token).toMatch(/^[0-9a-f]{128}$/)
    const uuid = await uuidOf(person.identifier)
    for (const method of ['GET', 'POST']) {
      const shown = await userinfo(service, body.access_token, method)
      expect([shown.status, shown.body.sub, shown.body.status]).toEqual([200, uuid, undefined])
    }
    for (const each of [body.access_token, body.refresh_token]) {
      expect(await opens(service, each)).toBe(401)
      expect((await service.post('refresh', { refresh_token: each })).status).toBe(401)
      await service.post('logout', { refresh_token: each }, { bearer: each })
    }
    expect((await userinfo(service, body.refresh_token)).status).toBe(401)
    expect((await refreshBySecret(service, 'grafana', body.access_token)).body.error).toBe('invalid_grant')
    expect((await userinfo(service, body.access_token)).status).toBe(200)
    const { access_token } = await service.logIn(person)
    const { sessions } = (await service.get('sessions', { bearer: access_token })).body
    expect(sessions.map(({ application }: { application: string }) => application).sort()).toEqual([
      'grafana',
      undefined,
      undefined,
    ])
  })

  test('without offline_access has no refresh token, and an own one always', async () => {
    expect(Object.keys((await enter('grafana')).body)).toEqual([
      'status',
      'access_token',
      'token_type',
      'expires_in',
    ])
    const { body } = await enter('team', { scope: 'openid' })
    expect(decodeJwt(body.access_token)).toMatchObject({ iss: 'https://auth.example.com', client_id: 'team' })
    expect([body.account.uuid, await opens(service, body.access_token)]).toEqual([expect.any(String), 200])
    expect((await userinfo(service, body.access_token)).body.sub).toBe(body.account.uuid)
    // Whoever presents it has to prove the secret.
    const { refresh_token } = body
    expect((await service.post('refresh', { refresh_token })).status).toBe(401)
    const again = await refreshBySecret(service, 'team', refresh_token)
    expect([again.status, again.body.scope, again.body.refresh_token !== refresh_token]).toEqual([
      200,
      'openid',
      true,
    ])
  })

  test('of the team that did not ask for openid, and every other token of the team, is told so', async () => {
    const { body, person } = await enter('team')
    const login = await service.logIn(person)
    for (const { access_token } of [body, login]) {
      const refused = await userinfo(service, access_token)
      expect([refused.status, refused.body.error]).toEqual([403, 'insufficient_scope'])
      expect(refused.headers.get('www-authenticate')).toContain('insufficient_scope')
    }
    const none = await fetch(`${service.url}/oauth2/userinfo`)
    expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
  })

  test('gets nothing for a token in the place of another', async () => {
    const other = await enter('grafana', { scope: 'openid offline_access' })
    const team = await enter('team', { scope: 'openid' })
    const login = await service.logIn(team.person)
    const code = await codeFor(other.browser, 'grafana')
    const texts: Record<string, string> = {
      ...{ otherAccess: other.body.access_token, otherRefresh: other.body.refresh_token },
      ...{ otherId: other.body.id_token, code, cookie: other.browser.cookies.get('__Host-poterne')! },
      ...{ access: team.body.access_token, id: team.body.id_token, refresh: team.body.refresh_token },
      ...{ loginAccess: login.access_token, loginRefresh: login.refresh_token },
    }
    const taken: Record<string, string[]> = { userinfo: [], refresh: [], code: [] }
    for (const [name, text] of Object.entries(texts)) {
      if ((await userinfo(service, text)).status === 200) taken.userinfo!.push(name)
      for (const id of ['grafana', 'team', 'staff']) {
        if ((await refreshBySecret(service, id, text)).status === 200) taken.refresh!.push(`${name} ${id}`)
        if ((await redeemBySecret(service, id, text)).status === 200) taken.code!.push(`${name} ${id}`)
      }
    }
    expect(taken).toEqual({
      userinfo: ['otherAccess', 'access'],
      refresh: ['otherRefresh grafana', 'refresh team'],
      code: ['code grafana'],
    })
  })

  const forms: [name: string, form: Record<string, string>, headers: Record<string, string>, ok: boolean][] =
    [
      ['Basic', {}, basic('grafana'), true],
      [
        'Basic, percent-encoded',
        {},
        basic('grafana', SECRET.replaceAll('_', '%5F').replaceAll('-', '%2D')),
        true,
      ],
      ['post', { client_id: 'grafana', client_secret: SECRET }, {}, true],
      ['Basic before post', { client_id: 'grafana', client_secret: 'wrong' }, basic('grafana'), true],
      ['another secret', {}, basic('grafana', `${SECRET}x`), false],
      ['no secret', { client_id: 'grafana' }, {}, false],
      ['an empty secret', {}, basic('grafana', ''), false],
      ['a wrong secret by post', { client_id: 'grafana', client_secret: 'x'.repeat(40) }, {}, false],
      ['another client_id', { client_id: 'team' }, basic('grafana'), false],
      ['an unknown one', {}, basic('nobody'), false],
      ['half an escape', {}, basic('grafana', `${SECRET}%`), false],
      ['no colon', {}, { authorization: `Basic ${btoa('grafana')}` }, false],
      ['two in one header', {}, { authorization: `${STAFF}, ${STAFF}` }, false],
      ['one without own', {}, basic('web', ''), false],
      ['a secret where there is none', { client_id: 'spa', client_secret: SECRET }, {}, false],
    ]

  test.each(forms)('is authenticated by %s, before anything else', async (_, form, headers, ok) => {
    const refused = await token(service, { grant_type: 'x', ...form }, headers)
    expect([refused.status, refused.body.error]).toEqual(
      ok ? [400, 'unsupported_grant_type'] : [401, 'invalid_client'],
    )
    expect(refused.headers.has('www-authenticate')).toBe(!ok && 'authorization' in headers)
    const revoked = await fetch(`${service.url}/oauth2/revoke`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ token: 'x', ...form }),
    })
    expect(revoked.status).toBe(ok ? 200 : 401)
  })

  test('without a secret needs PKCE, and its tokens rotate', async () => {
    const { browser } = await signedInBrowser(service)
    await browser.open(openIdAddress('spa'))
    expect(parametersOf(browser).get('error')).toBe('invalid_request')
    const verifier = newVerifier()
    const code = await codeFor(browser, 'spa', { scope: 'openid offline_access' }, verifier)
    const form = { client_id: 'spa', redirect_uri: addressOf('spa') }
    expect((await redeem(service, code, '', form)).body.error).toBe('invalid_grant')
    const { body } = await redeem(service, code, verifier, form)
    const refresh = (refresh_token: string) =>
      token(service, { grant_type: 'refresh_token', client_id: 'spa', refresh_token })
    const next = (await refresh(body.refresh_token)).body
    expect(next.refresh_token).not.toBe(body.refresh_token)
    expect((await userinfo(service, next.access_token)).status).toBe(200)
    const last = (await refresh(next.refresh_token)).body
    expect((await refresh(body.refresh_token)).body.error).toBe('invalid_grant')
    expect((await refresh(last.refresh_token)).body.error).toBe('invalid_grant')
    expect((await userinfo(service, last.access_token)).status).toBe(401)
  })

  test('with a secret keeps its refresh token, and the addresses of the browser', async () => {
    const { body, person } = await enter('grafana', { scope: 'offline_access' })
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => refreshBySecret(service, 'grafana', body.refresh_token)),
    )
    expect(answers.map(({ body: { refresh_token } }) => refresh_token)).toEqual(
      answers.map(() => body.refresh_token),
    )
    expect((await refreshBySecret(service, 'staff', body.refresh_token)).body.error).toBe('invalid_grant')
    expect((await userinfo(service, answers[0]!.body.access_token)).status).toBe(200)
    const found = await asOperator(service, 'GET', `accounts/${await uuidOf(person.identifier)}/sessions`)
    expect(found.body.items.find(({ application }: { application: string }) => application)).toMatchObject({
      application: 'grafana',
      device_name: 'Grafana',
    })
  })

  test('may leave out PKCE with a secret, and what was sent is checked', async () => {
    const { browser } = await signedInBrowser(service)
    const verifier = newVerifier()
    const withChallenge = await codeFor(browser, 'grafana', {}, verifier)
    expect((await redeemBySecret(service, 'grafana', withChallenge)).body.error).toBe('invalid_grant')
    const bare = await codeFor(browser, 'grafana')
    const stripped = await redeemBySecret(service, 'grafana', bare, { code_verifier: verifier })
    expect(stripped.body.error).toBe('invalid_grant')
    expect((await redeemBySecret(service, 'grafana', bare)).status).toBe(200)
    const bound = await redeemBySecret(service, 'grafana', withChallenge, { code_verifier: verifier })
    expect(bound.status).toBe(200)
    const stolen = await codeFor(browser, 'grafana')
    expect((await redeemBySecret(service, 'staff', stolen)).body.error).toBe('invalid_grant')
  })

  test('is open to its groups alone, and says so on a page', async () => {
    const { browser, person } = await signedInBrowser(service)
    const uuid = await uuidOf(person.identifier)
    expect(await codeFor(browser, 'staff', { state: 's' })).toBe('')
    expect([browser.status, browser.title]).toEqual([403, 'Staff is not open to you'])
    expect(browser.html).toContain(`<div class="small"><bdi>${person.identifier}</bdi>`)
    expect(browser.html).toContain('Write to <a href="mailto:help@example.com">')
    expect(browser.html).toMatch(/<a class="button main" href="[^"]*">Use another account</)
    const [, back = ''] = /href="(https:[^"]*access_denied[^"]*)">Go back</.exec(browser.html) ?? []
    expect(Object.fromEntries(new URL(back.replaceAll('&amp;', '&')).searchParams)).toMatchObject({
      ...{ error: 'access_denied', state: 's', iss: 'https://auth.example.com/oauth2' },
    })
    await codeFor(browser, 'staff', { prompt: 'none' })
    expect(parametersOf(browser).get('error')).toBe('access_denied')
    await setGroups(uuid, ['x', 'boss'])
    const opened = await redeemBySecret(
      service,
      'staff',
      await codeFor(browser, 'staff', { scope: 'offline_access' }),
    )
    const waiting = await codeFor(browser, 'staff')
    const elsewhere = await redeemBySecret(service, 'grafana', await codeFor(browser, 'grafana'))
    await setGroups(uuid, ['boss'])
    expect((await userinfo(service, opened.body.access_token)).status).toBe(200)
    await setGroups(uuid, ['x'])
    expect((await userinfo(service, opened.body.access_token)).status).toBe(401)
    expect((await redeemBySecret(service, 'staff', waiting)).body.error).toBe('invalid_grant')
    await setGroups(uuid, ['staff'])
    expect((await refreshBySecret(service, 'staff', opened.body.refresh_token)).status).toBe(400)
    expect((await userinfo(service, elsewhere.body.access_token)).status).toBe(200)
  })

  test('is closed to the account of a test identity, whatever its groups', async () => {
    const [identifier, password] = [REVIEWER, 'a phrase for reviewers only']
    const typed = { password, password_confirmation: password, terms_accepted: true }
    await service.post('register', { email: identifier, ...typed })
    expect((await service.post('verify-account', { identifier, otp: '407915', password })).status).toBe(201)
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password })
    await setGroups(await uuidOf(identifier), ['staff'])
    expect(await codeFor(browser, 'staff')).toBe('')
    expect(await codeFor(browser, 'grafana')).toBe('')
    expect(browser.status).toBe(403)
    expect(await codeFor(browser, 'team')).not.toBe('')
  })

  test('is closed to a change whose claims would not fit', async () => {
    const person = await service.signUp(newEmail())
    const change = { metadata: { note: 'x'.repeat(2100) } }
    const refused = await asOperator(service, 'PATCH', `accounts/${await uuidOf(person.identifier)}`, change)
    expectRefusal(refused, 'claims_too_large')
  })

  test('may be called by the pages of its own origin', async () => {
    for (const [path, method] of [
      ['token', 'POST'],
      ['revoke', 'POST'],
      ['userinfo', 'GET'],
    ] as const) {
      const ask = (origin: string) =>
        fetch(`${service.url}/oauth2/${path}`, {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': method },
        })
      const allowed = await ask('https://spa.example.com')
      expect(allowed.headers.get('access-control-allow-origin')).toBe('https://spa.example.com')
      expect(allowed.headers.get('access-control-allow-headers')).toContain('Authorization')
      expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull()
    }
  })

  test('on the way from a sign-in is closed as well', async () => {
    const person = await service.signUp(newEmail())
    const browser = await openBrowser(service.url).open(openIdAddress('staff'))
    expect(browser.path).toBe('/sign-in')
    await browser.press('Sign in', { identifier: person.identifier, password: person.password })
    await browser.open(nextOf(browser))
    expect([browser.status, browser.left]).toEqual([403, null])
    const [, another = ''] = /href="([^"]*)">Use another account/.exec(browser.html) ?? []
    await browser.open(another.replaceAll('&amp;', '&'))
    expect(browser.path).toBe('/sign-in')
    const other = await service.signUp(newEmail())
    await setGroups(await uuidOf(other.identifier), ['staff'])
    await browser.press('Sign in', { identifier: other.identifier, password: other.password })
    await browser.open(nextOf(browser))
    expect(parametersOf(browser).get('code')).toBeTruthy()
  })

  test('that is gone or changed own gets nothing, and its session lives', async () => {
    const { body } = await enter('grafana', { scope: 'offline_access' })
    const own = await enter('team', { scope: 'openid' })
    for (const [id, { access_token, refresh_token }] of [
      ['grafana', body],
      ['team', own.body],
    ] as const) {
      expect((await refreshBySecret(without, id, refresh_token)).body.error).toBe('invalid_grant')
      expect((await userinfo(without, access_token)).status).toBe(401)
      expect((await userinfo(service, access_token)).status).toBe(200)
      expect((await refreshBySecret(service, id, refresh_token)).status).toBe(200)
    }
  })

  test('ends its session by any of its tokens, and no other one', async () => {
    const revoke = (id: string, text: string) =>
      fetch(`${service.url}/oauth2/revoke`, {
        method: 'POST',
        headers: basic(id),
        body: new URLSearchParams({ token: text }),
      })
    for (const id of ['grafana', 'team']) {
      for (const name of ['access_token', 'refresh_token'] as const) {
        const { body } = await enter(id, { scope: 'openid offline_access' })
        expect((await revoke('staff', body[name])).status).toBe(200)
        expect((await revoke(id, `${body[name]}0`)).status).toBe(200)
        expect((await userinfo(service, body.access_token)).status).toBe(200)
        expect((await revoke(id, body[name])).status).toBe(200)
        expect((await userinfo(service, body.access_token)).status).toBe(401)
        expect((await refreshBySecret(service, id, body.refresh_token)).status).toBe(400)
      }
    }
    const missing = await fetch(`${service.url}/oauth2/revoke`, {
      method: 'POST',
      headers: basic('grafana'),
    })
    expect([missing.status, ((await missing.json()) as { error: string }).error]).toEqual([
      400,
      'invalid_request',
    ])
  })

  test('has access tokens that end in time, with the account and with its tokens', async () => {
    const { body, person } = await enter('grafana', { scope: 'offline_access' })
    const uuid = await uuidOf(person.identifier)
    await Bun.sleep(1001)
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { end_tokens: true })
    expect((await userinfo(service, body.access_token)).status).toBe(401)
    const next = (await refreshBySecret(service, 'grafana', body.refresh_token)).body
    expect((await userinfo(service, next.access_token)).status).toBe(200)
    service.clock.advance(900_000)
    expect((await userinfo(service, next.access_token)).status).toBe(401)
    const last = (await refreshBySecret(service, 'grafana', body.refresh_token)).body
    expect((await userinfo(service, last.access_token)).status).toBe(200)
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { locked: true })
    expect((await userinfo(service, last.access_token)).status).toBe(401)
    expect((await refreshBySecret(service, 'grafana', body.refresh_token)).body.error).toBe('invalid_grant')
  })
})
