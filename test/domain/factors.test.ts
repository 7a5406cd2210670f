/** Turning two factors on and off through HTTP, by sent codes and by authenticator app. */
import { describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { fr } from '../../src/texts/fr.ts'
import { newEmail, newPhone, PASSWORD, type Person, registration } from '../helpers/api-client.ts'
import {
  appCode,
  type LogInAnswer,
  logInWithApp,
  PERIOD_MS,
  protectByApp,
  protectBySentCodes,
  readQr,
} from '../helpers/authenticator.ts'
import { noon } from '../helpers/limited-service.ts'
import { createPasskey } from '../helpers/passkey-authenticator.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { deliverySettings, racingShapes, startService, testsOn } from '../helpers/service.ts'
import { use, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const RECOVERY_CODE = /^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/

const LOGIN_TOKEN = /^[A-Za-z0-9_-]{43}$/

const wrongPassword = {
  status: 422,
  code: 'validation_failed',
  errors: [{ field: 'password', code: 'wrong_password' }],
}

describe.each(racingShapes)('two factors on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape, clock: noon() })

  test('go by the contact of the kind that the call names, where it is verified', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', { ...registration(email), phone })
    await service.post('verify-account', { identifier: email, otp: await service.inbox.nextCode(email) })
    const { access_token: bearer } = await service.logIn({ identifier: email, password: PASSWORD })
    const enable = (method?: string) => service.post('2fa/enable', { password: PASSWORD, method }, { bearer })
    expectRefusal(await enable('sms'), 'no_verified_contact')
    expectRefusal(await enable('totp'), 'validation_failed')
    await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
    await service.post('phone/confirm', { otp: await service.inbox.nextCode(phone) }, { bearer })
    expect((await enable('email')).body).toMatchObject({ channel: 'email' })
    const mailed = await service.inbox.nextCode(email)
    const asked = await enable('sms')
    expect(asked.body).toMatchObject({ status: 201, channel: 'sms' })
    const otp = await service.inbox.nextCode(phone)
    // Only the newer code lives.
    if (mailed !== otp)
      expectRefusal(await service.post('2fa/enable/confirm', { otp: mailed }, { bearer }), 'invalid_code')
    expect((await service.post('2fa/enable/confirm', { otp }, { bearer })).body.recovery_codes).toHaveLength(
      10,
    )
  })

  const password = PASSWORD
  const now = () => service.clock.now()
  const me = async (bearer: string) => (await service.get('me', { bearer })).body.account
  const noticed = (to: string, words: RegExp) =>
    waitFor(() => service.inbox.textsTo(to).some((text) => words.test(text)), { what: `${words} to ${to}` })
  /** By one of 32 callers, and the recovery codes it was shown are those that serve. */
  async function confirmedOnce(operation: string, otp: string, { person, bearer }: LogInAnswer) {
    const answers = await race([service], () => service.post(operation, { otp }, { bearer }))
    const { body } = onlySuccess(answers, 'invalid_code', 'too_many_attempts', 'two_factor_already_enabled')
    expect((await me(bearer)).two_factor_enabled).toBe(true)
    const verified = await service.post('2fa/verify', { ...person, otp: body.recovery_codes[0] })
    expect(verified.status).toBe(200)
    await service.delivered()
    const notices = service.inbox
      .textsTo(person.identifier)
      .filter((text) => text.includes('Double authentification activée'))
    expect(notices).toHaveLength(1)
  }

  describe('by sent codes', () => {
    test('turn on with the password and a code, and give ten recovery codes once', async () => {
      const email = newEmail()
      const { bearer } = await service.signedIn(email)
      const asked = await service.post('2fa/enable', { password }, { bearer, language: 'en' })
      expect(asked.body).toEqual({
        status: 201,
        message: 'A 6-digit code has been sent to you to turn on two-factor sign-in.',
        channel: 'email',
        sent_to: 'p•••@example.com',
        expires_in: 600,
        resend_after: 0,
      })
      expect((await me(bearer)).two_factor_enabled).toBe(false)
      const otp = await service.inbox.nextCode(email)
      const confirmed = await service.post('2fa/enable/confirm', { otp }, { bearer })
      expect(confirmed.body).toEqual({ status: 200, recovery_codes: expect.any(Array) })
      const codes: string[] = confirmed.body.recovery_codes
      expect(codes.filter((code) => RECOVERY_CODE.test(code))).toHaveLength(10)
      expect(new Set(codes).size).toBe(10)
      expect((await me(bearer)).two_factor_enabled).toBe(true)
      expect((await service.post('login', { identifier: email, password })).body.two_factor).toEqual({
        methods: ['email', 'recovery_code'],
        sent_to: 'p•••@example.com',
        expires_in: 600,
        login_token: expect.stringMatching(LOGIN_TOKEN),
      })
      await noticed(email, /Double authentification activée/)
    })

    rule('need the password in the call, which counts like one at login', async () => {
      const { bearer, person } = await service.signedIn()
      const before = await service.delivered()
      for (const operation of ['2fa/enable', '2fa/totp', '2fa/recovery-codes']) {
        const wrong = await service.post(operation, { password: 'not this one' }, { bearer })
        expect(wrong.body).toMatchObject(wrongPassword)
      }
      const wrong = await service.post('2fa/disable', { password: 'no', otp: '000000' }, { bearer })
      expect(wrong.body).toMatchObject(wrongPassword)
      expect((await me(bearer)).failed_attempts).toBe(4)
      expect(await service.delivered()).toBe(before)
      expect(service.inbox.textsTo(person.identifier)).toHaveLength(1)
    })

    rule('do not turn on by a code for something else, a wrong one, or without having asked', async () => {
      const email = newEmail()
      const { bearer } = await service.signedIn(email)
      const confirm = (otp: string) => service.post('2fa/enable/confirm', { otp }, { bearer })
      expectRefusal(await confirm('123456'), 'invalid_code')
      await service.post('2fa/request-otp', { identifier: email })
      expectRefusal(await confirm(await service.inbox.nextCode(email)), 'invalid_code')
      await service.post('2fa/enable', { password }, { bearer })
      const otp = await service.inbox.nextCode(email)
      expectRefusal(await service.post('2fa/verify', { identifier: email, otp }), 'invalid_code')
      expectRefusal(await service.post('2fa/totp/confirm', { otp }, { bearer }), 'invalid_code')
      service.clock.advance(10 * 60_000 + 1000)
      expectRefusal(await confirm(otp), 'invalid_code')
      expect((await me(bearer)).two_factor_enabled).toBe(false)
    })

    rule('work by SMS for an account that has a phone only', async () => {
      const phone = newPhone()
      const { person } = await protectBySentCodes(service, phone)
      expect((await service.post('login', person)).body.two_factor.methods).toEqual(['sms', 'recovery_code'])
      const otp = await service.inbox.nextCode(phone)
      expect((await service.post('2fa/verify', { identifier: phone, otp })).status).toBe(200)
      await noticed(phone, /double authentification de votre compte est maintenant active/)
    })

    rule('turn on once: asked again, by either way of 2fa/enable, it is a conflict', async () => {
      const { bearer } = await protectBySentCodes(service)
      expectRefusal(await service.post('2fa/enable', { password }, { bearer }), 'two_factor_already_enabled')
      const otp = '000000'
      expectRefusal(
        await service.post('2fa/enable/confirm', { otp }, { bearer }),
        'two_factor_already_enabled',
      )
    })

    raced('turn on once by 32 parallel calls with one code, and what it shows serves', async () => {
      const owner = await service.signedIn()
      await service.post('2fa/enable', { password }, { bearer: owner.bearer })
      await confirmedOnce('2fa/enable/confirm', await service.inbox.nextCode(owner.person.identifier), owner)
    })

    test('end the other sessions that one factor opened; the one that turned them on stays', async () => {
      const { bearer, person } = await service.signedIn()
      const other = await service.logIn(person)
      await service.post('2fa/enable', { password }, { bearer })
      const otp = await service.inbox.nextCode(person.identifier)
      await service.post('2fa/enable/confirm', { otp }, { bearer })
      expect((await service.get('me', { bearer: other.access_token })).status).toBe(401)
      expect((await service.post('refresh', { refresh_token: other.refresh_token })).status).toBe(401)
      expect((await service.get('me', { bearer })).status).toBe(200)
    })
  })

  describe('by authenticator app', () => {
    rule('hand out a secret that oathtool and a QR reader agree with', async () => {
      const email = newEmail()
      const { bearer } = await service.signedIn(email)
      const { status, body } = await service.post('2fa/totp', { password }, { bearer })
      expect(status).toBe(200)
      expect(Object.keys(body)).toEqual(['status', 'secret', 'otpauth_uri', 'qr_svg'])
      expect(body.secret).toMatch(/^[A-Z2-7]{32}$/)
      expect(await readQr(body.qr_svg)).toBe(body.otpauth_uri)
      const uri = new URL(body.otpauth_uri)
      expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp'])
      expect(decodeURIComponent(uri.pathname)).toBe(`/Poterne:${email}`)
      expect(Object.fromEntries(uri.searchParams)).toEqual({
        issuer: 'Poterne',
        secret: body.secret,
        algorithm: 'SHA1',
        digits: '6',
        period: '30',
      })
      expect((await me(bearer)).two_factor_enabled).toBe(false)
      const otp = appCode(body.secret, now())
      const confirmed = await service.post('2fa/totp/confirm', { otp }, { bearer })
      expect(confirmed.body.recovery_codes.every((code: string) => RECOVERY_CODE.test(code))).toBe(true)
      expect((await me(bearer)).two_factor_enabled).toBe(true)
      await noticed(email, /Double authentification activée/)
    })

    raced(
      'is confirmed once by 32 parallel calls with its first code, and what it shows serves',
      async () => {
        const owner = await service.signedIn()
        const { body } = await service.post('2fa/totp', { password }, { bearer: owner.bearer })
        await confirmedOnce('2fa/totp/confirm', appCode(body.secret, now()), owner)
      },
    )

    test('a login sends nothing, says totp, and ends with the code of the app', async () => {
      const { person, secret } = await protectByApp(service)
      const before = await service.delivered()
      const login = await service.post('login', person, { language: 'en' })
      expect(login.body).toEqual({
        status: 202,
        code: 'two_factor_required',
        message: 'Enter the code of your authenticator app to finish signing in.',
        two_factor: {
          methods: ['totp', 'recovery_code'],
          sent_to: null,
          expires_in: 600,
          login_token: expect.stringMatching(LOGIN_TOKEN),
        },
      })
      const otp = appCode(secret, now(), 1)
      const verified = await service.post('2fa/verify', { identifier: person.identifier, otp })
      expect(verified.status).toBe(200)
      expect(decodeJwt(verified.body.access_token).amr).toEqual(['pwd', 'otp', 'mfa'])
      await service.post('2fa/request-otp', { identifier: person.identifier })
      expect(await service.delivered()).toBe(before)
    })

    rule('accept one step of drift either way, two never, and each step once', async () => {
      const { person, secret } = await protectByApp(service)
      const verify = async (periods: number) => {
        const answer = await service.post('2fa/verify', { ...person, otp: appCode(secret, now(), periods) })
        return answer.status
      }
      expect(await verify(0)).toBe(422) // This time confirmed the app.
      service.clock.advance(3 * PERIOD_MS)
      expect(await verify(-2)).toBe(422)
      expect(await verify(2)).toBe(422)
      expect(await verify(-1)).toBe(200)
      expect(await verify(-1)).toBe(422)
      expect(await verify(1)).toBe(200)
      expect(await verify(0)).toBe(422) // This code is older than the newest one used.
      service.clock.advance(2 * PERIOD_MS)
      expect(await verify(0)).toBe(200)
    })

    rule('a sent code opens nothing any more, not even one requested before', async () => {
      const email = newEmail()
      const { bearer, person } = await service.signedIn(email)
      const sent = await service.askCode('2fa/request-otp', email)
      const { body } = await service.post('2fa/totp', { password }, { bearer })
      const otp = appCode(body.secret, now())
      expect((await service.post('2fa/totp/confirm', { otp }, { bearer })).status).toBe(200)
      expectRefusal(await service.post('2fa/verify', { ...person, otp: sent }), 'invalid_code')
    })

    test('a new app takes over only once it is confirmed, and only for 30 minutes', async () => {
      const { person, bearer, secret, recoveryCodes } = await protectByApp(service)
      const [oldRecovery, ...spare] = recoveryCodes
      const ask = (otp: string | undefined, token = bearer) =>
        service.post('2fa/totp', { password, otp }, { bearer: token })
      expectRefusal(await ask(undefined), 'two_factor_required')
      const second = await ask(spare[0])
      const third = await ask(spare[1])
      const confirm = (code: string) => service.post('2fa/totp/confirm', { otp: code }, { bearer })
      expectRefusal(await confirm(appCode(second.body.secret, now())), 'invalid_code')
      const old = appCode(secret, now(), 1)
      expect((await service.post('2fa/verify', { ...person, otp: old })).status).toBe(200)
      service.clock.advance(31 * 60_000)
      const later = await logInWithApp(service, { person, secret })
      const confirmLater = (otp: string) => service.post('2fa/totp/confirm', { otp }, { bearer: later })
      expectRefusal(await confirmLater(appCode(third.body.secret, now())), 'invalid_code')
      const { body } = await ask(spare[2], later)
      const confirmed = await confirmLater(appCode(body.secret, now()))
      expect(confirmed.status).toBe(200)
      const [newRecovery] = confirmed.body.recovery_codes
      const verify = async (code: string) =>
        (await service.post('2fa/verify', { ...person, otp: code })).status
      expect(await verify(appCode(secret, now(), 1))).toBe(422)
      expect(await verify(oldRecovery as string)).toBe(422)
      expect(await verify(appCode(body.secret, now(), 1))).toBe(200)
      expect(await verify(newRecovery)).toBe(200)
      await noticed(person.identifier, /nouvelle application d’authentification/)
    })
  })

  describe('turned off', () => {
    const disable = (bearer: string, body: Record<string, unknown>) =>
      service.post('2fa/disable', { password, ...body }, { bearer })

    test('with password and app: the owner is told, app and recovery codes are gone, sessions stay', async () => {
      const { person, bearer, secret, recoveryCodes } = await protectByApp(service)
      expectRefusal(await disable(bearer, { otp: '000000' }), 'invalid_code')
      const otp = appCode(secret, now(), 1)
      expect((await disable(bearer, { otp })).body).toEqual({
        status: 200,
        message: fr.sentences.two_factor_disabled,
      })
      expect((await me(bearer)).two_factor_enabled).toBe(false)
      await noticed(person.identifier, /Double authentification désactivée/)
      expect((await service.post('login', person)).status).toBe(200)
      service.clock.advance(PERIOD_MS)
      for (const code of [appCode(secret, now(), 1), ...recoveryCodes.slice(0, 2)]) {
        expectRefusal(await service.post('2fa/verify', { ...person, otp: code }), 'invalid_code')
      }
      expectRefusal(await disable(bearer, { otp }), 'two_factor_not_enabled')
      const renewed = await service.post('2fa/recovery-codes', { password }, { bearer })
      expectRefusal(renewed, 'two_factor_not_enabled')
    })

    test('with a code that request-otp sent for the session, or with a recovery code', async () => {
      const bySentCode = await protectBySentCodes(service)
      const { identifier } = bySentCode.person
      await service.post('2fa/request-otp', {}, { bearer: bySentCode.bearer })
      const otp = await service.inbox.nextCode(identifier)
      expect((await disable(bySentCode.bearer, { otp })).status).toBe(200)
      const { bearer, recoveryCodes } = await protectBySentCodes(service)
      expect((await disable(bearer, { otp: recoveryCodes[3] })).status).toBe(200)
    })

    raced('once, by 32 parallel calls with one recovery code', async () => {
      const { bearer, recoveryCodes } = await protectByApp(service)
      const otp = recoveryCodes[0]
      const answers = await race([service], () => disable(bearer, { otp }))
      onlySuccess(answers, 'invalid_code', 'too_many_attempts', 'two_factor_not_enabled')
    })
  })
})

describe('with two_factor.allow_email = false', () => {
  const settings = { two_factor: { allow_email: false } }
  const service = useService({ settings })
  const [password, email] = [PASSWORD, newEmail()]

  test('a password and a mailed code are one factor, a password and an SMS are two', async () => {
    const { person, bearer } = await service.signedIn()
    const amrBy = async (identifier: string) => {
      const otp = await service.askCode('2fa/request-otp', identifier)
      const verified = await service.post('2fa/verify', { ...person, identifier, otp })
      return decodeJwt(verified.body.access_token).amr
    }
    expect(await amrBy(person.identifier)).toEqual(['pwd', 'otp'])
    const phone = newPhone()
    await service.post('phone/change', { phone, password }, { bearer })
    await service.post('phone/confirm', { otp: await service.inbox.nextCode(phone) }, { bearer })
    expect(await amrBy(phone)).toEqual(['pwd', 'otp', 'mfa'])
    expect(await amrBy(person.identifier)).toEqual(['pwd', 'otp'])
  })

  test('e-mail does not turn two factors on; SMS and an app do', async () => {
    const { person, bearer } = await service.signedIn(email)
    expectRefusal(await service.post('2fa/enable', { password }, { bearer }), 'no_verified_contact')
    const otp = '000000'
    expectRefusal(await service.post('2fa/enable/confirm', { otp }, { bearer }), 'no_verified_contact')

    const phone = newPhone()
    await service.post('phone/change', { phone, password }, { bearer })
    const added = { otp: await service.inbox.nextCode(phone) }
    expect((await service.post('phone/confirm', added, { bearer })).status).toBe(200)
    expect((await service.post('2fa/enable', { password }, { bearer })).status).toBe(201)
    const enrolment = { otp: await service.inbox.nextCode(phone) }
    expect((await service.post('2fa/enable/confirm', enrolment, { bearer })).status).toBe(200)
    // By whatever identifier, the code goes to the number.
    const login = await service.post('login', person)
    expect([login.status, login.body.two_factor.methods]).toEqual([202, ['sms', 'recovery_code']])
    await service.inbox.nextCode(phone)
    await service.post('2fa/request-otp', { identifier: email })
    const otp2 = await service.inbox.nextCode(phone)
    const verified = await service.post('2fa/verify', { ...person, otp: otp2 })
    expect(decodeJwt(verified.body.access_token).amr).toEqual(['pwd', 'otp', 'mfa'])
    await service.post('2fa/request-otp', {}, { bearer })
    const stepUp = { password, otp: await service.inbox.nextCode(phone) }
    expect((await service.post('2fa/recovery-codes', stepUp, { bearer })).status).toBe(200)
    await service.delivered()
    // This is the code of the confirmation.
    expect(service.inbox.codesTo(email)).toHaveLength(1)
    const other = await protectByApp(service)
    expect(other.recoveryCodes).toHaveLength(10)
  })
})

describe('when two_factor.allow_email becomes false, an account that turned two factors on by e-mail', () => {
  const origin = 'https://app.example.com'
  const passkeys = { rp_id: 'example.com', origins: [origin] }
  const before = useService({ settings: { passkeys } })
  const after = use(() => {
    const { storage, smtp, gateway } = before
    const delivery = deliverySettings(smtp, gateway)
    const sms = { ...delivery.sms, allowed_countries: ['FR'] }
    return startService({
      storage,
      settings: { ...delivery, sms, passkeys, two_factor: { allow_email: false } },
    })
  }, before)
  const methodsOf = async (person: Person) => {
    const { status, body } = await after.post('login', person)
    return [status, body.two_factor?.methods]
  }

  test('keeps it as long as it has nothing else', async () => {
    const { person } = await protectBySentCodes(before)
    expect(await methodsOf(person)).toEqual([202, ['email', 'recovery_code']])
    const otp = await before.inbox.nextCode(person.identifier)
    const verified = await after.post('2fa/verify', { ...person, otp })
    expect(decodeJwt(verified.body.access_token).amr).toEqual(['pwd', 'otp'])
  })

  test('keeps it beside a number that no SMS can reach', async () => {
    const { person, bearer, recoveryCodes } = await protectBySentCodes(before)
    const phone = '+12024561111'
    const change = { phone, password: PASSWORD, otp: recoveryCodes[0] }
    expect((await before.post('phone/change', change, { bearer })).status).toBe(201)
    const otp = await before.inbox.nextCode(phone)
    expect((await before.post('phone/confirm', { otp }, { bearer })).status).toBe(200)
    expect(await methodsOf(person)).toEqual([202, ['email', 'recovery_code']])
  })

  test('is not sent it any more once it has a passkey', async () => {
    const { person, bearer, recoveryCodes } = await protectBySentCodes(before)
    const proof = { password: PASSWORD, otp: recoveryCodes[0] }
    const { body } = await before.post('passkeys/registration/options', proof, { bearer })
    const { credential } = createPasskey(body.options, origin)
    expect((await before.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
    await before.delivered()
    const received = before.inbox.textsTo(person.identifier).length
    expect(await methodsOf(person)).toEqual([202, ['passkey', 'recovery_code']])
    const { identifier } = person
    expect((await after.post('2fa/request-otp', { identifier })).status).toBe(201)
    await after.delivered()
    expect(before.inbox.textsTo(identifier)).toHaveLength(received)
    const { two_factor } = (await after.get('me/security', { bearer })).body
    expect(two_factor.methods).toEqual(['passkey', 'recovery_code'])
    expect((await after.post('2fa/verify', { ...person, otp: recoveryCodes[1] })).status).toBe(200)
  })
})
