/** Answers after a code was sent: how, for how long it is valid, when another may be asked for, and where it went. */
import { describe, expect, test } from 'bun:test'
import { fr } from '../../src/texts/fr.ts'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { newClient } from '../helpers/limited-service.ts'
import { useLimited } from '../helpers/use-service.ts'

const SECOND = 1000

describe('a code that is sent', () => {
  const service = useLimited()
  const password = PASSWORD

  const owner = async () => {
    const email = newEmail()
    return { email, ...(await service.signedIn(email)) }
  }

  test('of a forgotten password: the next is due when the answer says so, alike for everybody', async () => {
    const { email } = await owner()
    // The code of the registration counts for an hour.
    service.clock.advance(3600 * SECOND)
    for (const identifier of [email, newEmail()]) {
      const forgot = async () => (await service.post('password/forgot', { identifier }, newClient())).body
      const message = fr.sentences.password_reset_sent
      const sent = { status: 201, message, channel: 'email', expires_in: 600 }
      expect(await forgot()).toEqual({ ...sent, resend_after: 0 })
      expect(await forgot()).toEqual({ ...sent, resend_after: 0 })
      expect(await forgot()).toEqual({ ...sent, resend_after: 60 })
      service.clock.advance(59 * SECOND)
      expect(await forgot()).toMatchObject({ status: 429, retry_after: 1 })
      service.clock.advance(SECOND)
      expect(await forgot()).toEqual({ ...sent, resend_after: 60 })
      service.clock.advance(60 * SECOND)
      await forgot()
      service.clock.advance(60 * SECOND)
      // The sixth of an hour, which began 180 seconds ago.
      expect(await forgot()).toEqual({ ...sent, resend_after: 3420 })
    }
  })

  test('says from where it was asked for, if that was by the password or in a session, and to a contact of the account', async () => {
    const { bearer, email, person } = await owner()
    const device = { device_name: 'Firefox', device_type: 'browser', device_os: 'Linux' }
    await service.post('2fa/enable', { password }, { bearer })
    const otp = await service.inbox.nextCode(email)
    await service.post('2fa/enable/confirm', { otp }, { bearer })
    await service.post('login', { ...person, ...device }, newClient())
    await service.post('password/forgot', { identifier: email }, newClient())
    const other = newEmail()
    await service.post('email/change', { email: other, password }, { bearer })
    await service.inbox.nextCode(email)
    await service.inbox.nextCode(email)
    const [confirmed, enabled, login, forgotten] = service.inbox
      .textsTo(email)
      .filter((text) => /\d{6}/.test(text))
    for (const text of [enabled, login]) expect(text).toMatch(/^Adresse IP\u00a0: [\d.]+$/m)
    for (const text of [confirmed, forgotten]) {
      expect(text).toMatch(/^Date\u00a0: /m)
      expect(text).not.toContain('Adresse IP')
    }
    for (const text of service.inbox.textsTo(other)) expect(text).not.toContain('Adresse IP')
  })

  test('inside a session: also where it went, if the call does not name that', async () => {
    const { bearer, email } = await owner()
    const taken = (await owner()).email
    const sent = { status: 201, expires_in: 600, resend_after: expect.any(Number) }
    for (const to of [newEmail(), taken]) {
      const { body } = await service.post('email/change', { email: to, password }, { bearer })
      expect(body).toEqual({
        ...sent,
        message: fr.sentences.email_change_sent,
        channel: 'email',
      })
    }
    const changing = await service.post('phone/change', { phone: newPhone(), password }, { bearer })
    expect(changing.body).toEqual({ ...sent, message: expect.any(String), channel: 'sms' })
    const enabling = await service.post('2fa/enable', { password }, { bearer })
    expect(enabling.body).toMatchObject({
      ...sent,
      channel: 'email',
      sent_to: `${email[0]}•••@example.com`,
    })
  })

  test('of the second step: where it went with the login_token, and not "again" for the first of a session', async () => {
    const { person, bearer, email } = await owner()
    await service.post('2fa/enable', { password }, { bearer })
    await service.post('2fa/enable/confirm', { otp: await service.inbox.nextCode(email) }, { bearer })
    const where = {
      channel: 'email',
      expires_in: 600,
      resend_after: 0,
      sent_to: `${email[0]}•••@example.com`,
    }
    const stepUp = await service.post('2fa/request-otp', {}, { bearer })
    expect(stepUp.body).toEqual({
      status: 201,
      message: fr.sentences.code_sent_by_email,
      ...where,
    })
    const { login_token } = (await service.post('login', person, newClient())).body.two_factor
    const ask = (body: object) => service.post('2fa/request-otp', body, newClient())
    const message = fr.sentences.two_factor_code_sent
    expect((await ask({ identifier: email, login_token })).body).toEqual({ status: 201, message, ...where })
    for (const body of [{ identifier: email }, { identifier: email, login_token: 'x'.repeat(43) }])
      expect((await ask(body)).body).toEqual({ status: 201, message })
  })

  test('of a sign-in on a known device: the device ends it by asking with its fingerprint, the login_token alone does not', async () => {
    const { person, bearer, email } = await owner()
    const device_fingerprint = 'the-own-device'
    await service.post('2fa/enable', { password }, { bearer })
    await service.post('2fa/enable/confirm', { otp: await service.inbox.nextCode(email) }, { bearer })
    const login = async () => {
      const { body } = await service.post('login', { ...person, device_fingerprint }, newClient())
      return { identifier: email, login_token: body.two_factor.login_token as string }
    }
    const verify = (body: object) => service.post('2fa/verify', body, newClient())
    const first = { ...(await login()), otp: await service.inbox.nextCode(email) }
    expect((await verify({ ...first, device_fingerprint })).status).toBe(200)

    for (const own of [{}, { device_fingerprint }]) {
      const named = await login()
      const earlier = await service.inbox.nextCode(email)
      await service.post('2fa/request-otp', { ...named, ...own }, newClient())
      await service.inbox.nextCode(email)
      for (let n = 0; n < 5; n++) expect((await verify({ ...named, otp: `00000${n}` })).status).toBe(422)
      const ended = 'device_fingerprint' in own
      expect((await verify({ ...named, otp: earlier, device_fingerprint })).status).toBe(ended ? 422 : 200)
    }
  })

  test('of an operation that the first version specified: status and message, and nothing else', async () => {
    const email = newEmail()
    const calls = [
      service.post('register', registration(email), newClient()),
      service.post('resend-verification', { identifier: email }, newClient()),
      service.post('resend-confirmation', { identifier: email }, newClient()),
      service.post('2fa/request-otp', { identifier: email }, newClient()),
    ]
    for (const { body } of await Promise.all(calls))
      expect(body).toEqual({ status: 201, message: expect.any(String) })
  })
})
