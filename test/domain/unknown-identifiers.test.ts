/** What is no identifier at all is looked up, counted and answered as one that nobody has. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { newClient, seen, startLimited } from '../helpers/limited-service.ts'
import type { TestService } from '../helpers/service.ts'

setDefaultTimeout(60_000)

let service: TestService
beforeAll(async () => {
  service = await startLimited()
})
afterAll(() => service.close())

const calls = [
  ['resend-verification', {}, 5],
  ['password/forgot', {}, 5],
  ['2fa/request-otp', {}, 5],
  ['verify-account', { otp: '123456' }, 22],
  ['2fa/verify', { otp: '123456' }, 22],
  ['2fa/verify', { otp: '123456', password: 'not this one' }, 12],
  ['password/reset', { otp: '123456', password: PASSWORD, password_confirmation: PASSWORD }, 22],
  ['login', { password: PASSWORD }, 12],
] as const

test.each(calls)('%s %j, %d times', async (operation, body, times) => {
  const unknown = newEmail()
  const none = `none ${crypto.randomUUID()}`
  for (let call = 0; call < times; call++) {
    const ask = (identifier: string) => service.post(operation, { identifier, ...body }, newClient())
    const [expected, answer] = [await ask(unknown), await ask(none)]
    expect(seen(answer)).toEqual(seen(expected))
  }
  const last = await service.post(operation, { identifier: none.toUpperCase(), ...body }, newClient())
  expect(last.status).toBe(429)
  expect(await service.delivered()).toBe(0)
})
