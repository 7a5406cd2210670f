/** Test identities: the code that is always the same, and everything that somebody who knows it tries with it. */
import { describe, expect, test } from 'bun:test'
import { mountedRoutes } from '../../scripts/mounted-routes.ts'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { openBrowser, PAGE_HOST, pageSettings } from '../helpers/page-browser.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import {
  deliverySettings,
  mergeSettings,
  type Settings,
  startService,
  type TestService,
} from '../helpers/service.ts'
import { createSocialBrowser, useSocial } from '../helpers/social.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const DAY_MS = 86_400_000
const CODE = '407915'
const day = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)

const withIdentities = (identifiers: string[], until = day(30)): Settings => ({
  test_identities: identifiers.map((identifier) => ({ identifier, code: CODE, until })) as never,
})

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

/** Identifiers of one service, each of which one test uses up. */
function newIdentities(number: number) {
  const all = Array.from({ length: number }, newEmail)
  const left = [...all]
  return { all, next: () => left.pop()! }
}

/** Opens the account of an identity; gives the body of the answer. */
async function openTest(service: TestService, identifier: string, more: object = {}) {
  expect((await service.post('register', registration(identifier))).status).toBe(201)
  const body = { identifier, otp: CODE, password: PASSWORD, sign_in: true, ...more }
  const { status, body: answer } = await service.post('verify-account', body)
  expect([status, answer.code]).toEqual([201, undefined])
  return answer
}

const enter = (service: TestService, identifier: string, otp = CODE) =>
  service.post('2fa/verify', { identifier, otp })

const administered = async (service: TestService, identifier: string) =>
  (await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0]

describe('a test identity', () => {
  const identities = newIdentities(20)
  const phone = newPhone()
  const settings: Settings = mergeSettings(
    pageSettings,
    { server: { ...pageSettings.server, language: 'en' } },
    withIdentities([...identities.all, phone]),
    {
      passkeys: { rp_id: PAGE_HOST, origins: [`https://${PAGE_HOST}`] },
      accounts: {
        password: 'optional',
        registration_domains: ['listed.example.com'],
        registration: 'invitation',
      },
      tokens: { claims: { mail: { from: 'email_verified' }, sms: { from: 'phone_verified' } } },
    },
  )
  const { provider, service } = useSocial(settings)

  test('opens an account and signs in by its code, whoever may register, and nothing is sent', async () => {
    for (const identifier of [identities.next(), phone]) {
      const opened = await openTest(service, identifier)
      expect(claimsOf(opened.access_token)).toMatchObject({ mail: false, sms: false })
      expect((await service.post('2fa/request-otp', { identifier })).status).toBe(201)
      const again = await enter(service, identifier)
      expect(again.body.account.uuid).toBe(opened.account.uuid)
      expect(claimsOf(again.body.access_token)).toMatchObject({ mail: false, sms: false })
      expect(await administered(service, identifier)).toMatchObject({ test_identity: true })
    }
    await service.delivered()
    expect(service.inbox.count()).toBe(0)
    await waitFor(
      async () => {
        const { items } = (await asOperator(service, 'GET', 'events?type=test_identity.used')).body
        return items.length > 0
      },
      { what: 'the events of its use' },
    )
  })

  test('opens one by create as well, as often as somebody asks, and again after it was deleted', async () => {
    const identifier = identities.next()
    const come = async () => {
      await service.post('2fa/request-otp', { identifier, create: true })
      return service.post('2fa/verify', { identifier, otp: CODE, create: true })
    }
    const first = await come()
    expect(first.status).toBe(200)
    const second = await come()
    expect(second.body.account.uuid).toBe(first.body.account.uuid)
    const { access_token: bearer, refresh_token } = second.body
    const erased = await service.call('DELETE', '/api/v1/auth/me', { refresh_token }, { bearer })
    expect(erased.status).toBe(200)
    const third = await come()
    expect(third.status).toBe(200)
    expect(third.body.account.uuid).not.toBe(first.body.account.uuid)
    expect(await administered(service, identifier)).toMatchObject({ test_identity: true })
  })

  test('opens one account, when 32 callers come at once', async () => {
    const identifier = identities.next()
    await service.post('register', registration(identifier))
    const answers = await race([service], (on) => on.post('verify-account', { identifier, otp: CODE }))
    onlySuccess(answers, 'invalid_code', 'too_many_attempts')
  })

  test('has a code that opens nothing else: no other code, no other identifier, no other call', async () => {
    const identifier = identities.next()
    await openTest(service, identifier)
    expectRefusal(await enter(service, identifier, '407916'), 'invalid_code')
    const wanted = { otp: CODE, password: PASSWORD, password_confirmation: PASSWORD }
    expectRefusal(await service.post('password/reset', { identifier, ...wanted }), 'invalid_code')
    expectRefusal(await service.post('password/forgot', { identifier }), 'channel_not_available')
    const ordinary = await madeAccount()
    expectRefusal(await enter(service, ordinary), 'invalid_code')
    const theirs = { identifier: ordinary, ...wanted }
    expectRefusal(await service.post('password/reset', theirs), 'invalid_code')
    const fresh = identities.next()
    expectRefusal(await enter(service, fresh), 'invalid_code')
    expectRefusal(await service.post('verify-account', { identifier: fresh, otp: CODE }), 'invalid_code')
  })

  test('lets wrong codes be counted like any others', async () => {
    const identifier = identities.next()
    await openTest(service, identifier)
    for (let tries = 0; tries < 20; tries++) {
      expectRefusal(await enter(service, identifier, '111222'), 'invalid_code')
    }
    expectRefusal(await enter(service, identifier), 'too_many_attempts')
  })

  test('is of no use to a session of somebody else', async () => {
    const identifier = identities.next()
    const email = await madeAccount()
    const { access_token: bearer } = await service.logIn({ identifier: email, password: PASSWORD })
    const change = { email: identifier, password: PASSWORD }
    expectRefusal(await service.post('email/change', change, { bearer }), 'domain_not_allowed')
    const change2 = { phone: newTestPhone, password: PASSWORD }
    expectRefusal(await service.post('phone/change', change2, { bearer }), 'channel_not_available')
  })

  test('gets nothing of an invitation, no profile, and no other contact', async () => {
    const identifier = identities.next()
    const made = await asOperator(service, 'POST', 'invitations', { role_id: 7, groups: ['staff'], uses: 5 })
    const invitation = made.body.code
    const other = newPhone()
    const profile = { name: 'Mallory' }
    await service.post('register', { ...registration(identifier), phone: other, invitation, profile })
    const body = { identifier, otp: CODE, invitation, profile, sign_in: true }
    const opened = await service.post('verify-account', body)
    expect(opened.body.account).toMatchObject({ role_id: 1, phone: null })
    expect(await administered(service, identifier)).toMatchObject({ groups: [], profile: {} })
    const [listed] = (await asOperator(service, 'GET', 'invitations')).body.items
    expect(listed.used).toBe(0)
    const { access_token: bearer } = opened.body
    expectRefusal(await service.post('invitations/accept', { invitation }, { bearer }), 'test_identity')
  })

  test('confirms no registration that names it as its other contact', async () => {
    const email = `${crypto.randomUUID()}@listed.example.com`
    const invitation = (await asOperator(service, 'POST', 'invitations', { uses: 5 })).body.code
    await service.post('register', { ...registration(email), phone: newTestPhone, invitation })
    const answer = await service.post('verify-account', { identifier: newTestPhone, otp: CODE })
    expectRefusal(answer, 'invalid_code')
    expect(await administered(service, email)).toMatchObject({ account_confirmed: false })
  })

  test('opens no account that an administrator made for somebody with it', async () => {
    const identifier = identities.next()
    await asOperator(service, 'POST', 'accounts', { email: identifier, invite: true })
    await service.post('register', registration(identifier))
    expectRefusal(await service.post('verify-account', { identifier, otp: CODE }), 'invalid_code')
    const invitation = (await asOperator(service, 'POST', 'invitations', { uses: 5 })).body.code
    const named = { identifier, otp: CODE, invitation }
    expectRefusal(await service.post('verify-account', named), 'invalid_code')
    expectRefusal(await service.post('2fa/verify', { ...named, create: true }), 'invalid_code')
    await waitFor(() => service.inbox.textsTo(identifier).length > 0, { what: 'the invitation' })
  })

  test('is nobody that merely claims it, and its account is no claim of theirs', async () => {
    const identifier = identities.next()
    const email = await madeAccount()
    const { uuid } = await administered(service, email)
    // Another account that names it without having proved it, as a changed contact of an administrator does.
    await asOperator(service, 'PUT', `accounts/${uuid}/email`, { value: identifier })
    expectRefusal(await enter(service, identifier), 'invalid_code')
  })

  test('is linked to no provider that answers for its address', async () => {
    const identifier = identities.next()
    await openTest(service, identifier)
    provider.present(newPerson({ email: identifier, email_verified: true }))
    expectRefusal(await createSocialBrowser(service).signIn('p1'), 'test_identity')
  })

  test('gives an account on which every other operation is refused, those of tomorrow too', async () => {
    const identifier = identities.next()
    const { access_token: bearer, account } = await openTest(service, identifier)
    const allowed = ['PATCH /api/v1/auth/me', 'DELETE /api/v1/auth/me', 'POST /api/v1/auth/me/remove']
    const changing = mountedRoutes().filter(
      ({ method, path, authentication }) =>
        authentication === 'bearer' && method !== 'GET' && !allowed.includes(`${method} ${path}`),
    )
    expect(changing.length).toBeGreaterThan(20)
    for (const { method, path } of changing) {
      const at = path.replace(':provider', 'p1').replace(/:\w+/, crypto.randomUUID())
      const answer = await service.call(method, at, {}, { bearer })
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 403, 'test_identity'])
    }
    expectRefusal(await service.post('2fa/request-otp', {}, { bearer }), 'test_identity')
    const change = (body: object) => service.call('PATCH', '/api/v1/auth/me', body, { bearer })
    expect((await change({ language: 'fr' })).status).toBe(200)
    expectRefusal(await change({ language: 'en', profile: { name: 'Ada' } }), 'test_identity')
    expectRefusal(await change({ terms: '2026-11' }), 'test_identity')
    for (const path of ['me', 'me/security', 'sessions', 'events', 'identities'])
      expect((await service.get(path, { bearer })).status).toBe(200)
    expect((await service.get('me', { bearer })).body.account.uuid).toBe(account.uuid)
  })

  test('gives an account on which every other form of the pages is refused', async () => {
    const identifier = identities.next()
    await openTest(service, identifier)
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password: PASSWORD })
    expect(browser.path).toBe('/account')
    const allowed = ['language', 'delete', 'export', 'sign-in-again'].map((name) => `/account/${name}`)
    const forms = service.inside.app.routes.filter(
      ({ method, path }) => method === 'POST' && path.startsWith('/account/') && !allowed.includes(path),
    )
    expect(forms.length).toBeGreaterThan(20)
    const before = await administered(service, identifier)
    for (const { path } of forms) {
      const answer = await browser.post(path, { password: PASSWORD, contact: newEmail(), session: 'x' })
      const at = answer.headers.get('location')
      const html = at === null ? await answer.text() : (await browser.open(at)).html
      expect([path, html.includes('This account is for tests')]).toEqual([path, true])
    }
    const { updated_at, sessions, ...same } = before
    expect(await administered(service, identifier)).toMatchObject(same)
  })

  test('joins no group by the page of an invitation, and signs in, out and others in as everybody does', async () => {
    const invitation = await asOperator(service, 'POST', 'invitations', { groups: ['staff'], uses: 5 })
    const identifier = identities.next()
    await openTest(service, identifier)
    const browser = await openBrowser(service.url).open('/sign-in')
    await browser.press('Sign in', { identifier, password: PASSWORD })
    await browser.open(`/sign-up?invitation=${invitation.body.code}`)
    await browser.press('Join')
    expect([browser.path, browser.said.includes('This account is for tests')]).toEqual(['/sign-up', true])
    expect(await administered(service, identifier)).toMatchObject({ groups: [] })
    await browser.post('/sign-out', {})
    expect(browser.cookies.has('__Host-poterne')).toBe(false)
  })

  test('gives an account to which administrators give no role, group, name, contact or code', async () => {
    const identifier = identities.next()
    await openTest(service, identifier)
    const { uuid } = await administered(service, identifier)
    const set = (patch: object) => asOperator(service, 'PATCH', `accounts/${uuid}`, patch)
    for (const patch of [
      { role_id: 7 },
      { groups: ['staff'] },
      { username: 'ada' },
      { profile: { name: 'A' } },
    ])
      expectRefusal(await set(patch), 'test_identity')
    expect((await set({ metadata: { plan: 'free' }, locked: true, locked_reason: 'over' })).status).toBe(200)
    expect((await set({ locked: false })).status).toBe(200)
    const contact = { value: newEmail(), verified: true }
    for (const [method, path, body] of [
      ['PUT', `accounts/${uuid}/email`, contact],
      ['PUT', `accounts/${uuid}/phone`, { value: newPhone(), verified: true }],
      ['DELETE', `accounts/${uuid}/email`, undefined],
      ['POST', `accounts/${uuid}/access-code`, {}],
      ['POST', 'administrators', { account: uuid, role: 'owner' }],
    ] as const) {
      const answer = await asOperator(service, method, path, body)
      expect([method, path, answer.body.code]).toEqual([method, path, 'test_identity'])
    }
  })

  const newTestPhone = phone

  /** An ordinary account with the password of the tests. */
  async function madeAccount(): Promise<string> {
    const email = `${crypto.randomUUID()}@listed.example.com`
    const wanted = { email, password: PASSWORD, verified: true }
    expect((await asOperator(service, 'POST', 'accounts', wanted)).status).toBe(201)
    return email
  }
})

describe('an entry', () => {
  const [lasting, ended, taken] = [newEmail(), newEmail(), newEmail()]
  const plain = useService({})

  test('that may not be used is ignored: an ordinary account keeps its messages, and start and doctor say so', async () => {
    const owner = await plain.signUp(taken)
    const settings = mergeSettings(
      deliverySettings(plain.smtp, plain.gateway),
      withIdentities([lasting, taken]),
    )
    ;(settings.test_identities as unknown as object[]).push({ identifier: ended, code: CODE, until: day(-1) })
    const { storage, clock } = plain
    await using service = await startService({ storage, clock, settings })
    const lines = service.log.map((line) => JSON.parse(line)).filter(({ until }) => until)
    expect(lines.map(({ level, msg }) => `${level} ${msg}`)).toEqual([
      'warn a test identity is on: its code opens an account',
      'error a test identity is ignored: it belongs to an ordinary account',
      `error a test identity is ignored: it ended with ${day(-1)}`,
    ])
    const { findings } = (await asOperator(service, 'GET', 'doctor')).body
    const found = findings.find(({ name }: { name: string }) => name === 'test-identities')
    expect(found.level).toBe('failure')
    expect(found.message.match(/is ignored/g)).toHaveLength(2)
    expect(found.message).toContain('signs in by its code until')
    expect((await service.post('2fa/request-otp', { identifier: taken })).status).toBe(201)
    const otp = await plain.inbox.nextCode(taken)
    expectRefusal(await enter(service, taken), 'invalid_code')
    expect((await enter(service, taken, otp)).status).toBe(200)
    expect((await service.post('password/forgot', { identifier: taken })).status).toBe(201)
    await plain.inbox.nextCode(taken)
    await service.post('register', registration(ended))
    await plain.inbox.nextCode(ended)
    expectRefusal(await service.post('verify-account', { identifier: ended, otp: CODE }), 'invalid_code')
    await service.logIn(owner)
  })

  test('ends, and the mark of its account stays: a code is sent again, and still next to nothing is allowed', async () => {
    const identifier = newEmail()
    const { storage, clock } = plain
    const service = await startService({ storage, clock, settings: withIdentities([identifier]) })
    await openTest(service, identifier)
    await service.close()
    await plain.post('2fa/request-otp', { identifier })
    const { status, body } = await enter(plain, identifier, await plain.inbox.nextCode(identifier))
    expect(status).toBe(200)
    const { access_token: bearer } = body
    const change = { email: newEmail(), password: PASSWORD }
    expectRefusal(await plain.post('email/change', change, { bearer }), 'test_identity')
    expectRefusal(await enter(plain, identifier), 'invalid_code')
    const otp = await plain.askCode('password/forgot', identifier)
    const wanted = { identifier, otp, password: PASSWORD, password_confirmation: PASSWORD }
    expectRefusal(await plain.post('password/reset', wanted), 'test_identity')
  })

  test('ends with its day', async () => {
    const identifier = newEmail()
    await using service = await startService({ settings: withIdentities([identifier], day(1)) })
    await openTest(service, identifier)
    service.clock.advance(2 * DAY_MS)
    expectRefusal(await enter(service, identifier), 'invalid_code')
  })
})
