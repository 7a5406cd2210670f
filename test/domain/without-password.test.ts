/** Accounts without a password: registering, coming in by a code alone, two factors, and what stays as the last way in. */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectBySentCodes } from '../helpers/authenticator.ts'
import { lockAccount, setDigest } from '../helpers/database.ts'
import { newClient, seen } from '../helpers/limited-service.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, startService, type TestService, testsOn } from '../helpers/service.ts'
import { useLimited, useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const optional = { accounts: { password: 'optional' } }
const create = { create: true }

const administered = async (service: TestService, identifier: string) =>
  (await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0]

/** Comes in by a code alone; gives the body of the answer. */
async function enter(service: TestService, identifier: string, more: object = {}) {
  const asked = await service.post('2fa/request-otp', { identifier, ...create, ...more })
  expect(asked.status).toBe(201)
  const otp = await service.inbox.nextCode(identifier)
  return service.post('2fa/verify', { identifier, otp, ...create, ...more })
}

describe.each(racingShapes)('on %s', (shape) => {
  const { test, raced } = testsOn(shape)
  const service = useService({ shape, settings: optional })

  test('a code opens the account the first time, and signs in from then on', async () => {
    for (const identifier of [newEmail(), newPhone()]) {
      const first = await enter(service, identifier)
      expect(first.status).toBe(200)
      expect(first.body.account).toMatchObject({
        password_digest: '',
        account_confirmed: true,
        sign_in_count: 1,
      })
      const claims = JSON.parse(Buffer.from(first.body.access_token.split('.')[1], 'base64url').toString())
      expect(claims.amr).toEqual(['otp'])
      const second = await enter(service, identifier)
      expect(second.body.account).toMatchObject({ uuid: first.body.account.uuid, sign_in_count: 2 })
    }
  })

  raced('of 32 callers with one code one opens the account', async () => {
    const identifier = newEmail()
    await service.post('2fa/request-otp', { identifier, ...create })
    const otp = await service.inbox.nextCode(identifier)
    const answers = await race([service], (on) => on.post('2fa/verify', { identifier, otp, ...create }))
    onlySuccess(answers, 'invalid_code', 'too_many_attempts')
  })
})

const service = useService({ settings: optional })
/** The same stores, where everybody has a password. */
const required = useReplica(service)

describe('registering without a password', () => {
  test('is possible only where it is optional, and half a password is none', async () => {
    const email = newEmail()
    expect((await service.post('register', { email })).status).toBe(201)
    expectInvalid(await required.post('register', { email }), {
      password: 'required',
      password_confirmation: 'required',
    })
    expectInvalid(await service.post('register', { email, password: PASSWORD }), {
      password_confirmation: 'required',
    })
    expectInvalid(
      await service.post('register', { email, password: 'short', password_confirmation: 'short' }),
      {
        password: 'weak_password',
      },
    )
  })

  test('verify-account with sign_in answers like a login', async () => {
    const email = newEmail()
    await service.post('register', { email })
    const otp = await service.inbox.nextCode(email)
    const body = { identifier: email, otp, sign_in: true }
    expectInvalid(await required.post('verify-account', body), { password: 'required' })
    const confirmed = await service.post('verify-account', body)
    expect(confirmed.status).toBe(201)
    expect(confirmed.body.account.email).toBe(email)
    const claims = JSON.parse(Buffer.from(confirmed.body.access_token.split('.')[1], 'base64url').toString())
    expect(claims.amr).toEqual(['otp'])
  })

  test('a profile that a stranger registered is not that of somebody who comes with create', async () => {
    const email = newEmail()
    await service.post('register', { email, profile: { name: 'Mallory' } })
    await service.inbox.nextCode(email)
    expect((await enter(service, email)).status).toBe(200)
    expect(await administered(service, email)).toMatchObject({ profile: {} })
  })

  test('two without a password are contested like two with different ones', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', { email, phone })
    await service.inbox.nextCode(email)
    await service.post('register', { email, phone })
    const otp = await service.inbox.nextCode(email)
    await service.post('verify-account', { identifier: email, otp })
    expect(await administered(service, email)).toMatchObject({ phone: null, has_password: false })
    const alone = newEmail()
    const theirs = newPhone()
    await service.post('register', { email: alone, phone: theirs })
    await service.post('verify-account', { identifier: alone, otp: await service.inbox.nextCode(alone) })
    expect(await administered(service, alone)).toMatchObject({ phone: theirs })
  })

  test('the owner sets a first password with a sign-in of a moment ago', async () => {
    const email = newEmail()
    const { body } = await enter(service, email)
    const wanted = { password: PASSWORD, password_confirmation: PASSWORD }
    const bearer = body.access_token as string
    expectRefusal(await service.post('password/change', wanted, { bearer }), 'reauthentication_required')
    const proved = { ...wanted, refresh_token: body.refresh_token }
    expect((await service.post('password/change', proved, { bearer })).status).toBe(200)
    expect((await service.logIn({ identifier: email, password: PASSWORD })).account.email).toBe(email)
  })
})

describe('create: true', () => {
  const withRules = (accounts: Record<string, unknown>) =>
    useReplica(service, { settings: { accounts: { ...optional.accounts, ...accounts } } })
  const closed = withRules({ registration: 'closed' })
  const byInvitation = withRules({ registration: 'invitation' })
  const ours = withRules({ registration_domains: ['ours.example'] })
  const terms = withRules({ terms: '2026-11' })

  test('whoever registered your address with a password and a telephone of theirs keeps neither when you come', async () => {
    for (const order of ['before', 'between', 'resent']) {
      const [email, phone] = [newEmail(), newPhone()]
      const attack = () =>
        service.post('register', { ...registration(email, 'the attacker’s password'), phone })
      if (order !== 'between') await attack()
      if (order === 'resent') await service.post('resend-verification', { identifier: email })
      else await service.post('2fa/request-otp', { identifier: email, ...create })
      if (order === 'between') await attack()
      const otp = await service.newestCode(email)
      const entered = await service.post('2fa/verify', { identifier: email, otp, ...create })
      expect([order, entered.status]).toEqual([order, 200])
      expect(entered.body.account).toMatchObject({ phone: null, password_digest: '' })
      const theirs = { identifier: email, password: 'the attacker’s password' }
      expectRefusal(await service.post('login', theirs), 'invalid_credentials')
    }
  })

  test('whoever registered your address with an invitation of theirs gives you nothing of it', async () => {
    const theirs = (await asOperator(service, 'POST', 'invitations', { groups: ['attackers'], uses: 9 })).body
    const mine = (await asOperator(service, 'POST', 'invitations', { groups: ['mine'] })).body
    const email = newEmail()
    await byInvitation.post('register', { email, invitation: theirs.code })
    await service.inbox.nextCode(email)
    await byInvitation.post('2fa/request-otp', { identifier: email, ...create, invitation: mine.code })
    const otp = await service.inbox.nextCode(email)
    const body = { identifier: email, otp, ...create, invitation: mine.code }
    expect((await byInvitation.post('2fa/verify', body)).status).toBe(200)
    expect(await administered(service, email)).toMatchObject({ groups: ['mine'] })
    const list = (await asOperator(service, 'GET', 'invitations')).body.items as {
      id: string
      used: number
    }[]
    expect(list.find(({ id }) => id === theirs.id)?.used).toBe(0)
  })

  test('an invitation that only the request named is used where nobody else came', async () => {
    const { code } = (await asOperator(service, 'POST', 'invitations', { groups: ['staff'] })).body
    const identifier = newEmail()
    await byInvitation.post('2fa/request-otp', { identifier, ...create, invitation: code })
    const otp = await service.inbox.nextCode(identifier)
    expect((await byInvitation.post('2fa/verify', { identifier, otp, ...create })).status).toBe(200)
    expect(await administered(service, identifier)).toMatchObject({ groups: ['staff'] })
  })

  test('what could open nothing is no refusal, sends a newcomer nothing, and lets people in', async () => {
    const known = newEmail().replace('example.com', 'elsewhere.example')
    const { account } = (await enter(service, known)).body
    const wrong = { invitation: 'AAAA-AAAA-AAAA-AAAA' }
    const cases: [TestService, object, () => string][] = [
      [closed, {}, newEmail],
      [closed, wrong, newEmail],
      [byInvitation, {}, newEmail],
      [byInvitation, wrong, newEmail],
      [service, wrong, newEmail],
      [ours, {}, newEmail],
      [ours, {}, newPhone],
    ]
    for (const [on, more, newcomer] of cases) {
      const before = await service.delivered()
      const unknown = await on.post('2fa/request-otp', { identifier: newcomer(), ...create, ...more })
      expect(await service.delivered()).toBe(before)
      const knownAnswer = await on.post('2fa/request-otp', { identifier: known, ...create, ...more })
      expect([unknown.status, unknown.body]).toEqual([knownAnswer.status, knownAnswer.body])
      const otp = await service.inbox.nextCode(known)
      const entered = await on.post('2fa/verify', { identifier: known, otp, ...create })
      expect(entered.body.account?.uuid).toBe(account.uuid)
    }
  })

  test('what changed until 2fa/verify is refused there, after the right code, and the registration stays', async () => {
    for (const [on, code] of [
      [closed, 'registration_closed'],
      [byInvitation, 'registration_closed'],
      [ours, 'domain_not_allowed'],
    ] as const) {
      const identifier = newEmail()
      await service.post('2fa/request-otp', { identifier, ...create })
      const otp = await service.inbox.nextCode(identifier)
      expectRefusal(await on.post('2fa/verify', { identifier, otp: '000000', ...create }), 'invalid_code')
      expectRefusal(await on.post('2fa/verify', { identifier, otp, ...create }), code)
      await service.post('2fa/request-otp', { identifier, ...create })
      const again = await service.inbox.nextCode(identifier)
      expect((await service.post('2fa/verify', { identifier, otp: again, ...create })).status).toBe(200)
    }
  })

  test('invitation and terms of the call are looked at before the code, alike for everybody', async () => {
    const known = newEmail()
    await enter(service, known)
    for (const identifier of [known, newEmail()]) {
      const body = { identifier, otp: '000000', ...create }
      const wrong = { ...body, invitation: 'AAAA-AAAA-AAAA-AAAA' }
      expectRefusal(await service.post('2fa/verify', wrong), 'invalid_invitation')
      expectRefusal(await closed.post('2fa/verify', wrong), 'registration_closed')
      expectRefusal(await terms.post('2fa/verify', body), 'terms_required')
      expectRefusal(await terms.post('2fa/verify', { ...body, terms: '2026-11' }), 'invalid_code')
    }
    const identifier = newEmail()
    await terms.post('2fa/request-otp', { identifier, ...create })
    const otp = await service.inbox.nextCode(identifier)
    const entered = await terms.post('2fa/verify', { identifier, otp, ...create, terms: '2026-11' })
    const me = await service.get('me', { bearer: entered.body.access_token })
    expect(me.body.terms_version).toBe('2026-11')
  })

  test('an identifier means who verified it, never who merely names it', async () => {
    const [claimer, claimed] = [newEmail(), newPhone()]
    await service.post('register', { ...registration(claimer), phone: claimed })
    await service.post('verify-account', { identifier: claimer, otp: await service.inbox.nextCode(claimer) })
    const entered = await enter(service, claimed)
    expect(entered.body.account).toMatchObject({ phone: claimed, email: null })
    expect((await administered(service, claimer)).phone).toBeNull()
  })

  test('an account that was made for somebody is opened by its code, and nobody replaces it', async () => {
    const email = newEmail()
    const made = await asOperator(service, 'POST', 'accounts', { email, role_id: 5 })
    const before = await service.delivered()
    await closed.post('2fa/request-otp', { identifier: email, ...create })
    expect(await service.delivered()).toBe(before)
    const inOpen = await enter(service, email)
    expect(inOpen.body.account).toMatchObject({ uuid: made.body.account.uuid, role_id: 5 })
  })

  test('without accounts.password = "optional" it is not there', async () => {
    const identifier = newEmail()
    const before = await service.delivered()
    expect((await required.post('2fa/request-otp', { identifier, ...create })).status).toBe(201)
    expect(await service.delivered()).toBe(before)
    expectRefusal(await required.post('2fa/verify', { identifier, otp: '000000', ...create }), 'invalid_code')
  })
})

describe('two factors without a password', () => {
  const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

  async function signedIn(identifier = newEmail()) {
    const { body } = await enter(service, identifier)
    return { identifier, bearer: body.access_token as string, proof: { refresh_token: body.refresh_token } }
  }

  async function addApp({ bearer, proof }: { bearer: string; proof: object }) {
    const { secret } = (await service.post('2fa/totp', proof, { bearer })).body
    const otp = appCode(secret, service.clock.now())
    expect((await service.post('2fa/totp/confirm', { otp }, { bearer })).status).toBe(200)
    service.clock.advance(PERIOD_MS)
    return () => appCode(secret, service.clock.now())
  }

  /** Types the code that comes to the contact, without a `login_token`. */
  async function firstCode(identifier: string) {
    const otp = await service.askCode('2fa/request-otp', identifier)
    return service.post('2fa/verify', { identifier, otp })
  }

  test('codes by message cannot be turned on as the second factor, with one contact or two', async () => {
    const { bearer, proof } = await signedIn()
    expectRefusal(await service.post('2fa/enable', proof, { bearer }), 'no_other_factor')
    const phone = newPhone()
    await service.post('phone/change', { phone, ...proof }, { bearer })
    await service.post('phone/confirm', { otp: await service.inbox.nextCode(phone) }, { bearer })
    expectRefusal(await service.post('2fa/enable', proof, { bearer }), 'no_other_factor')
    expectRefusal(await service.post('2fa/enable/confirm', { otp: '000000' }, { bearer }), 'no_other_factor')
  })

  test('the first code answers 202, and the app signs in; no second code is sent', async () => {
    const person = await signedIn()
    const code = await addApp(person)
    const { identifier } = person
    const due = await firstCode(identifier)
    expect(due.status).toBe(202)
    expect(due.body.two_factor).toMatchObject({ methods: ['totp', 'recovery_code'], sent_to: null })
    const { login_token } = due.body.two_factor
    expectRefusal(await service.post('2fa/request-otp', { identifier, login_token }), 'use_another_method')
    // Neither is a code of the app the first factor, nor a recovery code.
    expectRefusal(await service.post('2fa/verify', { identifier, otp: code() }), 'invalid_code')
    const done = await service.post('2fa/verify', { identifier, otp: code(), login_token })
    expect(claimsOf(done.body.access_token).amr).toEqual(['otp', 'mfa'])
  })

  test('an account that turned codes on before signs in by one, and by two factors once it has an app', async () => {
    const { identifier } = (await protectBySentCodes(service)).person
    await setDigest(service, identifier, null)
    const done = await firstCode(identifier)
    expect(done.status).toBe(200)
    expect(claimsOf(done.body.access_token).amr).toEqual(['otp'])
    const bearer = done.body.access_token as string
    const proof = { refresh_token: done.body.refresh_token }
    expectRefusal(await service.post('2fa/totp', proof, { bearer }), 'two_factor_required')
    await service.post('2fa/request-otp', {}, { bearer })
    const otp = await service.inbox.nextCode(identifier)
    const code = await addApp({ bearer, proof: { ...proof, otp } })
    const due = await firstCode(identifier)
    expect(due.body.two_factor.methods).toEqual(['totp', 'recovery_code'])
    const { login_token } = due.body.two_factor
    expect((await service.post('2fa/verify', { identifier, otp: code(), login_token })).status).toBe(200)
  })

  test('the last verified contact of an account without a password stays', async () => {
    const { body } = await enter(service, newEmail())
    const proof = { refresh_token: body.refresh_token }
    const bearer = body.access_token as string
    expectRefusal(
      await service.call('DELETE', '/api/v1/auth/email', proof, { bearer }),
      'last_sign_in_method',
    )
  })
})

test('start and doctor count whoever has no other way in where codes.login is turned off', async () => {
  const service = await startService({ settings: optional })
  let without: TestService | null = null
  try {
    await enter(service, newEmail())
    await service.signUp(newEmail())
    const { storage, clock } = service
    without = await startService({ storage, clock, settings: { codes: { login: false } } })
    const warned = () => without!.log.find((line) => line.includes('1 accounts have no way in'))
    await waitFor(warned, { what: 'the warning of the start' })
    const findingOf = async (at: TestService) =>
      (await asOperator(at, 'GET', 'doctor')).body.findings.find(
        ({ name }: { name: string }) => name === 'ways-in',
      )
    expect(await findingOf(without)).toMatchObject({ level: 'warning' })
    expect(await findingOf(service)).toMatchObject({ level: 'ok' })
  } finally {
    await without?.close()
    await service.close()
  }
})

describe('with limits on', () => {
  const service = useLimited({ settings: { ...optional, limits: { codes_per_day: 1000 } } })

  test('nobody can tell who has an account, call after call, and when a limit answers', async () => {
    const [unknown, known, waiting, locked, contested, claimed] = Array.from({ length: 6 }, newEmail) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    await service.signUp(known)
    await service.post('register', registration(waiting), newClient())
    await service.signUp(locked)
    await lockAccount(service, locked, new Date())
    for (const password of [PASSWORD, 'the other password'])
      await service.post('register', registration(contested, password), newClient())
    const { identifier: other } = await service.signUp(newEmail())
    const { uuid } = await administered(service, other)
    await asOperator(service, 'PUT', `accounts/${uuid}/email`, { value: claimed })
    service.clock.advance(3_600_000)
    const shown: Record<string, unknown[]> = {}
    for (const [kind, identifier] of Object.entries({
      unknown,
      known,
      waiting,
      locked,
      contested,
      claimed,
    })) {
      const client = newClient()
      const answers: unknown[] = []
      for (let i = 0; i < 6; i++)
        answers.push(seen(await service.post('2fa/request-otp', { identifier, ...create }, client)))
      for (let i = 0; i < 24; i++)
        answers.push(
          seen(await service.post('2fa/verify', { identifier, otp: '000000', ...create }, newClient())),
        )
      shown[kind] = answers
    }
    for (const answers of Object.values(shown)) expect(answers).toEqual(shown.unknown!)
  })
})
