/** The charges follow what is sent: every message that goes out by SMS costs one of the day, and no e-mail does. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { sentCodePurposes } from '../../src/domain/messages/codes/store.ts'
import { statement } from '../../src/platform/postgres/database.ts'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { newClient } from '../helpers/limited-service.ts'
import type { TestService } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

const purposesSent = statement<object, { purpose: string }>(
  sql`select distinct code_purpose as purpose from messages where code_purpose is not null and lane <> 2`,
)

/** Runs one call; what it took from the SMS of the day is what the gateway was given. */
async function charged<T>(service: TestService, work: () => Promise<T>): Promise<T> {
  const { limits } = service.inside.services
  const [left, sms] = [await limits.smsLeft(), service.gateway.messages.length]
  const result = await work()
  await service.delivered()
  const sent = service.gateway.messages.length - sms
  expect(left - (await limits.smsLeft())).toBe(sent)
  return result
}

const settings = {
  two_factor: { allow_email: false },
  limits: { codes_burst: 50, codes_per_hour: 100, codes_per_day: 100, owner_codes_per_hour: 100 },
}

describe('with two_factor.allow_email = false', () => {
  const service = useLimited({ settings })
  const post = (operation: string, body: unknown, bearer?: string) =>
    charged(service, () => service.post(operation, body, { ...newClient(), ...(bearer && { bearer }) }))
  const done = async (operation: string, body: unknown, bearer?: string) => {
    const answer = await post(operation, body, bearer)
    if (answer.status >= 300) throw new Error(`${operation}: ${JSON.stringify(answer.body)}`)
    return answer.body
  }

  test('every operation that sends charges the destination that it sends to', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const password = PASSWORD
    await done('register', registration(email))
    await done('resend-verification', { identifier: email })
    await done('verify-account', { identifier: email, otp: await service.newestCode(email) })
    await done('register', registration(newPhone()))
    const { access_token: bearer, account } = await done('login', { identifier: email, password })
    await done('phone/change', { phone, password }, bearer)
    await done('phone/confirm', { otp: await service.newestCode(phone) }, bearer)
    for (const identifier of [email, phone]) {
      await done('password/forgot', { identifier })
      await done('2fa/request-otp', { identifier })
      await done('2fa/request-otp', { identifier, device_fingerprint: 'unknown' })
    }
    await done('2fa/enable', { password }, bearer)
    await done('2fa/enable/confirm', { otp: await service.newestCode(phone) }, bearer)
    for (const identifier of [email, phone]) {
      const { two_factor } = await done('login', { identifier, password })
      const { login_token } = two_factor
      await done('2fa/request-otp', { identifier, login_token })
      await done('2fa/request-otp', { identifier: account.uuid, login_token })
    }
    await done('2fa/request-otp', {}, bearer)
    const otp = await service.newestCode(phone)
    await done('email/change', { email: newEmail(), password, otp }, bearer)
    const call = operatorOf(service)
    for (const send of ['email', 'sms'])
      await charged(service, () => call('POST', `accounts/${account.uuid}/access-code`, { send }))
    await charged(service, () => call('POST', 'accounts', { phone: newPhone(), invite: true }))
    const purposes = (await service.inside.database.all(purposesSent, {})).map((row) => row.purpose)
    expect(purposes.sort()).toEqual([...sentCodePurposes].sort())
  })
})
