/** Login by one-time code through HTTP: alone, and as the second factor. */
import { describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { fr } from '../../src/texts/fr.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, startService, testsOn } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

const enable = statement<{ email: string }>(
  sql`update accounts set two_factor_enabled = true where email = ${param('email', 'text')}`,
)

describe.each(racingShapes)('two factors on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape })

  const requestCode = async (identifier: string, to = identifier) => {
    const answer = await service.post('2fa/request-otp', { identifier })
    expect(answer.body).toEqual({ status: 201, message: fr.sentences.two_factor_code_sent })
    return service.inbox.nextCode(to)
  }

  async function withTwoFactors() {
    const person = await service.signUp(newEmail())
    await service.inside.database.all(enable, { email: person.identifier })
    return person
  }

  test('a code alone signs in an account without two factors', async () => {
    const { identifier } = await service.signUp(newEmail())
    const otp = await requestCode(identifier)
    const { status, body } = await service.post('2fa/verify', { identifier, otp, device_type: 'Mobile' })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['status', 'access_token', 'refresh_token', 'account'])
    expectRefusal(await service.post('2fa/verify', { identifier, otp }), 'invalid_code')
  })

  rule('a phone-only account signs in by SMS code', async () => {
    const { identifier } = await service.signUp(newPhone())
    const otp = await requestCode(identifier)
    expect((await service.post('2fa/verify', { identifier, otp })).status).toBe(200)
  })

  rule(
    'an unproved phone is answered like a proved one, and the code goes to the proved e-mail',
    async () => {
      const email = newEmail()
      const phone = newPhone()
      await service.post('register', { ...registration(email), phone })
      await service.post('verify-account', { identifier: email, otp: await service.inbox.nextCode(email) })
      const otp = await requestCode(phone, email)
      expect(service.inbox.textsTo(phone)).toEqual([])
      expect((await service.post('2fa/verify', { identifier: phone, otp })).status).toBe(200)
    },
  )

  test('with two factors the password gets no token, but a code on its way', async () => {
    const person = await withTwoFactors()
    const { status, body } = await service.post('login', person)
    expect(status).toBe(202)
    expect(body).toEqual({
      status: 202,
      code: 'two_factor_required',
      message: expect.any(String),
      two_factor: {
        methods: ['email'],
        sent_to: 'p•••@example.com',
        expires_in: 600,
        login_token: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      },
    })
    const otp = await service.inbox.nextCode(person.identifier)
    const verified = await service.post('2fa/verify', { identifier: person.identifier, otp })
    expect(verified.status).toBe(200)
    expect(verified.body.account.two_factor_enabled).toBe(true)
  })

  test('with two factors a code without the password opens nothing, and stays alive for its owner', async () => {
    const person = await withTwoFactors()
    const { identifier } = person
    const otp = await requestCode(identifier)
    const alone = await service.post('2fa/verify', { identifier, otp })
    const wrongPassword = await service.post('2fa/verify', { identifier, otp, password: 'not this one' })
    const wrongCode = await service.post('2fa/verify', { ...person, otp: '000000' })
    for (const { status, body } of [alone, wrongPassword, wrongCode]) {
      expect([status, body.code]).toEqual([422, 'invalid_code'])
    }
    expect((await service.post('2fa/verify', { ...person, otp })).status).toBe(200)
  })

  raced(
    'a code of the second step goes where its owner asks, and is right with either contact, once',
    async () => {
      const person = await service.signUp(newEmail())
      const [email, phone] = [person.identifier, newPhone()]
      const { access_token: bearer } = await service.logIn(person)
      await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
      const confirmed = { otp: await service.inbox.nextCode(phone) }
      expect((await service.post('phone/confirm', confirmed, { bearer })).status).toBe(200)
      await service.inside.database.all(enable, { email })
      const { body } = await service.post('login', person)
      expect(body.two_factor).toMatchObject({ methods: ['email', 'sms'], sent_to: 'p•••@example.com' })
      await service.inbox.nextCode(email)
      const { login_token } = body.two_factor
      // A stranger chooses nothing: their code goes to what they typed.
      await service.post('2fa/request-otp', { identifier: email, channel: 'sms' })
      await service.inbox.nextCode(email)

      await service.post('2fa/request-otp', { identifier: email, login_token, channel: 'sms' })
      const otp = await service.inbox.nextCode(phone)
      const wrong = { identifier: email, login_token, otp: otp === '000000' ? '111111' : '000000' }
      expectRefusal(await service.post('2fa/verify', wrong), 'invalid_code')
      const answers = await Promise.all(
        Array.from({ length: 32 }, (_, index) =>
          service.post('2fa/verify', { identifier: index % 2 ? email : phone, otp, login_token }),
        ),
      )
      const [signedIn, ...others] = answers.filter(({ status }) => status === 200)
      expect(others).toEqual([])
      const session = { bearer: signedIn?.body.access_token }
      await service.post('2fa/request-otp', { channel: 'sms' }, session)
      const confirmation = { password: PASSWORD, otp: await service.inbox.nextCode(phone) }
      expect((await service.post('2fa/disable', confirmation, session)).status).toBe(200)
    },
  )

  test('the first factor is remembered for ten minutes', async () => {
    const person = await withTwoFactors()
    await service.post('login', person)
    await service.inbox.nextCode(person.identifier)
    service.clock.advance(10 * 60_000 + 1000)
    const otp = await requestCode(person.identifier)
    const late = await service.post('2fa/verify', { identifier: person.identifier, otp })
    expect(late.body.code).toBe('invalid_code')
  })

  rule('a sent password must be right, also without two factors', async () => {
    const { identifier } = await service.signUp(newEmail())
    const otp = await requestCode(identifier)
    const wrong = await service.post('2fa/verify', { identifier, otp, password: 'not this one' })
    expect(wrong.body.code).toBe('invalid_code')
    expect((await service.post('2fa/verify', { identifier, otp, password: PASSWORD })).status).toBe(200)
  })

  raced('a right code in 32 parallel calls signs in exactly once', async () => {
    const { identifier } = await service.signUp(newEmail())
    const otp = await requestCode(identifier)
    const answers = await Promise.all(
      Array.from({ length: 32 }, () => service.post('2fa/verify', { identifier, otp })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  rule(
    'nobody is sent a code for an unknown or unconfirmed identifier, and the answer is the same',
    async () => {
      const waiting = newEmail()
      await service.post('register', registration(waiting))
      await service.inbox.nextCode(waiting)
      const before = await service.delivered()
      const answers = await Promise.all(
        [newEmail(), waiting, newPhone(), 'nonsense'].map((identifier) =>
          service.post('2fa/request-otp', { identifier }),
        ),
      )
      for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]!.body])
      expect(await service.delivered()).toBe(before)
    },
  )
})

test('the address for an app has no colon in the name of the service, which some apps refuse', async () => {
  await using named = await startService({ settings: { texts: { service_name: 'Acme: Login' } } })
  const { person, bearer } = await named.signedIn()
  const { body } = await named.post('2fa/totp', { password: person.password }, { bearer })
  const { searchParams, pathname } = new URL(body.otpauth_uri)
  expect(searchParams.get('issuer')).toBe('Acme Login')
  expect(decodeURIComponent(pathname)).toBe(`/Acme Login:${person.identifier}`)
}, 60_000)
