/** Signing in on the page of administration, what its session may do, and what ends it; with limits on. */
import { describe, expect, test } from 'bun:test'
import { type AdminRoute, roles } from '../../src/administration/access/access.ts'
import { adminRoutes } from '../../src/compose/admin-app.ts'
import {
  addAdministrator,
  asOperator,
  createPage,
  listening,
  onListener,
  signInAgain,
  signInAs,
} from '../helpers/administration.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { newClient, seen } from '../helpers/limited-service.ts'
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { useLimited, useReplica, useService } from '../helpers/use-service.ts'

const MINUTE_MS = 60_000
const passkeys = { rp_id: 'example.com', origins: ['https://app.example.com'] }

const headers = () => newClient().headers as Record<string, string>

describe('the page of administration', () => {
  const service = useLimited({ settings: { ...listening, passkeys } })
  const replica = useReplica(service, { settings: { ...listening, passkeys } })
  const code = (secret: string) => appCode(secret, service.clock.now())
  const me = (page: ReturnType<typeof createPage>) => page.call('GET', 'session')
  const eventsOf = async (uuid: string, type: string) => {
    await service.inside.services.events.flush()
    return (await asOperator(service, 'GET', `events?account=${uuid}&type=${type}`)).body.items
  }

  test('the first sign-in sets up an app, and every other one asks for it', async () => {
    const { person, uuid } = await addAdministrator(service, 'support')
    const page = createPage(service, headers())
    const begun = await page.call('POST', 'session', person)
    expect([begun.status, begun.body]).toEqual([200, { status: 200, methods: [] }])
    expectRefusal(await page.call('POST', 'session/verify', { otp: '123456' }), 'two_factor_required')
    const app = await page.call('POST', 'session/app')
    expect(app.body.qr_svg).toContain('<svg')
    expectRefusal(await page.call('POST', 'session/verify', { otp: '000000' }), 'invalid_code')
    const opened = await page.call('POST', 'session/verify', { otp: code(app.body.secret) })
    expect(Object.keys(opened.body)).toEqual(['status', 'csrf_token', 'recovery_codes'])
    expect(opened.body.recovery_codes).toHaveLength(10)
    expect(opened.headers.getSetCookie()[0]).toMatch(
      /^__Host-poterne_admin=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=28800$/,
    )
    const shown = await me(page)
    expect(shown.body).toMatchObject({
      csrf_token: opened.body.csrf_token,
      administrator: { uuid, email: person.identifier, role: 'support' },
    })
    const [event] = await eventsOf(uuid, 'administrator.signed_in')
    expect(event.actor).toEqual({ type: 'administrator', id: uuid, name: person.identifier })

    const second = createPage(service, headers())
    expect((await second.call('POST', 'session', person)).body).toEqual({ status: 200, methods: ['totp'] })
    expectRefusal(await second.call('POST', 'session/app'), 'two_factor_required')
    expectRefusal(
      await second.call('POST', 'session/verify', { otp: opened.body.recovery_codes[0] }),
      'invalid_code',
    )
    service.clock.advance(PERIOD_MS)
    const again = await second.call('POST', 'session/verify', { otp: code(app.body.secret) })
    expect(Object.keys(again.body)).toEqual(['status', 'csrf_token'])
    expect((await second.call('DELETE', 'session')).status).toBe(200)
    expectRefusal(await me(second), 'invalid_token')
    expect((await me(page)).status).toBe(200)
  })

  test('a passkey is a second factor, made for the page alone', async () => {
    const { person } = await addAdministrator(service, 'viewer')
    const { access_token: bearer } = await service.logIn(person)
    const creation = await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer })
    const { passkey, credential } = createPasskey(creation.body.options, 'https://app.example.com')
    expect((await service.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
    const page = createPage(service, headers())
    expect((await page.call('POST', 'session', person)).body.methods).toEqual(['passkey'])
    expectRefusal(await page.call('POST', 'session/app'), 'two_factor_required')
    const { options } = (await page.call('POST', 'session/passkey')).body
    const elsewhere = signWithPasskey(passkey, options, 'https://app.example.com')
    expectRefusal(await page.call('POST', 'session/verify', { credential: elsewhere }), 'invalid_passkey')
    const forLogin = (await service.post('passkeys/login/options', {})).body.options
    const borrowed = signWithPasskey(passkey, forLogin, 'https://admin.example.com')
    expectRefusal(await page.call('POST', 'session/verify', { credential: borrowed }), 'invalid_passkey')
    const signed = signWithPasskey(passkey, options, 'https://admin.example.com')
    expect((await page.call('POST', 'session/verify', { credential: signed })).status).toBe(200)
    expect((await me(page)).body.administrator.role).toBe('viewer')
  })

  test('a mailed code is no second factor here, and a password alone adds none beside it', async () => {
    const { person } = await protectBySentCodes(service)
    await asOperator(service, 'POST', 'administrators', { account: person.identifier, role: 'owner' })
    const page = createPage(service, headers())
    expect((await page.call('POST', 'session', person)).body.methods).toEqual([])
    expectRefusal(await page.call('POST', 'session/app'), 'two_factor_required')
    await service.post('login', person, newClient())
    const otp = await service.inbox.nextCode(person.identifier)
    expectRefusal(await page.call('POST', 'session/verify', { otp }), 'two_factor_required')
  })

  test('what the public interface gives an owner opens nothing here', async () => {
    const { person } = await addAdministrator(service, 'owner')
    const { body } = await service.post('login', person, newClient())
    expect((await service.get('me', { bearer: body.access_token })).status).toBe(200)
    for (const token of [body.access_token, body.refresh_token] as string[]) {
      const cookies = ['__Host-poterne_admin', '__Host-poterne_session', 'poterne_admin']
      const ways: Record<string, string>[] = [
        { authorization: `Bearer ${token}` },
        ...cookies.map((name) => ({ cookie: `${name}=${token}` })),
      ]
      for (const way of ways)
        expectRefusal(
          await onListener(service, 'GET', 'accounts', undefined, { headers: { ...headers(), ...way } }),
          'invalid_token',
        )
    }
  })

  test('a wrong password, an unknown address and an account that is no administrator get one answer', async () => {
    const { person, uuid } = await addAdministrator(service, 'owner')
    const nobody = await service.signUp(newEmail())
    const tries = [
      { ...person, password: 'wrong' },
      { identifier: newEmail(), password: 'wrong' },
      { ...nobody, password: 'wrong' },
      nobody,
    ]
    const answers = []
    for (const body of tries)
      answers.push(seen(await createPage(service, headers()).call('POST', 'session', body)))
    expect(answers[0]!.body.code).toBe('invalid_credentials')
    for (const answer of answers) expect(answer).toEqual(answers[0]!)
    const [event] = await eventsOf(uuid, 'administrator.sign_in_failed')
    expect(event).toMatchObject({ outcome: 'failure', data: { count: 1 } })
  })

  test('a cookie of somebody else names nothing afterwards, and one sign-in opens one session', async () => {
    const { person, secret } = await protectByApp(service)
    await asOperator(service, 'POST', 'administrators', { account: person.identifier, role: 'owner' })
    const page = createPage(service, headers())
    page.cookie = `__Host-poterne_admin=${'a'.repeat(43)}`
    expectRefusal(await page.call('POST', 'session/verify', { otp: '123456' }), 'invalid_token')
    await page.call('POST', 'session', person)
    const planted = page.cookie
    expect(planted).not.toContain('aaaa')
    expectRefusal(await me(page), 'invalid_token')
    service.clock.advance(PERIOD_MS)
    const otp = code(secret)
    const answers = await race([service, replica], (one) => {
      const other = createPage(one, headers())
      other.cookie = planted
      return other.call('POST', 'session/verify', { otp })
    })
    const { headers: sent } = onlySuccess(answers, 'invalid_code', 'invalid_token', 'too_many_attempts')
    expect(sent.get('set-cookie')).not.toContain(planted!.split('=')[1]!)
    page.cookie = planted
    expectRefusal(await me(page), 'invalid_token')
  })

  test('writes carry the token of the page, and come from the page itself', async () => {
    const { page, uuid } = await signInAs(service, 'owner', headers())
    const { person } = await addAdministrator(service, 'viewer')
    const add = (sent: Record<string, string | undefined>) =>
      page.call('POST', 'administrators', { account: person.identifier, role: 'support' }, sent)
    for (const sent of [
      { 'x-csrf-token': undefined },
      { 'x-csrf-token': 'x'.repeat(43) },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ])
      expectRefusal(await add(sent), 'insufficient_scope')
    expectRefusal(await add({ host: 'evil.example' }), 'route_not_found')
    expectRefusal(await add({ cookie: page.cookie!.replace('__Host-', '') }), 'invalid_token')
    expectRefusal(await add({ authorization: 'Bearer x' }), 'invalid_token')
    expectRefusal(
      await page.call('GET', 'session', undefined, { 'sec-fetch-site': 'cross-site' }),
      'insufficient_scope',
    )
    expect((await add({ origin: 'https://admin.example.com' })).body.administrator.role).toBe('support')
    expect((await add({ 'sec-fetch-site': 'none' })).status).toBe(200)
    // The address of the machine serves too, for scripts beside the service.
    const local = new URL(service.adminUrl!).host
    expect((await page.call('GET', 'session', undefined, { host: local })).body.administrator.uuid).toBe(uuid)
  })

  test('half an hour without a request ends it, and eight hours do', async () => {
    const idle = await signInAs(service, 'viewer', headers())
    service.clock.advance(29 * MINUTE_MS)
    expect((await me(idle.page)).status).toBe(200)
    service.clock.advance(29 * MINUTE_MS)
    expect((await me(idle.page)).status).toBe(200)
    service.clock.advance(30 * MINUTE_MS)
    expectRefusal(await me(idle.page), 'invalid_token')
    const busy = await signInAs(service, 'viewer', headers())
    for (let minutes = 0; minutes < 475; minutes += 25) {
      expect((await me(busy.page)).status).toBe(200)
      service.clock.advance(25 * MINUTE_MS)
    }
    service.clock.advance(5 * MINUTE_MS)
    expectRefusal(await me(busy.page), 'invalid_token')
  })

  test('it ends with the sessions, the lock and the role of its account', async () => {
    const ended = await signInAs(service, 'owner', headers())
    expect((await asOperator(service, 'DELETE', `accounts/${ended.uuid}/sessions`)).status).toBe(200)
    expectRefusal(await me(ended.page), 'invalid_token')

    const locked = await signInAs(service, 'owner', headers())
    await asOperator(service, 'PATCH', `accounts/${locked.uuid}`, { locked: true })
    expectRefusal(await me(locked.page), 'invalid_token')
    const page = createPage(service, headers())
    expectRefusal(await page.call('POST', 'session', locked.person), 'account_locked')

    const removed = await signInAs(service, 'owner', headers())
    expect((await asOperator(service, 'DELETE', `administrators/${removed.uuid}`)).status).toBe(200)
    expectRefusal(await removed.page.call('GET', 'accounts'), 'invalid_token')
    expectRefusal(await page.call('POST', 'session', removed.person), 'invalid_credentials')
    const gone = await asOperator(service, 'DELETE', `administrators/${removed.uuid}`)
    expectRefusal(gone, 'administrator_not_found')

    const reset = await signInAs(service, 'owner', headers())
    await service.resetPassword(reset.person.identifier, 'another horse battery', newClient())
    expectRefusal(await me(reset.page), 'invalid_token')
  })

  test('a locked administrator and a changed password end a sign-in under way', async () => {
    const administrator = await signInAs(service, 'owner', headers())
    const under = createPage(service, headers())
    await under.call('POST', 'session', administrator.person)
    await asOperator(service, 'PATCH', `accounts/${administrator.uuid}`, { locked: true })
    service.clock.advance(PERIOD_MS)
    const otp = code(administrator.secret)
    expectRefusal(await under.call('POST', 'session/verify', { otp }), 'account_locked')
    await asOperator(service, 'PATCH', `accounts/${administrator.uuid}`, { locked: false })
    service.clock.advance(10 * MINUTE_MS)
    expectRefusal(
      await under.call('POST', 'session/verify', { otp: code(administrator.secret) }),
      'invalid_token',
    )
  })

  test('a role that is lowered in mid-session reaches less at once', async () => {
    const { page, uuid, person } = await signInAs(service, 'owner', headers())
    const { uuid: other } = (await service.signedIn()).account
    expect((await page.call('GET', 'administrators')).status).toBe(200)
    await asOperator(service, 'POST', 'administrators', { account: person.identifier, role: 'viewer' })
    const [event] = await eventsOf(uuid, 'administrator.role_changed')
    expect(event.data).toEqual({ role: 'viewer', was: 'owner' })
    expectRefusal(await page.call('GET', 'administrators'), 'insufficient_scope')
    expectRefusal(await page.call('PATCH', `accounts/${other}`, { locked: true }), 'insufficient_scope')
    expect((await page.call('GET', `accounts/${other}`)).status).toBe(200)
  })

  test('support staff lock and unlock, change nothing else, and reach no administrator', async () => {
    const { page } = await signInAs(service, 'support', headers())
    const administrator = await addAdministrator(service, 'viewer')
    const { uuid } = (await service.signedIn()).account
    const change = (of: string, body: unknown) => page.call('PATCH', `accounts/${of}`, body)
    const locked = await change(uuid, { locked: true, locked_reason: 'asked for it' })
    expect(locked.body.account.locked_reason).toBe('asked for it')
    const [event] = await eventsOf(uuid, 'account.locked')
    expect(event.actor.type).toBe('administrator')
    expectRefusal(await change(uuid, { locked: false, role_id: 3 }), 'insufficient_scope')
    expectRefusal(await change(uuid, { metadata: {} }), 'insufficient_scope')
    expectRefusal(await page.call('DELETE', `accounts/${uuid}`), 'insufficient_scope')
    expectRefusal(await page.call('GET', 'keys'), 'insufficient_scope')
    const recover = (body: unknown) => page.call('POST', `accounts/${uuid}/access-code`, body)
    expectRefusal(await recover({ send: 'email', remove_factors: true }), 'insufficient_scope')
    expect((await recover({ send: 'email', remove_factors: false })).status).toBe(200)
    for (const one of [administrator.uuid, administrator.uuid.toUpperCase()]) {
      expectRefusal(await change(one, { locked: true }), 'insufficient_scope')
      expectRefusal(await page.call('DELETE', `accounts/${one}/sessions`), 'insufficient_scope')
    }
    expect((await change(uuid, { locked: false })).status).toBe(200)
  })

  test('each role reaches what it may, on every route, and nothing else', async () => {
    const reads = ['accounts:read', 'messages:read', 'events:read', 'invitations:read', 'page']
    const support = [...reads, 'limits:write', 'sessions:write', 'messages:write']
    const inPart = [
      'PATCH /accounts/:uuid',
      'POST /accounts/:uuid/access-code',
      'PUT /accounts/:uuid/email',
      'PUT /accounts/:uuid/phone',
      'DELETE /accounts/:uuid/two-factor',
      'DELETE /accounts/:uuid/two-factor/removal',
      'DELETE /accounts/:uuid/contact-changes/:id',
    ]
    const reached: Record<string, (route: AdminRoute, name: string) => boolean> = {
      viewer: ({ access }) => reads.includes(access),
      support: ({ access }, name) => support.includes(access) || inPart.includes(name),
      owner: ({ access }) => access !== 'operator',
    }
    const allowed: Record<string, unknown> = {
      'PATCH /accounts/:uuid': { locked: true, locked_reason: null },
    }
    const wrong: string[] = []
    for (const role of roles) {
      const { page, uuid } = await signInAs(service, role, headers())
      const team = await page.call('GET', 'accounts?administrator=true')
      if (role === 'owner')
        expect(team.body.items).toContainEqual(
          expect.objectContaining({ uuid, factors: ['totp', 'recovery_code'] }),
        )
      else expectRefusal(team, 'insufficient_scope')
      const { cookie, csrf } = page
      for (const route of adminRoutes.filter(({ access }) => access !== 'open')) {
        const name = `${route.method} ${route.path.replace('/admin/v1', '')}`
        if (name === 'DELETE /session') continue
        const path = route.path.replace(':uuid', crypto.randomUUID()).replace(/:\w+/, '999')
        const isRead = route.method === 'GET' || route.method === 'DELETE'
        const body = isRead ? undefined : (allowed[name] ?? { send: 'email' })
        const answer = await page.call(route.method, path, body)
        Object.assign(page, { cookie, csrf })
        const isRefused =
          answer.status === 401 || answer.status === 403 || answer.body.code === 'route_not_found'
        if (isRefused === reached[role]!(route, name)) wrong.push(`${role} ${name}: ${answer.status}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('support staff send a recovery code, and never see one', async () => {
    const { page } = await signInAs(service, 'support', headers())
    const { uuid } = (await service.signedIn()).account
    expectRefusal(await page.call('POST', `accounts/${uuid}/access-code`, {}), 'insufficient_scope')
    expectRefusal(
      await page.call('POST', `accounts/${uuid}/access-code`, { send: null }),
      'insufficient_scope',
    )
    const sent = await page.call('POST', `accounts/${uuid}/access-code`, { send: 'email' })
    expect([sent.status, sent.body.code]).toEqual([200, null])
  })

  test('a destructive action asks for password and second factor after five minutes', async () => {
    const administrator = await signInAs(service, 'owner', headers())
    const { page, secret, person } = administrator
    const victim = async () => (await service.signedIn()).account.uuid as string
    expect((await page.call('DELETE', `accounts/${await victim()}`)).status).toBe(200)
    service.clock.advance(5 * MINUTE_MS + 1)
    const uuid = await victim()
    expectRefusal(await page.call('DELETE', `accounts/${uuid}`), 'reauthentication_required')
    const prove = (body: unknown) => page.call('POST', 'session/reauthenticate', body)
    expectInvalid(await prove({ password: 'wrong', otp: code(secret) }), { password: 'wrong_password' })
    expectRefusal(await prove({ password: person.password, otp: '000000' }), 'invalid_code')
    expectInvalid(await prove({ password: person.password }), { otp: 'required' })
    expectRefusal(
      await prove({ password: person.password, otp: administrator.recoveryCodes[0] }),
      'invalid_code',
    )
    expectRefusal(await page.call('DELETE', `accounts/${uuid}`), 'reauthentication_required')
    expect((await prove({ password: person.password, otp: code(secret) })).status).toBe(200)
    expect((await page.call('DELETE', `accounts/${uuid}`)).status).toBe(200)
  })

  test('a copied cookie and its token reach nothing that proving again opened, and of 32 callers one proves', async () => {
    const administrator = await signInAs(service, 'owner', headers())
    const { page, secret, person } = administrator
    service.clock.advance(5 * MINUTE_MS + 1)
    const copy = createPage(service, headers())
    Object.assign(copy, { cookie: page.cookie, csrf: page.csrf })
    const proof = { password: person.password, otp: code(secret) }
    const proved = await page.call('POST', 'session/reauthenticate', proof)
    expect(Object.keys(proved.body)).toEqual(['status', 'csrf_token'])
    const victim = (await service.signedIn()).account.uuid
    expectRefusal(await copy.call('DELETE', `accounts/${victim}`), 'invalid_token')
    expectRefusal(await copy.call('GET', 'session'), 'invalid_token')
    expect((await page.call('DELETE', `accounts/${victim}`)).status).toBe(200)
    const { cookie, csrf } = page
    service.clock.advance(PERIOD_MS)
    const again = { password: person.password, otp: code(secret) }
    const answers = await Promise.all(
      Array.from({ length: 32 }, () =>
        Object.assign(createPage(service, headers()), { cookie, csrf }).call(
          'POST',
          'session/reauthenticate',
          again,
        ),
      ),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expectRefusal(await page.call('GET', 'session'), 'invalid_token')
  })

  test('guessing meets the limits of every sign-in', async () => {
    const { person } = await addAdministrator(service, 'owner')
    const from = headers()
    for (let tries = 0; tries < 10; tries++)
      expectRefusal(
        await createPage(service, from).call('POST', 'session', { ...person, password: 'wrong' }),
        'invalid_credentials',
      )
    expectRefusal(await createPage(service, from).call('POST', 'session', person), 'too_many_requests')
    const administrator = await signInAs(service, 'owner', headers())
    const stranger = createPage(service, headers())
    await stranger.call('POST', 'session', administrator.person)
    for (let tries = 0; tries < 20; tries++)
      expectRefusal(await stranger.call('POST', 'session/verify', { otp: '000000' }), 'invalid_code')
    service.clock.advance(PERIOD_MS)
    const otp = code(administrator.secret)
    expectRefusal(await stranger.call('POST', 'session/verify', { otp }), 'too_many_attempts')
  })

  test('what strangers try, with or without the password, refuses no browser that signed in before', async () => {
    const administrator = await signInAs(service, 'owner', headers())
    const { person, page, secret } = administrator
    for (let tries = 0; tries < 110; tries++)
      await service.post('login', { ...person, password: 'wrong' }, newClient())
    const unknown = createPage(service, headers())
    expectRefusal(await unknown.call('POST', 'session', person), 'too_many_requests')
    const known = createPage(service, headers())
    known.device = page.device!
    expect((await known.call('POST', 'session', person)).body.methods).toEqual(['totp'])
    service.clock.advance(PERIOD_MS)
    expect((await known.call('POST', 'session/verify', { otp: code(secret) })).status).toBe(200)
    expect(known.device).toBe(page.device!)
    // It says which browser it is, and proves nothing.
    known.cookie = undefined
    expectRefusal(await known.call('GET', 'session'), 'invalid_token')
  })

  test('an administrator is a confirmed account with a verified contact and a password', async () => {
    const add = (account: string, role = 'owner') =>
      asOperator(service, 'POST', 'administrators', { account, role })
    expectRefusal(await add(newEmail()), 'account_not_found')
    expectRefusal(await add(crypto.randomUUID()), 'account_not_found')
    const { person, uuid } = await addAdministrator(service, 'owner')
    expectInvalid(await add(uuid, 'king'), { role: 'invalid_value' })
    expect((await add(uuid)).status).toBe(200)
    const { person: locked, account } = await service.signedIn()
    await asOperator(service, 'PATCH', `accounts/${account.uuid}`, { locked: true })
    expectRefusal(await add(locked.identifier), 'account_locked')
    const { items } = (await asOperator(service, 'GET', 'administrators?limit=1')).body
    expect(items).toMatchObject([{ uuid, email: person.identifier, role: 'owner' }])
    await asOperator(service, 'DELETE', `accounts/${uuid}`)
    const left = (await asOperator(service, 'GET', 'administrators')).body.items
    expect(left.map((item: { uuid: string }) => item.uuid)).not.toContain(uuid)
    const answers = await race([service, replica], async (one) => {
      const another = await asOperator(one, 'POST', 'administrators', {
        account: locked.identifier,
        role: 'owner',
      })
      return another
    })
    expect(new Set(answers.map(({ body }) => body.code))).toEqual(new Set(['account_locked']))
  })

  test('an administrator is added once, by however many at once', async () => {
    const person = await service.signUp(newEmail())
    const body = { account: person.identifier, role: 'support' }
    const answers = await race([service, replica], (one) => asOperator(one, 'POST', 'administrators', body))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const uuid = answers[0]!.body.administrator.uuid
    expect(await eventsOf(uuid, 'administrator.added')).toHaveLength(1)
  })

  test('a session is listed to its owner, who can end it', async () => {
    const administrator = await signInAs(service, 'viewer', headers())
    const page = await signInAgain(service, administrator, headers())
    service.clock.advance(PERIOD_MS)
    const opened = await service.post('2fa/verify', {
      ...administrator.person,
      otp: code(administrator.secret),
    })
    const bearer = opened.body.access_token
    const { sessions } = (await service.get('sessions', { bearer })).body
    expect(
      sessions.filter(({ device_name }: { device_name: string }) => device_name === 'Administration'),
    ).toHaveLength(2)
    await service.post('logout-all', {}, { bearer })
    expectRefusal(await me(page), 'invalid_token')
    expectRefusal(await me(administrator.page), 'invalid_token')
  })
})

describe('on loopback, without a proxy', () => {
  const service = useService({ shape: 'embedded', settings: { admin: { listen: '127.0.0.1:8081' } } })

  test('the cookie belongs to the path of the page, and the address is the host', async () => {
    const { host } = new URL(service.adminUrl!)
    const { person } = await addAdministrator(service, 'owner')
    const begin = (named: string) =>
      onListener(service, 'POST', 'session', person, { headers: { host: named } })
    const begun = await begin(host)
    expect(begun.headers.get('set-cookie')).toMatch(
      /^poterne_admin=[\w-]{43}; Path=\/admin; HttpOnly; SameSite=Strict; Max-Age=600$/,
    )
    expect((await begin(host.replace('127.0.0.1', 'LOCALHOST'))).status).toBe(200)
    for (const other of ['127.0.0.1', 'poterne.attacker.example', host.replace(/\d+$/, '1')])
      expectRefusal(await begin(other), 'route_not_found')
    expectRefusal(
      await onListener(service, 'GET', 'accounts', undefined, { headers: { host } }),
      'invalid_token',
    )
    const { page, uuid } = await signInAs(service, 'owner', { host })
    expect((await page.call('GET', 'session')).body.administrator).toMatchObject({ uuid, role: 'owner' })
    expect((await page.call('GET', 'session')).body.passkeys_url).toBeNull()
    expectRefusal(await page.call('GET', '/account/passkeys'), 'route_not_found')
    expect((await page.call('DELETE', `administrators/${uuid}`)).status).toBe(200)
    expectRefusal(await page.call('GET', 'session'), 'invalid_token')
  })
})
