/** Each group of callers asks for codes on counters of its own, and has a live code of its own. */
import { expect, test } from 'bun:test'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { protectBySentCodes } from '../helpers/authenticator.ts'
import { from, newClient } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useLimited } from '../helpers/use-service.ts'

const service = useLimited()
const MINUTE = 60_000
const known = { device_fingerprint: 'signed in before' }

async function ownerWith(factors: 1 | 2) {
  const identifier = newEmail()
  if (factors === 2) await protectBySentCodes(service, identifier)
  else await service.signUp(identifier)
  service.clock.advance(2 * MINUTE)
  const body = { identifier, password: PASSWORD, ...known }
  const first = await service.post('login', body, newClient())
  if (factors === 2) {
    const otp = await service.newestCode(identifier)
    const { login_token } = first.body.two_factor
    await service.post('2fa/verify', { identifier, otp, login_token, ...known }, newClient())
  }
  service.clock.advance(2 * MINUTE)
  return identifier
}

/** It makes as many calls as are refused next. */
async function exhaust(call: () => ReturnType<typeof service.post>) {
  for (let calls = 0; calls < 40; calls++) if ((await call()).status === 429) return
  throw new Error('40 calls passed')
}

test('a login token asks for codes where strangers have used up those of the identifier', async () => {
  const identifier = await ownerWith(2)
  await exhaust(() => service.post('2fa/request-otp', { identifier }, newClient()))
  const login = await service.post('login', { identifier, password: PASSWORD }, newClient())
  const { login_token } = login.body.two_factor
  const asked = await service.post('2fa/request-otp', { identifier, login_token }, newClient())
  expect([login.body.two_factor.methods, asked.status]).toEqual([['email', 'recovery_code'], 201])
  const otp = await service.newestCode(identifier)
  expect((await service.post('2fa/verify', { identifier, otp, login_token }, newClient())).status).toBe(200)
})

test('somebody with the password is sent ten codes a day, and an owner on a known device has their own then', async () => {
  const identifier = await ownerWith(2)
  const logIn = async (fields: object = {}) =>
    (await service.post('login', { identifier, password: PASSWORD, ...fields }, newClient())).body.two_factor
  // The first of ten went out before the device was known.
  for (let n = 0; n < 9; n++) expect((await logIn()).methods).toEqual(['email', 'recovery_code'])
  expect((await logIn()).methods).toEqual(['recovery_code'])
  expect((await logIn(known)).methods).toEqual(['email', 'recovery_code'])
})

test('a login token of somebody else, or a wrong one, pays as a stranger', async () => {
  const [identifier, other] = [await ownerWith(2), await ownerWith(2)]
  const login = await service.post('login', { identifier: other, password: PASSWORD }, newClient())
  await exhaust(() => service.post('2fa/request-otp', { identifier }, newClient()))
  for (const login_token of [login.body.two_factor.login_token, 'x'.repeat(43)]) {
    const asked = await service.post('2fa/request-otp', { identifier, login_token }, newClient())
    expectRefusal(asked, 'too_many_requests')
  }
})

test.each(['2fa/request-otp', 'password/forgot', 'resend-verification', 'resend-confirmation'])(
  '%s: a known device passes where its address asked for too many codes, another one does not',
  async (operation) => {
    const identifier = await ownerWith(1)
    const shared = from(`198.51.100.${operation.length}`)
    await exhaust(() => service.post('password/forgot', { identifier: newEmail() }, shared))
    const ask = (fields: object) => service.post(operation, { identifier, ...fields }, shared)
    expect((await ask({})).status).toBe(429)
    expect((await ask({ device_fingerprint: 'another one' })).status).toBe(429)
    expect((await ask(known)).status).toBe(201)
  },
)

test('wrong codes of strangers neither kill the code of a known device nor close its day', async () => {
  const identifier = await ownerWith(1)
  const asked = await service.post('password/forgot', { identifier, ...known }, newClient())
  const otp = await service.newestCode(identifier)
  const fields = { identifier, password: PASSWORD, password_confirmation: PASSWORD }
  for (let n = 0; n < 21; n++) await service.post('password/reset', { ...fields, otp: '000000' }, newClient())
  const reset = await service.post('password/reset', { ...fields, otp, ...known }, newClient())
  expect([asked.status, reset.status]).toEqual([201, 200])
})
