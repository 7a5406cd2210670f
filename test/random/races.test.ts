/**
 * Races in an order that is known: the account's row is held, the calls queue up for it one behind the other, and go
 * on when it is let go. And races that a walk found, many times over.
 */
import { expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { measureBelow } from '../helpers/soak.ts'
import { createSocialBrowser, useSocial } from '../helpers/social.ts'
import { waitFor } from '../helpers/wait.ts'

const { provider, service } = useSocial({ database: { pool_size: 20 } })
const browser = createSocialBrowser(service)

const NEW_PASSWORD = 'the owner chose another'
const newPassword = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }

const hold = statement<{ uuid: string }>(
  sql`select 1 from accounts where uuid = ${param('uuid', 'uuid')} for update`,
)
const lockAccount = statement<{ uuid: string }>(
  sql`update accounts set locked_at = created_at where uuid = ${param('uuid', 'uuid')}`,
)
const queued = statement<object, { count: number }>(sql`
  select count(*)::int as count from pg_stat_activity
   where datname = current_database() and wait_event_type = 'Lock'`)

/**
 * Each call begins, and waits for the row or is answered, before the next one does; `meanwhile` is committed before
 * all of them.
 */
async function inOrder(
  uuid: string,
  calls: (() => Promise<Answer>)[],
  meanwhile: typeof lockAccount | null = null,
): Promise<Answer[]> {
  const { database } = service.inside
  const answers: Promise<Answer>[] = []
  await database.transaction(
    async (transaction) => {
      await transaction.all(hold, { uuid })
      let open = 0
      for (const call of calls) {
        open++
        answers.push(call().finally(() => open--))
        const waits = async () => (await database.first(queued, {}))!.count >= open
        await waitFor(waits, { what: 'a call to wait for the account', intervalMs: 5 })
      }
      if (meanwhile !== null) await transaction.all(meanwhile, { uuid })
    },
    { noDeadline: true },
  )
  return Promise.all(answers)
}

/** Somebody signed in, like the owner and like everybody who knows the password. */
async function signedIn() {
  const { person, ...session } = await service.signedIn()
  return { ...person, ...session }
}

async function resetOf(identifier: string) {
  const otp = await service.askCode('password/forgot', identifier)
  return () => service.post('password/reset', { identifier, otp, ...newPassword })
}

const isDead = async (token: string) => expect((await service.get('me', { bearer: token })).status).toBe(401)

test('an authenticator app that is confirmed while the owner resets the password is not the account’s', async () => {
  const { identifier, password, uuid, bearer } = await signedIn()
  const { body } = await service.post('2fa/totp', { password }, { bearer })
  const otp = appCode(body.secret, service.clock.now())
  const confirm = () => service.post('2fa/totp/confirm', { otp }, { bearer })
  const [reset, confirmed] = await inOrder(uuid, [await resetOf(identifier), confirm])
  expect(reset?.status).toBe(200)
  expect(confirmed?.status).toBe(422)
  expect((await service.logIn({ identifier, password: NEW_PASSWORD })).account.two_factor_enabled).toBe(false)
})

test('two factors that are turned on while the owner resets the password stay off', async () => {
  const { identifier, password, uuid, bearer } = await signedIn()
  await service.post('2fa/enable', { password }, { bearer })
  const otp = await service.inbox.nextCode(identifier)
  const confirm = () => service.post('2fa/enable/confirm', { otp }, { bearer })
  const [reset, confirmed] = await inOrder(uuid, [await resetOf(identifier), confirm])
  expect(reset?.status).toBe(200)
  expect(confirmed!.status).toBeGreaterThanOrEqual(400)
  expect((await service.logIn({ identifier, password: NEW_PASSWORD })).account.two_factor_enabled).toBe(false)
})

test('what the stranger changes of two factors while the owner resets the password stays as it was', async () => {
  const { identifier, password, uuid, bearer } = await signedIn()
  const { body } = await service.post('2fa/totp', { password }, { bearer })
  const otp = appCode(body.secret, service.clock.now())
  const { recovery_codes } = (await service.post('2fa/totp/confirm', { otp }, { bearer })).body
  const [reset, ...late] = await inOrder(uuid, [
    await resetOf(identifier),
    () => service.post('2fa/disable', { password, otp: recovery_codes[0] }, { bearer }),
    () => service.post('2fa/recovery-codes', { password, otp: recovery_codes[2] }, { bearer }),
    () => service.post('2fa/totp', { password, otp: recovery_codes[3] }, { bearer }),
  ])
  expect(reset?.status).toBe(200)
  expect(late.map(({ status }) => status >= 400)).toEqual([true, true, true])
  const login = await service.post('login', { identifier, password: NEW_PASSWORD })
  expect(login.body.two_factor.methods).toEqual(['totp', 'recovery_code'])
  const verified = await service.post('2fa/verify', { identifier, otp: recovery_codes[1] })
  expect(verified.status).toBe(200)
})

test('what a thief began with session and password ends with the session, and the owner’s codes live on', async () => {
  const { identifier, password, uuid, bearer } = await signedIn()
  const owner = await service.logIn({ identifier, password })
  const reset = await resetOf(identifier)
  const strangers = newEmail()
  const begun = [
    () => service.post('password/change', { current_password: password, ...newPassword }, { bearer }),
    () => service.post('email/change', { email: strangers, password }, { bearer }),
    () => service.call('DELETE', '/api/v1/auth/me', { password }, { bearer }),
  ]
  const logoutAll = () => service.post('logout-all', {}, { bearer: owner.access_token })
  const answers = await inOrder(uuid, [...begun, logoutAll])
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 200])
  await service.delivered()
  expect(service.inbox.textsTo(strangers)).toEqual([])
  expect((await service.logIn({ identifier, password })).account.uuid).toBe(uuid)
  expect((await reset()).status).toBe(200)
})

for (const first of ['reset', 'confirm'] as const)
  test(`another contact that is proved while the owner resets the password, the ${first} first`, async () => {
    const race = async () => {
      const { identifier, password, uuid, bearer } = await signedIn()
      const strangers = newEmail()
      await service.post('email/change', { email: strangers, password }, { bearer })
      const otp = await service.inbox.nextCode(strangers)
      const confirm = () => service.post('email/confirm', { otp }, { bearer })
      const calls = [await resetOf(identifier), confirm]
      const beginMs = performance.now()
      const answers = await inOrder(uuid, first === 'reset' ? calls : calls.reverse())
      const tookMs = performance.now() - beginMs
      // The first holder of the account wins: a proof that came before the reset is the account's.
      expect(answers.map(({ status }) => status)).toEqual([200, 422])
      const mine = first === 'reset' ? identifier : strangers
      const kept = first === 'reset' ? NEW_PASSWORD : password
      expect((await service.post('login', { identifier: mine, password: kept })).status).toBe(200)
      return tookMs
    }
    // PostgreSQL looks for a deadlock after a second: there is none.
    expect(await measureBelow(900, race)).toBeLessThan(900)
  })

test('a way in that the stranger links while the owner resets the password opens nothing', async () => {
  const { identifier, password, uuid, bearer } = await signedIn()
  provider.present(newPerson())
  const code = await browser.obtainCode()
  const [reset, linked] = await inOrder(uuid, [
    await resetOf(identifier),
    () => service.post('identities/p1', { ...code, password }, { bearer }),
  ])
  expect([reset?.status, linked?.status]).toEqual([200, 401])
  expect((await browser.signIn()).body.account?.uuid).not.toBe(uuid)
})

test('a way in that the stranger removes while the owner resets the password stays', async () => {
  const { identifier, password, uuid, bearer } = await signedIn()
  provider.present(newPerson())
  const code = await browser.obtainCode()
  expect((await service.post('identities/p1', { ...code, password }, { bearer })).status).toBe(201)
  // Additions of a session in the last seven days are taken back by the reset.
  const text = "update identities set created_at = created_at - interval '8 days'"
  await service.inside.database.all({ text, params: [] }, {})
  const [reset, removed] = await inOrder(uuid, [
    await resetOf(identifier),
    () => service.call('DELETE', '/api/v1/auth/identities/p1', { password }, { bearer }),
  ])
  expect([reset?.status, removed?.status]).toEqual([200, 401])
  expect((await browser.signIn()).body.account?.uuid).toBe(uuid)
})

test('a session that ended before it links, of an account without password, links nothing', async () => {
  provider.present(newPerson())
  const { account, access_token: bearer, refresh_token } = (await browser.signIn()).body
  const other = (await browser.signIn()).body.access_token
  provider.present(newPerson())
  const code = await browser.obtainCode()
  const endAll = () => service.post('logout-all', {}, { bearer: other })
  let linked: Promise<Answer> | undefined
  await service.inside.database.transaction(
    async (transaction) => {
      await transaction.all(hold, { uuid: account.uuid })
      linked = service.post('identities/p1', { ...code, refresh_token }, { bearer })
      const waits = async () => (await service.inside.database.first(queued, {}))!.count >= 1
      await waitFor(waits, { what: 'the call to wait for the account', intervalMs: 5 })
      expect((await endAll()).status).toBe(200)
    },
    { noDeadline: true },
  )
  expect((await linked)?.status).toBe(401)
})

test('somebody who signs in with the old password, or a code, while it is reset gets in nowhere', async () => {
  const { identifier, password, uuid } = await signedIn()
  const otp = await service.askCode('2fa/request-otp', identifier)
  const [reset, ...late] = await inOrder(uuid, [
    await resetOf(identifier),
    () => service.post('login', { identifier, password }),
    () => service.post('2fa/verify', { identifier, otp }),
  ])
  expect(reset?.status).toBe(200)
  expect(late.map(({ status }) => status)).toEqual([401, 401])
})

test('a session that opens just before the password is reset ends with it', async () => {
  const { identifier, password, uuid } = await signedIn()
  const logIn = () => service.post('login', { identifier, password })
  const [opened, reset] = await inOrder(uuid, [logIn, await resetOf(identifier)])
  expect([opened?.status, reset?.status]).toEqual([200, 200])
  await isDead(opened?.body.access_token)
})

test('a login that was checked before the account was locked opens no session', async () => {
  const { identifier, password, uuid } = await signedIn()
  const logIn = () => service.post('login', { identifier, password })
  const [answer] = await inOrder(uuid, [logIn], lockAccount)
  expect(answer!.status).toBeGreaterThanOrEqual(400)
})

test('what comes while the account is erased finds nobody', async () => {
  const { password, uuid, bearer, refresh_token } = await signedIn()
  const { body } = await service.post('2fa/totp', { password }, { bearer })
  const otp = appCode(body.secret, service.clock.now())
  const [erased, ...late] = await inOrder(uuid, [
    () => service.call('DELETE', '/api/v1/auth/me', { password }, { bearer }),
    () => service.post('2fa/totp/confirm', { otp }, { bearer }),
    () => service.post('email/change', { email: newEmail(), password }, { bearer }),
  ])
  expect(erased?.status).toBe(200)
  expect(late.map(({ status }) => status)).toEqual([422, 401])
  expect((await service.post('refresh', { refresh_token })).status).toBe(401)
})

test('of two password changes at once the first one stands', async () => {
  const { identifier, password, uuid, bearer } = await signedIn()
  const change = (next: string) => () =>
    service.post(
      'password/change',
      { current_password: password, password: next, password_confirmation: next },
      { bearer },
    )
  const answers = await inOrder(uuid, [change(NEW_PASSWORD), change('the second of them')])
  expect(answers.map(({ status }) => status)).toEqual([200, 422])
  await service.logIn({ identifier, password: NEW_PASSWORD })
})

/** Codes in what came to that address since, the newest first. */
async function codesTo(identifier: string, asked: () => Promise<unknown>): Promise<string[]> {
  const before = service.inbox.codesTo(identifier).length
  await asked()
  // A message that is not the one any more is given up once it is not young.
  service.clock.advance(6000)
  await service.delivered()
  return service.inbox.codesTo(identifier).slice(before).reverse()
}

test('of codes that are asked for all at once, one that comes serves', async () => {
  for (let round = 0; round < 12; round++) {
    const identifier = newEmail()
    const many = (operation: string, body: object) => () =>
      Promise.all(Array.from({ length: 5 }, () => service.post(operation, body)))
    const serves = async (codes: string[], operation: string, body: object = {}) => {
      for (const otp of codes)
        if ((await service.post(operation, { identifier, otp, ...body })).status < 300) return true
      return false
    }
    const registered = await codesTo(identifier, many('register', registration(identifier)))
    const again = await codesTo(identifier, many('resend-verification', { identifier }))
    expect(registered.length).toBeGreaterThan(0)
    expect(await serves(again, 'verify-account')).toBe(true)
    const forgotten = await codesTo(identifier, many('password/forgot', { identifier }))
    expect(await serves(forgotten, 'password/reset', newPassword)).toBe(true)
    const requested = await codesTo(identifier, many('2fa/request-otp', { identifier }))
    expect(await serves(requested, '2fa/verify')).toBe(true)
  }
})

test('two who prove, at once, what the other one claims both succeed, or one is told to try again', async () => {
  for (let round = 0; round < 10; round++) {
    const [email, phone, other] = [newEmail(), newPhone(), newPhone()]
    // One is confirmed by phone and claims the e-mail address.
    await service.post('register', { ...registration(email), phone: other })
    await service.inbox.nextCode(email)
    const first = await service.askCode('resend-verification', other)
    expect((await service.post('verify-account', { identifier: other, otp: first })).status).toBe(201)
    const { access_token: bearer } = await service.logIn({ identifier: other, password: PASSWORD })
    // The other one waits for that address, and claims the phone that the first one is about to change to.
    await service.post('register', { ...registration(email), phone })
    const otp = await service.inbox.nextCode(email)
    await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
    const changed = await service.inbox.nextCode(phone)
    const answers = await Promise.all([
      service.post('verify-account', { identifier: email, otp }),
      service.post('phone/confirm', { otp: changed }, { bearer }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([201, 200])
    const owner = await service.logIn({ identifier: email, password: PASSWORD })
    expect([owner.account.email, owner.account.phone]).toEqual([email, null])
  }
})
