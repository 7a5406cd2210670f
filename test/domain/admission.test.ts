/** The team's own program decides who comes in: `[admission]`, on every way that opens an account. */
import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { asOperator, listening } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { openBrowser, pageSettings } from '../helpers/page-browser.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { mergeSettings, rareShapes, testsOn } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useSocial } from '../helpers/social.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { type Behaviour, newHookSecret, startReceiver } from '../helpers/webhook-receiver.ts'

interface Asked {
  account: string
  [field: string]: unknown
}

const hook = await startReceiver()
afterAll(() => hook.close())

const TEST_CODE = '407915'
const reviewer = newEmail()
const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)
const admission = { url: hook.url, secret: hook.secret }
const settings = mergeSettings(listening, pageSettings, {
  server: { ...pageSettings.server, language: 'en' },
  roles: { 7: 'editor' },
  accounts: { password: 'optional' },
  admission: { ...admission, previous_secrets: [newHookSecret()] },
  test_identities: [{ identifier: reviewer, code: TEST_CODE, until }],
} as never)
const { provider, service } = useSocial(settings)
const free = useReplica(service, { settings: { accounts: { password: 'optional' } } as never })

const says = (answer: unknown, more: Behaviour = {}) =>
  hook.behave(() => ({ body: JSON.stringify(answer), ...more }))
const asked = () => hook.deliveries.map(({ data }) => data as unknown as Asked)
const administered = async (identifier: string) =>
  (await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0]

const invite = async (more: object = {}) =>
  (await asOperator(service, 'POST', 'invitations', { role_id: 9, groups: ['guests'], ...more })).body

async function waiting(more: object = {}, identifier = newEmail()) {
  expect((await service.post('register', { ...registration(identifier), ...more })).status).toBe(201)
  const otp = await service.inbox.nextCode(identifier)
  const confirm = (body: object = {}, headers: Record<string, string> = {}) =>
    service.post('verify-account', { identifier, otp, ...body }, { headers })
  return { identifier, otp, confirm }
}

const isConfirmed = async (identifier: string) => (await administered(identifier)).account_confirmed

beforeEach(() => {
  hook.deliveries.length = 0
  says({ allow: true })
})

describe('an account that may open', () => {
  test('is asked about once, with all that is known, and gets what the answer says in place of the invitation', async () => {
    const { id, code } = await invite()
    const { identifier, confirm } = await waiting({ invitation: code, profile: { name: 'Ada' } })
    says({ allow: true, role_id: 'editor', groups: ['b', 'a', 'b'], metadata: { plan: 'x' }, more: 1 })
    const opened = await confirm({ sign_in: true, password: PASSWORD })
    expect(opened.status).toBe(201)
    const account = await administered(identifier)
    expect(account).toMatchObject({ role_id: 7, groups: ['a', 'b'], metadata: { plan: 'x' } })
    expect(hook.problems).toEqual([])
    const [question] = hook.deliveries
    expect(question!.type).toBe('account.admission')
    expect(question!.id).toMatch(/^adm_[0-9a-f-]{36}$/)
    expect(asked()).toEqual([
      {
        ...{ account: account.uuid, contact: { email: identifier }, provider: null },
        ...{ profile: { name: 'Ada' }, language: 'en', invitation: { id, role_id: 9, groups: ['guests'] } },
      },
    ])
  })

  test('has the values of the invitation where the answer names none, and none where it takes them away', async () => {
    const kept = await waiting({ invitation: (await invite()).code })
    expect((await kept.confirm()).status).toBe(201)
    expect(await administered(kept.identifier)).toMatchObject({
      role_id: 9,
      groups: ['guests'],
      metadata: {},
    })
    const taken = await waiting({ invitation: (await invite()).code })
    says({ allow: true, role_id: 3, groups: [] })
    expect((await taken.confirm()).status).toBe(201)
    expect(await administered(taken.identifier)).toMatchObject({ role_id: 3, groups: [] })
  })

  test('may come by a phone, by a code without a password, by a reset and by a provider', async () => {
    const metadata = { way: 1 }
    says({ allow: true, metadata })
    const phone = newPhone()
    const byPhone = await waiting({}, phone)
    expect((await byPhone.confirm()).status).toBe(201)
    expect(asked().at(-1)).toMatchObject({ contact: { phone }, invitation: null, profile: {} })

    const identifier = newEmail()
    await service.post('2fa/request-otp', { identifier, create: true })
    const otp = await service.inbox.nextCode(identifier)
    expect((await service.post('2fa/verify', { identifier, otp, create: true })).status).toBe(200)
    expect(asked().at(-1)).toMatchObject({ contact: { email: identifier } })

    const forgot = await waiting()
    await service.post('password/forgot', { identifier: forgot.identifier })
    const code = await service.inbox.nextCode(forgot.identifier)
    const body = { password: 'another fine password', password_confirmation: 'another fine password' }
    const reset = { identifier: forgot.identifier, otp: code, ...body }
    says({ allow: false })
    expectRefusal(await service.post('password/reset', reset), 'registration_refused')
    expect(await isConfirmed(forgot.identifier)).toBe(false)
    says({ allow: true, metadata })
    expect((await service.post('password/reset', reset)).status).toBe(200)
    // An account that is open is not asked about again.
    const before = hook.deliveries.length
    await service.post('password/forgot', { identifier: forgot.identifier })
    const again = { ...reset, otp: await service.inbox.nextCode(forgot.identifier) }
    expect((await service.post('password/reset', again)).status).toBe(200)
    expect(hook.deliveries).toHaveLength(before)

    for (const one of [phone, identifier, forgot.identifier]) {
      const account = await administered(one)
      expect(account).toMatchObject({ metadata })
      expect(asked().some(({ account: uuid }) => uuid === account.uuid)).toBe(true)
    }
  })

  test('a provider’s person has the uuid that was told, of a registration that waits or a new one', async () => {
    const known = await waiting({ profile: { name: 'Ada' } })
    for (const email of [known.identifier, newEmail()]) {
      provider.present(newPerson({ email, email_verified: true }))
      says({ allow: false, message: 'Not you.' })
      const enter = async (nonce: string) =>
        service.post('social/p1/token', { id_token: await provider.idToken(nonce), nonce })
      const refused = await enter('a')
      expectRefusal(refused, 'registration_refused')
      expect(refused.body.message).toBe('Not you.')
      says({ allow: true, role_id: 7, groups: ['staff'], metadata: { by: 'p1' } })
      expect((await enter('b')).status).toBe(200)
      const account = await administered(email)
      expect(account).toMatchObject({ role_id: 7, groups: ['staff'], metadata: { by: 'p1' } })
      const expected = { account: account.uuid, contact: { email }, provider: 'p1', profile: {} }
      expect(asked().at(-1)).toMatchObject(expected)
      // The next sign-in opens nothing.
      const before = hook.deliveries.length
      expect((await enter('c')).status).toBe(200)
      expect(hook.deliveries).toHaveLength(before)
    }
  })

  test('who opens an account apart from a stranger’s registration is told of with its own uuid', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const register = (password: string) =>
      service.post('register', { email, phone, password, password_confirmation: password })
    await register('one fine password')
    await register('two fine passwords')
    await service.post('resend-verification', { identifier: phone })
    const otp = await service.inbox.nextCode(phone)
    says({ allow: true, metadata: { apart: true } })
    expect((await service.post('verify-account', { identifier: phone, otp })).status).toBe(201)
    const account = await administered(phone)
    expect(account).toMatchObject({ email: null, metadata: { apart: true } })
    expect(asked()).toMatchObject([{ account: account.uuid, contact: { phone } }])
  })
})

describe('nobody is asked', () => {
  test('about a wrong code, a test identity, or an account that administration made', async () => {
    const { confirm } = await waiting()
    expectRefusal(await confirm({ otp: '000000' }), 'invalid_code')
    expect((await service.post('register', registration(reviewer))).status).toBe(201)
    const byTest = await service.post('verify-account', { identifier: reviewer, otp: TEST_CODE })
    expect(byTest.status).toBe(201)
    const made = newEmail()
    expect((await asOperator(service, 'POST', 'accounts', { email: made })).status).toBe(201)
    await service.post('password/forgot', { identifier: made })
    const otp = await service.inbox.nextCode(made)
    const password = { password: 'another fine password', password_confirmation: 'another fine password' }
    expect((await service.post('password/reset', { identifier: made, otp, ...password })).status).toBe(200)
    const unconfirmed = newEmail()
    await asOperator(service, 'POST', 'accounts', { email: unconfirmed })
    await service.post('resend-verification', { identifier: unconfirmed })
    const confirmed = await service.post('verify-account', {
      identifier: unconfirmed,
      otp: await service.inbox.nextCode(unconfirmed),
    })
    expect(confirmed.status).toBe(201)
    expect(hook.deliveries).toEqual([])
  })

  test('about those whom an import brought in, confirmed or not', async () => {
    says({ allow: false })
    const [verified, claimed] = [newEmail(), newEmail()]
    const password = { hash: await Bun.password.hash(PASSWORD, { algorithm: 'bcrypt', cost: 4 }) }
    const records = [
      { email: verified, email_verified_at: true, password },
      { email: claimed, password },
    ]
    const { body } = await asOperator(service, 'POST', 'accounts/import', { records })
    expect(body.results).toMatchObject([{ outcome: 'imported' }, { outcome: 'imported' }])
    expect((await service.post('login', { identifier: verified, password: PASSWORD })).status).toBe(200)
    await service.resetPassword(verified, 'another fine password')
    const otp = await service.askCode('resend-verification', claimed)
    expect((await service.post('verify-account', { identifier: claimed, otp })).status).toBe(201)
    expect(await isConfirmed(claimed)).toBe(true)
    expect(hook.deliveries).toEqual([])
  })

  test('about the owner who takes an account back by an undo link', async () => {
    const [email, intruders] = [newEmail(), newEmail()]
    const { bearer } = await service.signedIn(email)
    hook.deliveries.length = 0
    says({ allow: false })
    await service.post('email/change', { email: intruders, password: PASSWORD }, { bearer })
    const otp = await service.inbox.nextCode(intruders)
    expect((await service.post('email/confirm', { otp }, { bearer })).status).toBe(200)
    await service.delivered()
    const link = /\/undo\?t=([\w-]{22})/.exec(service.inbox.textsTo(email).at(-1) ?? '')
    const undone = await fetch(`${service.url}/undo`, {
      method: 'POST',
      body: new URLSearchParams({ t: link?.[1] ?? '' }),
    })
    expect(undone.status).toBe(200)
    await service.resetPassword(email, 'another fine password')
    const back = await service.post('login', { identifier: email, password: 'another fine password' })
    expect(back.status).toBe(200)
    expect(hook.deliveries).toEqual([])
  })

  test('where none is configured', async () => {
    const { identifier, otp } = await waiting()
    expect((await free.post('verify-account', { identifier, otp })).status).toBe(201)
    expect(hook.deliveries).toEqual([])
  })
})

describe('a refusal', () => {
  test('says what the program says in the caller’s language, and the same code works afterwards', async () => {
    const { identifier, confirm } = await waiting()
    says({ allow: false, message: { en: 'Staff <b>only</b>.', fr: 'Réservé au personnel.' } })
    const said = async (language: string) => {
      const refused = await confirm({}, { 'accept-language': language })
      expectRefusal(refused, 'registration_refused')
      return refused.body.message
    }
    expect(await said('fr')).toBe('Réservé au personnel.')
    expect(await said('pt')).toBe('Staff <b>only</b>.')
    says({ allow: false, message: { fr: 'Réservé au personnel.' } })
    expect(await said('es')).toBe(
      'No se ha podido crear esta cuenta. Consulte a los responsables de este servicio.',
    )
    says({ allow: false })
    expect(await said('en')).toBe('This account could not be opened. Please ask those who run this service.')
    expect(await isConfirmed(identifier)).toBe(false)
    says({ allow: true })
    expect((await confirm()).status).toBe(201)
  })

  test('stands on the page as text, and the code that was typed is good afterwards', async () => {
    const email = newEmail()
    const browser = await openBrowser(service.url).open('/sign-up')
    await browser.press('Create an account', { identifier: email, password: PASSWORD })
    const otp = await service.inbox.nextCode(email)
    const message = `<b>${'界'.repeat(293)}</b>`
    says({ allow: false, message })
    await browser.press('Confirm', { otp })
    expect(browser.path).toBe('/confirm')
    expect(browser.html).toContain(`&lt;b&gt;${'界'.repeat(293)}&lt;/b&gt;`)
    says({ allow: true }, { status: 500 })
    await browser.press('Confirm', { otp })
    expect(browser.path).toBe('/confirm')
    says({ allow: true })
    await browser.press('Confirm', { otp })
    expect(await isConfirmed(email)).toBe(true)
  })
})

describe('without a good answer', () => {
  const good = { allow: true }
  const bad: [string, Behaviour][] = [
    ['500', { status: 500, body: JSON.stringify(good) }],
    ['201', { status: 201, body: JSON.stringify(good) }],
    ['a redirect', { status: 307, headers: { location: hook.url }, body: JSON.stringify(good) }],
    ['a broken connection', { breaks: true }],
    ['no JSON', { body: '{"allow":true' }],
    ['no word of it', { body: '{}' }],
    ['a yes in words', { body: '{"allow":"true"}' }],
    ['an unknown role', { body: '{"allow":true,"role_id":"editr"}' }],
    ['no role', { body: '{"allow":true,"role_id":null}' }],
    ['a role in digits', { body: '{"allow":true,"role_id":"7"}' }],
    ['a role that no column holds', { body: '{"allow":true,"role_id":2147483648}' }],
    ['a bad group', { body: '{"allow":true,"groups":["a b"]}' }],
    [
      '33 groups',
      { body: JSON.stringify({ ...good, groups: Array.from({ length: 33 }, (_, i) => `g${i}`) }) },
    ],
    ['metadata in a list', { body: '{"allow":true,"metadata":[]}' }],
    ['metadata with NUL', { body: '{"allow":true,"metadata":{"a":"\\u0000"}}' }],
    ['metadata of 4,100 bytes', { body: JSON.stringify({ ...good, metadata: { a: 'x'.repeat(4100) } }) }],
    ['deep metadata', { body: `{"allow":true,"metadata":{"a":${'['.repeat(500)}${']'.repeat(500)}}}` }],
    ['17 kB', { body: JSON.stringify({ ...good, more: 'x'.repeat(17_000) }) }],
    ['a long message', { body: JSON.stringify({ allow: false, message: 'x'.repeat(301) }) }],
  ]

  test('nobody comes in, nothing is written, and the code stays', async () => {
    const { identifier, confirm } = await waiting({ invitation: (await invite()).code })
    const before = await administered(identifier)
    for (const [what, behaviour] of bad) {
      hook.behave(() => behaviour)
      const { status, body, headers } = await confirm()
      const got = { what, status, code: body.code, retry: headers.get('retry-after') }
      expect(got).toEqual({ what, status: 503, code: 'unavailable', retry: '5' })
    }
    expect(hook.deliveries).toHaveLength(bad.length)
    expect(await administered(identifier)).toEqual(before)
    says(good)
    expect((await confirm()).status).toBe(201)
    expect(await administered(identifier)).toMatchObject({ role_id: 9, groups: ['guests'] })
  })

  longTest(
    '32 confirmations against a program that hangs end within eleven seconds, and others are served meanwhile',
    async () => {
      const { confirm } = await waiting()
      const person = await service.signUp(newEmail())
      hook.deliveries.length = 0
      hook.behave(() => ({ hangs: true }))
      const began = performance.now()
      const answers = race([service], () => confirm())
      await service.logIn(person)
      expect(performance.now() - began).toBeLessThan(4000)
      expect(new Set((await answers).map(({ status, body }) => `${status} ${body.code}`))).toEqual(
        new Set(['503 unavailable']),
      )
      expect(performance.now() - began).toBeLessThan(11_000)
      // Whoever waited a moment less than the first one asked once more.
      expect(hook.deliveries.length).toBeLessThanOrEqual(2)
      says(good)
      const opened = await race([service], () => confirm())
      expect(opened.filter(({ status }) => status === 201)).toHaveLength(1)
      const others = new Set(opened.filter(({ status }) => status !== 201).map(({ body }) => body.code))
      expect([...others]).toEqual(['invalid_code'])
    },
  )

  test('trying it says what it answers', async () => {
    says({ allow: false, message: `no ${hook.secret}` })
    const yes = await asOperator(service, 'POST', 'webhooks/admission/try', {})
    expect(yes.body).toMatchObject({ status: 200, accepted: true })
    expect(yes.body.steps.at(-1).text).toStartWith('http_200 {"allow":false,"message":"no ')
    expect(JSON.stringify(yes.body)).not.toContain(hook.secret)
    expect(asked()).toMatchObject([{ contact: { email: 'nobody@example.com' } }])
    says({ taken: true })
    expect((await asOperator(service, 'POST', 'webhooks/admission/try', {})).body.accepted).toBe(false)
    expectRefusal(await asOperator(free, 'POST', 'webhooks/admission/try', {}), 'webhook_not_found')
  })
})

describe.each(rareShapes)('32 confirmations at every process on %s', (shape) => {
  const { test } = testsOn(shape)
  const only = { accounts: { password: 'optional' }, admission } as never
  const first = useService({ shape, settings: only })
  const second = useReplica(first, { shape, settings: only })

  test('open one account, after one question at a time in each', async () => {
    hook.problems.length = 0
    let [underWay, most] = [0, 0]
    hook.behave(() => {
      most = Math.max(most, ++underWay)
      setTimeout(() => underWay--, 40)
      return { body: JSON.stringify({ allow: true, metadata: { plan: 'x' } }), delayMs: 50 }
    })
    const identifier = newEmail()
    await first.post('register', registration(identifier))
    const otp = await first.inbox.nextCode(identifier)
    const answers = await race([first, second], (at) => at.post('verify-account', { identifier, otp }))
    onlySuccess(answers, 'invalid_code')
    expect(most).toBeLessThanOrEqual(shape === 'embedded' ? 1 : 2)
  })
})
