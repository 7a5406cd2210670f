/** Accounts that come from another system, line by line. */
import { describe, expect, test } from 'bun:test'
import { asOperator, listening, onListener } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { appCode } from '../helpers/authenticator.ts'
import { countRows, digestOf } from '../helpers/database.ts'
import made from '../helpers/foreign-digests.json'
import { useReplica, useService } from '../helpers/use-service.ts'

const passkeySettings = { rp_id: 'example.com', origins: ['https://auth.example.com'] }
const service = useService({ settings: { ...listening, passkeys: passkeySettings } })
const replica = useReplica(service)

type Line = Record<string, unknown>
const run = (records: Line[], dry_run = false, at = service) =>
  asOperator(at, 'POST', 'accounts/import', { records, dry_run })
const resultsOf = async (records: Line[], dryRun = false) => {
  const { status, body } = await run(records, dryRun)
  expect(status).toBe(200)
  return body.results as {
    outcome: string
    uuid?: string
    code?: string
    field?: string
    other?: number
    hash?: string
  }[]
}
const resultOf = async (line: Line) => (await resultsOf([line]))[0]!
const refusal = (code: string, field?: string) => ({ outcome: 'refused', code, ...(field && { field }) })
const verified = (line: Line = {}): Line => ({ email: newEmail(), email_verified_at: true, ...line })
const bcrypt = () => Bun.password.hash(PASSWORD, { algorithm: 'bcrypt', cost: 4 })
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const passkey = (id = crypto.randomUUID().replaceAll('-', '')) => ({
  ...{
    id,
    public_key: 'pQECAyYgASFYIA',
    user_handle: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    counter: 3,
  },
})

test('somebody signs in with the password of the old system, which gets a digest of our own', async () => {
  for (const { by, password, hash, ...rest } of made.filter((_, index) => index % 8 === 0)) {
    const email = newEmail()
    const fields = Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'trims'))
    const [result] = await resultsOf([verified({ email, password: { hash, ...fields } })])
    expect([by, result?.outcome]).toEqual([by, 'imported'])
    const login = (typed: string) => service.post('login', { identifier: email, password: typed })
    expect((await login(`!${password}`)).status).toBe(401)
    const { body } = await login(password)
    expect([by, body.account?.uuid]).toEqual([by, result?.uuid])
    expect(await digestOf(service, email)).toStartWith('$argon2id$')
    expect((await login(password)).status).toBe(200)
  }
})

test('every field of a line arrives', async () => {
  const uuid = crypto.randomUUID()
  const line = verified({
    ...{
      uuid,
      phone: '+33612345678',
      email_verified_at: '2020-01-02T03:04:05Z',
      role_id: 7,
      accountable_type: 'Team',
    },
    ...{
      accountable_id: 42,
      username: `Ada${uuid.slice(0, 8)}`,
      groups: ['staff', 'editors'],
      profile: { given_name: 'Ada' },
    },
    ...{
      metadata: { old: 1 },
      language: 'fr',
      locked_at: '2021-01-01T00:00:00+02:00',
      locked_reason: 'a reason',
    },
    ...{
      sign_in_count: 5,
      current_sign_in_at: '2022-01-01T00:00:00Z',
      last_sign_in_at: '2021-12-01T00:00:00Z',
    },
    ...{
      created_at: '2019-01-01T00:00:00Z',
      account_confirmed_at: '2019-01-02T00:00:00Z',
      totp: { secret: SECRET },
    },
  })
  expect(await resultOf(line)).toEqual({ outcome: 'imported', uuid })
  const { body } = await asOperator(service, 'GET', `accounts/${uuid}`)
  expect(body.account).toMatchObject({
    ...{
      uuid,
      email: line.email,
      phone: '+33612345678',
      role_id: 7,
      accountable_type: 'Team',
      accountable_id: 42,
    },
    ...{
      username: (line.username as string).toLowerCase(),
      groups: ['editors', 'staff'],
      profile: { given_name: 'Ada' },
    },
    ...{
      metadata: { old: 1 },
      language: 'fr',
      locked_at: '2020-12-31T22:00:00.000Z',
      locked_reason: 'a reason',
    },
    ...{
      sign_in_count: 5,
      current_sign_in_at: '2022-01-01T00:00:00.000Z',
      last_sign_in_at: '2021-12-01T00:00:00.000Z',
    },
    ...{ created_at: '2019-01-01T00:00:00.000Z', account_confirmed_at: '2019-01-02T00:00:00.000Z' },
    ...{ email_verified_at: '2020-01-02T03:04:05.000Z', phone_verified_at: null, two_factor_enabled: true },
  })
})

test('two factors are asked for, and the first right password has renewed the digest by then', async () => {
  const email = newEmail()
  await resultOf(verified({ email, password: { hash: await bcrypt() }, totp: { secret: SECRET } }))
  const first = await service.post('login', { identifier: email, password: PASSWORD })
  expect([first.status, first.body.two_factor.methods[0]]).toEqual([202, 'totp'])
  expect(await digestOf(service, email)).toStartWith('$argon2id$')
  const otp = appCode(SECRET, service.clock.now())
  const { login_token } = first.body.two_factor
  expect((await service.post('2fa/verify', { identifier: email, login_token, otp })).status).toBe(200)
})

test('an account that nobody confirmed waits for its first contact, as a registration does', async () => {
  const [email, phone] = [newEmail(), newPhone()]
  const { uuid } = await resultOf({ email, phone, password: { hash: await bcrypt() } })
  expect((await service.post('login', { identifier: email, password: PASSWORD })).body.code).toBe(
    'account_unconfirmed',
  )
  const { body } = await asOperator(service, 'GET', `accounts/${uuid}`)
  expect([body.account.account_confirmed, body.account.email_verified_at]).toEqual([false, null])
})

describe('a line is refused', () => {
  const future = new Date(Date.now() + 86_400_000).toISOString()
  test.each<[string, Line, string, string?]>([
    ['without a contact', { profile: { given_name: 'Ada' } }, 'no_contact', 'email'],
    ['with a field that is misspelled', verified({ e_mail: 'x' }), 'unknown_field', 'email'],
    ['with a wrong address', { email: 'nobody' }, 'invalid_value', 'email'],
    ['with a wrong number', { phone: '12' }, 'invalid_value', 'phone'],
    ['with a number for an address', { email: 5 }, 'invalid_value', 'email'],
    [
      'verified without the contact',
      { email: newEmail(), phone_verified_at: true },
      'invalid_value',
      'phone_verified_at',
    ],
    [
      'verified in words',
      { email: newEmail(), email_verified_at: 'yes' },
      'invalid_value',
      'email_verified_at',
    ],
    [
      'with a time without a zone',
      verified({ created_at: '2020-01-01T00:00:00' }),
      'invalid_value',
      'created_at',
    ],
    ['with a time in the future', verified({ created_at: future }), 'invalid_value', 'created_at'],
    ['with 31 February', verified({ locked_at: '2020-02-31T00:00:00Z' }), 'invalid_value', 'locked_at'],
    ['with a wrong uuid', verified({ uuid: '12' }), 'invalid_value', 'uuid'],
    ['with an unknown hash', verified({ password: { hash: '$2x$' } }), 'unsupported_hash', 'password'],
    [
      'with a hash that is too costly',
      verified({ password: { hash: `$2b$15$${'.'.repeat(53)}` } }),
      'hash_too_costly',
      'password',
    ],
    ['with a password in clear', verified({ password: 'secret' }), 'invalid_value', 'password'],
    ['with an unknown role', verified({ role_id: 'nobody knows' }), 'invalid_value', 'role_id'],
    ['with a negative role', verified({ role_id: -1 }), 'invalid_value', 'role_id'],
    ['with a reserved username', verified({ username: 'admin' }), 'invalid_value', 'username'],
    ['with a wrong username', verified({ username: 'a b' }), 'invalid_value', 'username'],
    ['with groups that are no list', verified({ groups: 'staff' }), 'invalid_value', 'groups'],
    [
      'with a profile that has other fields',
      verified({ profile: { shoe_size: '40' } }),
      'invalid_value',
      'profile',
    ],
    ['with metadata that are no object', verified({ metadata: [1] }), 'invalid_value', 'metadata'],
    ['with too large metadata', verified({ metadata: { a: 'x'.repeat(5000) } }), 'invalid_value', 'metadata'],
    ['with an unknown language', verified({ language: 'tlh' }), 'invalid_value', 'language'],
    ['with a count below zero', verified({ sign_in_count: -1 }), 'invalid_value', 'sign_in_count'],
    ['with a short secret', verified({ totp: { secret: 'JBSWY3DPEHPK3PX' } }), 'invalid_value', 'totp'],
    [
      'with two factors without any',
      { email: newEmail(), email_verified_at: true, two_factor_enabled: true },
      'invalid_value',
      'two_factor_enabled',
    ],
    [
      'with an app and no two factors',
      verified({ totp: { secret: SECRET }, two_factor_enabled: false }),
      'invalid_value',
      'two_factor_enabled',
    ],
    [
      'with an unknown provider',
      { identities: [{ provider: 'nobody', subject: '1' }] },
      'invalid_value',
      'identities',
    ],
    [
      'with a passkey of another site',
      verified({ passkeys: [{ ...passkey(), rp_id: 'example.org' }] }),
      'invalid_value',
      'passkeys',
    ],
    ['unconfirmed with an app', { email: newEmail(), totp: { secret: SECRET } }, 'invalid_value', 'totp'],
    ['unconfirmed with a passkey', { email: newEmail(), passkeys: [passkey()] }, 'invalid_value', 'passkeys'],
    [
      'unconfirmed with two factors',
      { email: newEmail(), two_factor_enabled: true },
      'invalid_value',
      'two_factor_enabled',
    ],
    [
      'confirmed without a contact of its own',
      { email: newEmail(), account_confirmed_at: '2020-01-01T00:00:00Z' },
      'invalid_value',
      'account_confirmed_at',
    ],
  ])('%s', async (_, line, code, field) => {
    expect(await resultOf(line)).toEqual(refusal(code, field))
  })

  test('alone: the others are in', async () => {
    const results = await resultsOf([verified(), { email: 'nobody' }, verified()])
    expect(results.map(({ outcome }) => outcome)).toEqual(['imported', 'refused', 'imported'])
  })
})

test('a line that is there already is present, and stays as it is', async () => {
  const [uuid, email, phone] = [crypto.randomUUID(), newEmail(), newPhone()]
  await resultOf({ uuid, email, phone, email_verified_at: true })
  expect(await resultOf({ uuid, email: newEmail(), email_verified_at: true })).toEqual({
    outcome: 'present',
    uuid,
  })
  expect(await resultOf({ email, email_verified_at: true })).toEqual({ outcome: 'present', uuid })
  // The phone is a mere claim there, and with another uuid it is somebody else.
  expect((await resultOf({ phone, phone_verified_at: true })).outcome).toBe('imported')
  expect(await resultOf({ uuid: crypto.randomUUID(), email, email_verified_at: true })).toEqual(
    refusal('taken', 'email'),
  )
})

test('what somebody else has is taken', async () => {
  const { identifier } = await service.signUp(newEmail())
  expect(await resultOf(verified({ email: identifier }))).toEqual(refusal('taken', 'email'))
  expect(await resultOf({ email: identifier })).toEqual(refusal('taken', 'email'))
  const username = `u${crypto.randomUUID().slice(0, 8)}`
  const passkeys = [passkey()]
  expect((await resultOf(verified({ username, passkeys }))).outcome).toBe('imported')
  expect(await resultOf(verified({ username: username.toUpperCase() }))).toEqual(refusal('taken', 'username'))
  expect(await resultOf(verified({ passkeys }))).toEqual(refusal('taken', 'passkeys'))
})

test('an erased uuid does not come back', async () => {
  const { uuid } = await resultOf(verified())
  await asOperator(service, 'DELETE', `accounts/${uuid}`)
  expect(await resultOf(verified({ uuid }))).toEqual(refusal('erased', 'uuid'))
})

test('of two lines with the same, the first one that is not refused has it, in a dry run as well', async () => {
  const email = newEmail()
  const lines = [
    { email, email_verified_at: true, username: 'no good' },
    { email, email_verified_at: true },
    { email: email.toUpperCase(), email_verified_at: true },
    { email: newEmail(), phone: newPhone(), email_verified_at: true },
  ]
  const expected = [
    refusal('invalid_value', 'username'),
    { outcome: 'imported' },
    { ...refusal('twice_in_file', 'email'), other: 1 },
    { outcome: 'imported' },
  ]
  const before = await countRows(service, 'accounts')
  expect(await resultsOf(lines, true)).toEqual(expected)
  expect(await countRows(service, 'accounts')).toBe(before)
  expect(await resultsOf(lines)).toMatchObject(expected)
})

test('a verified contact ends the claims of strangers to it', async () => {
  const email = newEmail()
  await service.post('register', { email, password: PASSWORD, password_confirmation: PASSWORD })
  const { uuid } = await resultOf({ email, email_verified_at: true, password: { hash: await bcrypt() } })
  const { body } = await service.post('login', { identifier: email, password: PASSWORD })
  expect(body.account.uuid).toBe(uuid)
})

test('a verified contact ends the claim of a line before it, in one call', async () => {
  const phone = newPhone()
  const [claim] = await resultsOf([verified({ phone }), { phone, phone_verified_at: true }])
  const { body } = await asOperator(service, 'GET', `accounts/${claim?.uuid}`)
  expect(body.account.phone).toBeNull()
})

test('of two imports at once each line is in once', async () => {
  const lines = Array.from({ length: 40 }, () =>
    verified({ username: `r${crypto.randomUUID().slice(0, 8)}` }),
  )
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => run(lines, false, index % 2 ? replica : service)),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  const outcomes = answers.map(({ body }) => body.results.map(({ outcome }: { outcome: string }) => outcome))
  for (const [at] of lines.entries())
    expect(outcomes.map((each) => each[at]).sort()).toEqual(['imported', ...Array(7).fill('present')])
})

test('32 families are the most', async () => {
  const hash = (m: number) => ({
    hash: `$argon2d$v=19$m=${m},t=1,p=1$c2FsdHNhbHRzYWx0c2FsdA$${'A'.repeat(43)}`,
  })
  const results = await resultsOf(
    Array.from({ length: 40 }, (_, index) => verified({ password: hash(64 + index) })),
    true,
  )
  const refused = results.filter(({ code }) => code === 'hash_too_costly')
  expect(refused.length).toBeGreaterThanOrEqual(8)
  expect(refused.length).toBeLessThan(40)
})

test('passwords of people who did not come are forgotten, and no others', async () => {
  const hash = await bcrypt()
  const old = verified({ password: { hash }, current_sign_in_at: '2020-01-01T00:00:00Z' })
  const never = verified({ password: { hash } })
  const recent = verified({ password: { hash }, current_sign_in_at: '2024-01-01T00:00:00Z' })
  const { identifier: own } = await service.signUp(newEmail())
  await resultsOf([old, never, recent])
  const { status, body } = await asOperator(service, 'POST', 'accounts/forget-hashes', {
    unused_since: '2022-01-01',
  })
  expect([status, body.done]).toEqual([200, true])
  const digests = await Promise.all(
    [old.email, never.email, recent.email, own].map((each) => digestOf(service, each as string)),
  )
  expect(digests.map((digest) => digest !== null)).toEqual([false, false, true, true])
  const [event] = (await asOperator(service, 'GET', 'events?type=account.updated')).body.items
  expect(event.data).toEqual({ fields: ['password'] })
})

test('only the operator may import', async () => {
  const { body } = await asOperator(service, 'POST', 'tokens', {
    name: 'script',
    scopes: ['accounts:write'],
    expires_in: '1d',
  })
  const answer = await onListener(
    service,
    'POST',
    'accounts/import',
    { records: [] },
    { headers: { authorization: `Bearer ${body.token}` } },
  )
  expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_scope'])
})

test('one event counts what was imported in an hour', async () => {
  const { body } = await asOperator(service, 'GET', 'events?type=accounts.imported')
  expect(body.items).toHaveLength(1)
  expect(body.items[0].data.count).toBeGreaterThan(50)
})
