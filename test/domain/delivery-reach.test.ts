/** Callers learn at once if nothing could be sent, alike for known and unknown identifiers. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { statement } from '../../src/platform/postgres/database.ts'
import { newEmail, newPhone, registration } from '../helpers/api-client.ts'
import type { LogInAnswer } from '../helpers/authenticator.ts'
import { seen } from '../helpers/limited-service.ts'
import { startService } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

const emailOnly = { sms: { gateways: [] } }
const gateway = {
  name: 'ivorian',
  url: 'http://127.0.0.1:9',
  body: { to: '{to}', text: '{text}' },
  prefixes: ['+225'],
}

const service = useService()

describe('with a mail server only', () => {
  const service = useService({ settings: emailOnly })

  test('every call that would send to a number answers 422 channel_not_available', async () => {
    const [phone, person] = [newPhone(), await service.signUp(newEmail())]
    await service.inside.database.all(
      statement(
        sql.raw(
          `update accounts set phone = '${phone}', phone_confirmed_at = now() where email = '${person.identifier}'`,
        ),
      ),
      {},
    )
    const { access_token: bearer } = await service.logIn(person)
    for (const identifier of [phone, newPhone()]) {
      const answers = [
        await service.post('register', registration(identifier)),
        await service.post('resend-verification', { identifier }),
        await service.post('resend-confirmation', { identifier }),
        await service.post('password/forgot', { identifier }),
        await service.post('2fa/request-otp', { identifier }),
      ]
      for (const answer of answers)
        expect(answer.body).toMatchObject({ status: 422, code: 'channel_not_available' })
    }
    const change = await service.post(
      'phone/change',
      { phone: newPhone(), password: person.password },
      { bearer },
    )
    expect(change.body).toMatchObject({ status: 422, code: 'channel_not_available' })
  })

  test('the answer is the same for a known number and an unknown one', async () => {
    const known = newPhone()
    await service.inside.database.all(
      statement(
        sql.raw(
          `update accounts set phone = '${known}', phone_confirmed_at = now() where id = (select min(id) from accounts)`,
        ),
      ),
      {},
    )
    const [one, other] = [
      await service.post('password/forgot', { identifier: known }),
      await service.post('password/forgot', { identifier: newPhone() }),
    ]
    expect(seen(one)).toEqual(seen(other))
  })

  test('e-mail goes out as ever', async () => {
    expect((await service.post('register', registration(newEmail()))).status).toBe(201)
  })
})

test('with a gateway for other numbers only, a number that no gateway covers is refused', async () => {
  await using service = await startService({ settings: { sms: { gateways: [gateway] } } })
  expect((await service.post('register', registration(newPhone()))).body.code).toBe('channel_not_available')
  expect((await service.post('register', registration('+2250707000001'))).status).toBe(201)
})

describe('numbers whose type takes no SMS', () => {
  const numbers = [
    ['a French landline', '+33142278186'],
    ['a French premium number', '+33899701234'],
    ['a French shared-cost number', '+33810123456'],
    ['a French toll-free number', '+33800123456'],
    ['a German premium number', '+499009123456'],
    ['an Ivorian landline', '+2252720201234'],
    ['an American toll-free number', '+18005551234'],
    ['a British pager', '+447600123456'],
    ['an international toll-free number', '+80012345678'],
  ] as const
  const fieldsOf = ({ status, body }: { status: number; body: { errors?: object[] } }) => ({
    status,
    errors: body.errors?.map((error) => ({ ...error, message: '' })),
  })
  const refused = { status: 422, errors: [{ field: 'phone', code: 'invalid_phone', message: '' }] }

  describe('without a voice gateway', () => {
    let owner: LogInAnswer
    beforeAll(async () => {
      owner = await service.signedIn()
    })

    test.each(numbers)(
      '%s is refused at registration, at a change, and beside an e-mail address',
      async (_, phone) => {
        const { bearer, person } = owner
        const { password } = person
        expect(fieldsOf(await service.post('register', registration(phone)))).toEqual(refused)
        const both = { ...registration(newEmail()), phone }
        expect(fieldsOf(await service.post('register', both))).toEqual(refused)
        expect(fieldsOf(await service.post('phone/change', { phone, password }, { bearer }))).toEqual(refused)
      },
    )

    test.each([
      ['mobile', '+2250707000001'],
      ['landline or mobile', '+12015550123'],
      ['personal', '+447012345678'],
      ['VoIP', '+33912345678'],
    ])('one of the type %s is not', async (_, phone) => {
      expect((await service.post('register', registration(phone))).status).toBe(201)
    })

    test('an account that has one keeps it, signs in by it, and its calls are answered like an unknown one', async () => {
      const [known, unknown] = ['+33142278187', '+33142278188']
      const { identifier: email, password } = await service.signUp(newEmail())
      await service.inside.database.all(
        statement(
          sql.raw(
            `update accounts set phone = '${known}', phone_confirmed_at = now() where email = '${email}'`,
          ),
        ),
        {},
      )
      expect((await service.post('login', { identifier: known, password })).status).toBe(200)
      for (const path of ['password/forgot', '2fa/request-otp', 'resend-verification']) {
        const [one, other] = [
          await service.post(path, { identifier: known }),
          await service.post(path, { identifier: unknown }),
        ]
        expect(seen(one)).toEqual(seen(other))
      }
    })
  })

  test('one that a voice gateway covers is called', async () => {
    const voice = {
      name: 'caller',
      url: service.gateway.url,
      body: { to: '{to}', text: '{text}' },
      channel: 'voice',
      prefixes: ['+331'],
    }
    await using calling = await startService({ settings: { sms: { gateways: [voice] } } })
    expect((await calling.post('register', registration('+33142278186'))).status).toBe(201)
    await service.gateway.waitForSms('+33142278186')
    expect(fieldsOf(await calling.post('register', registration('+33899701234')))).toEqual(refused)
  })
})

test('the log joins a message to its request and account, and names a gateway that refused before another one', async () => {
  const first = { name: 'acme', url: 'http://127.0.0.1:9/send', body: { to: '{to}', text: '{text}' } }
  const second = { name: 'beta', url: service.gateway.url, body: { to: '{to}', text: '{text}' } }
  await using both = await startService({ settings: { sms: { gateways: [first, second] } } })
  const phone = newPhone()
  const { headers } = await both.post('register', registration(phone))
  await service.gateway.waitForSms(phone)
  await both.delivered()
  const lines = both.log.map((line) => JSON.parse(line))
  const request_id = headers.get('x-request-id')
  const account = expect.stringMatching(/^[0-9a-f-]{36}$/)
  expect(lines).toContainEqual(
    expect.objectContaining({
      request_id,
      account,
      outcome: 'failed',
      gateway: 'acme',
      detail: 'connection',
    }),
  )
  expect(lines).toContainEqual(
    expect.objectContaining({ request_id, account, outcome: 'sent', detail: 'beta', msg: 'message' }),
  )
})

test('a notice names the device of the session that caused it', async () => {
  const { person, bearer } = await service.signedIn(newEmail(), { device_name: 'Ada’s phone' })
  const body = {
    current_password: person.password,
    password: 'another horse battery',
    password_confirmation: 'another horse battery',
  }
  expect((await service.post('password/change', body, { bearer, language: 'en' })).status).toBe(200)
  await service.delivered()
  const notice = service.inbox.textsTo(person.identifier).at(-1)
  expect(notice).toContain('Ada’s phone')
  expect(notice).toMatch(/UTC/)
})
