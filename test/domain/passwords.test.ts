/** A forgotten password, and another one for the one that is known, through HTTP on every storage shape. */
import { describe, expect } from 'bun:test'
import { sql } from 'drizzle-orm'
import { fr } from '../../src/texts/fr.ts'
import {
  type Answer,
  newEmail,
  newPhone,
  PASSWORD,
  type Person,
  registration,
} from '../helpers/api-client.ts'
import { countRows, renameTable } from '../helpers/database.ts'
import { seen } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { shapes, testsOn } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'
import { holdsCode, withoutNumbers } from '../random/dump.ts'

const NEW_PASSWORD = 'a quite different sentence'

describe.each(shapes)('passwords on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape, settings: { server: { trusted_proxies: ['127.0.0.1'] } } })
  const replica = useReplica(service, { shape })

  const forgot = (identifier: string) => service.post('password/forgot', { identifier })
  async function resetCode(identifier: string, to = identifier): Promise<string> {
    expect((await forgot(identifier)).status).toBe(201)
    return service.inbox.nextCode(to)
  }
  const reset = (identifier: string, otp: string, password = NEW_PASSWORD, at = service) =>
    at.post('password/reset', { identifier, otp, password, password_confirmation: password })
  const logIn = (identifier: string, password: string, more = {}) =>
    service.post('login', { identifier, password, ...more })
  const me = (bearer: string, at = service) => at.get('me', { bearer })
  const told = (to: string, words: string) =>
    waitFor(() => service.inbox.textsTo(to).find((text) => text.includes(words)), {
      what: `"${words}" for ${to}`,
    })

  async function withEmailAndPhone() {
    const email = newEmail()
    const phone = newPhone()
    await service.post('register', { ...registration(email), phone })
    await service.post('verify-account', { identifier: email, otp: await service.inbox.nextCode(email) })
    return { email, phone }
  }

  describe('forgotten', () => {
    test('the answer says what went that a session had added, and names nothing where nothing went', async () => {
      const { person, bearer } = await service.signedIn()
      const { identifier } = person
      const kept = await reset(identifier, await resetCode(identifier))
      expect(kept.body).toEqual({ status: 200, message: expect.any(String), removed: [] })
      expect((await me(bearer)).status).toBe(401)
      const again = await service.logIn({ identifier, password: NEW_PASSWORD })
      const session = { bearer: again.access_token }
      const phone = newPhone()
      service.clock.advance(60_000)
      await service.post('phone/change', { phone, password: NEW_PASSWORD }, session)
      await service.post('phone/confirm', { otp: await service.inbox.nextCode(phone) }, session)
      expect((await me(again.access_token)).body).toMatchObject({ account: { phone }, phone_verified: true })
      service.clock.advance(60_000)
      const lost = await reset(identifier, await resetCode(identifier))
      expect(lost.body).toMatchObject({ status: 200, removed: ['phone'] })
    })

    test('the code sets another one, ends every session, tells the owner, and does not sign in', async () => {
      const { person, bearer, refresh_token } = await service.signedIn()
      const asked = await forgot(person.identifier)
      expect(asked.body).toEqual({
        status: 201,
        message: fr.sentences.password_reset_sent,
        channel: 'email',
        expires_in: 600,
        resend_after: 0,
      })
      const answer = await reset(person.identifier, await service.inbox.nextCode(person.identifier))
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          status: 200,
          message: fr.sentences.password_reset,
          removed: [],
        },
      ])
      expectRefusal(await me(bearer, replica), 'invalid_token')
      expectRefusal(await service.post('refresh', { refresh_token }), 'invalid_token')
      expectRefusal(await logIn(person.identifier, PASSWORD), 'invalid_credentials')
      expect((await logIn(person.identifier, NEW_PASSWORD)).status).toBe(200)
      await told(person.identifier, 'a changé')
    })

    rule('by phone alone it is the same', async () => {
      const { identifier } = await service.signUp(newPhone())
      const national = identifier.replace('+33', '0')
      expect((await reset(national, await resetCode(national, identifier))).status).toBe(200)
      expect((await logIn(national, NEW_PASSWORD)).status).toBe(200)
      await told(identifier, 'votre mot de passe a chang')
    })

    rule(
      'is answered alike for every identifier, and a code goes only where it proves something',
      async () => {
        const { identifier: known } = await service.signUp(newEmail())
        const waiting = newEmail()
        await service.post('register', registration(waiting))
        await service.inbox.nextCode(waiting)
        const { phone: claimed } = await withEmailAndPhone()
        const unknown = newEmail()
        // The typed identifier tells the channel, and nothing else does.
        const alike = { email: [known, waiting, unknown, 'neither@', ''], sms: [claimed, newPhone()] }
        for (const [channel, identifiers] of Object.entries(alike)) {
          const answers: Answer[] = []
          for (const identifier of identifiers) answers.push(await forgot(identifier))
          expect(answers[0]!.body.channel).toBe(channel)
          for (const answer of answers) expect(seen(answer)).toEqual(seen(answers[0]!))
        }
        await service.inbox.nextCode(known)
        await service.inbox.nextCode(waiting)
        expect(service.inbox.textsTo(claimed)).toEqual([])
        expect(service.inbox.textsTo(unknown)).toEqual([])
      },
    )

    test('an account that waits for its confirmation is confirmed by it', async () => {
      const email = newEmail()
      await service.post('register', registration(email))
      const confirmation = await service.inbox.nextCode(email)
      expect((await reset(email, await resetCode(email))).status).toBe(200)
      const { account } = await service.logIn({ identifier: email, password: NEW_PASSWORD })
      expect(account.account_confirmed).toBe(true)
      expectRefusal(
        await service.post('verify-account', { identifier: email, otp: confirmation }),
        'invalid_code',
      )
    })

    rule('whoever merely claimed the identifier loses it', async () => {
      const { email, phone } = await withEmailAndPhone()
      await service.post('register', registration(phone))
      await service.inbox.nextCode(phone)
      expect((await reset(phone, await resetCode(phone))).status).toBe(200)
      const owner = await service.logIn({ identifier: phone, password: NEW_PASSWORD })
      const other = await service.logIn({ identifier: email, password: PASSWORD })
      expect([owner.account.phone, other.account.phone]).toEqual([phone, null])
    })

    rule('a password that is refused leaves the code alive and uncounted', async () => {
      const { identifier } = await service.signUp(newEmail())
      const otp = await resetCode(identifier)
      for (const password of ['short', 'password1', identifier, '12345678', 'short', 'short']) {
        expectRefusal(await reset(identifier, otp, password), 'validation_failed')
      }
      const mismatch = { identifier, otp, password: NEW_PASSWORD, password_confirmation: 'another one' }
      const refused = await service.post('password/reset', mismatch)
      expect(refused.body.errors).toMatchObject([
        { field: 'password_confirmation', code: 'password_mismatch' },
      ])
      expect((await reset(identifier, otp)).status).toBe(200)
    })

    test('other codes on their way to the account die with the password', async () => {
      const { identifier } = await service.signUp(newEmail())
      const loginCode = await service.askCode('2fa/request-otp', identifier)
      expect((await reset(identifier, await resetCode(identifier))).status).toBe(200)
      expectRefusal(await service.post('2fa/verify', { identifier, otp: loginCode }), 'invalid_code')
    })

    raced('the right code in 32 parallel calls on two replicas counts exactly once', async () => {
      const { identifier } = await service.signUp(newEmail())
      const otp = await resetCode(identifier)
      const passwords = Array.from({ length: 32 }, (_, index) => `sentence number ${index} of many`)
      const answers = await Promise.all(
        passwords.map((password, index) => reset(identifier, otp, password, index % 2 ? replica : service)),
      )
      const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []))
      expect(winners).toHaveLength(1)
      const losers = new Set(answers.filter(({ status }) => status !== 200).map(({ body }) => body.code))
      expect([...losers].filter((code) => code !== 'invalid_code' && code !== 'too_many_attempts')).toEqual(
        [],
      )
      expect((await logIn(identifier, passwords[winners[0]!]!)).status).toBe(200)
      await service.delivered()
      const notices = service.inbox.textsTo(identifier).filter((text) => text.includes('a changé'))
      expect(notices).toHaveLength(1)
    })

    raced('a login with the old password that runs beside the reset leaves no session', async () => {
      const person = await service.signUp(newEmail())
      const otp = await resetCode(person.identifier)
      const logins = Array.from({ length: 24 }, (_, index) =>
        Bun.sleep(index * 2).then(() => (index % 2 ? replica : service).post('login', person)),
      )
      const done = await reset(person.identifier, otp)
      expect(done.status).toBe(200)
      for (const { status, body } of await Promise.all(logins)) {
        if (status === 200) expectRefusal(await me(body.access_token), 'invalid_token')
      }
    })

    rule('what fails on the way to forget the devices leaves the old password, and all of them', async () => {
      const person = await service.signUp(newEmail())
      await service.logIn(person, { device_fingerprint: 'known' })
      const { identifier } = person
      const otp = await resetCode(identifier)
      await renameTable(service, 'known_devices', 'hidden')
      expect((await reset(identifier, otp)).status).toBeGreaterThanOrEqual(500)
      await renameTable(service, 'hidden', 'known_devices')
      expect((await logIn(identifier, NEW_PASSWORD)).status).toBe(401)
      expect((await logIn(identifier, PASSWORD)).status).toBe(200)
      expect(await countRows(service, 'known_devices', sql`kind = 'device'`)).toBeGreaterThan(0)
    })

    rule('two factors stay on', async () => {
      const { person, bearer } = await service.signedIn()
      await service.post('2fa/enable', { password: PASSWORD }, { bearer })
      const enrolment = await service.inbox.nextCode(person.identifier)
      const enabled = await service.post('2fa/enable/confirm', { otp: enrolment }, { bearer })
      expect(enabled.status).toBe(200)
      expect((await reset(person.identifier, await resetCode(person.identifier))).status).toBe(200)
      const due = await logIn(person.identifier, NEW_PASSWORD)
      expect([due.status, due.body.code]).toEqual([202, 'two_factor_required'])
    })

    rule('neither the password nor the code stands in the log', async () => {
      const { identifier } = await service.signUp(newEmail())
      const otp = await resetCode(identifier)
      await reset(identifier, otp)
      const log = service.log.join('\n')
      expect(log).not.toContain(NEW_PASSWORD)
      expect(holdsCode(withoutNumbers(log), otp)).toBe(false)
      expect(log).not.toContain(identifier)
    })

    test.each([
      [{}, ['identifier', 'otp', 'password', 'password_confirmation']],
      [{ identifier: 5, otp: 123456, password: true, password_confirmation: [] }, ['identifier', 'otp']],
    ])('bad inputs are named: %j', async (body, fields) => {
      const answer = await service.post('password/reset', body)
      expectRefusal(answer, 'validation_failed')
      const named = answer.body.errors.map(({ field }: { field: string }) => field)
      expect(named).toEqual(expect.arrayContaining(fields))
    })
  })

  describe('known', () => {
    const change = (bearer: string, current_password: string, password = NEW_PASSWORD, at = service) =>
      at.post('password/change', { current_password, password, password_confirmation: password }, { bearer })

    async function signedIn(): Promise<{ person: Person; bearer: string; elsewhere: string }> {
      const { person, bearer: elsewhere } = await service.signedIn()
      const { access_token: bearer } = await service.logIn(person)
      return { person, bearer, elsewhere }
    }

    test('another one ends the other sessions, keeps this one, and tells the owner', async () => {
      const { person, bearer, elsewhere } = await signedIn()
      const answer = await change(bearer, PASSWORD)
      expect([answer.status, answer.body]).toEqual([
        200,
        { status: 200, message: fr.sentences.password_changed },
      ])
      expect((await me(bearer)).status).toBe(200)
      expectRefusal(await me(elsewhere), 'invalid_token')
      expectRefusal(await logIn(person.identifier, PASSWORD), 'invalid_credentials')
      expect((await logIn(person.identifier, NEW_PASSWORD)).status).toBe(200)
      await told(person.identifier, 'a changé')
    })

    test('a wrong current one changes nothing, and counts as a failed login', async () => {
      const { person, bearer, elsewhere } = await signedIn()
      const wrong = await change(bearer, 'wrong password')
      expect(wrong.body).toMatchObject({
        status: 422,
        errors: [{ field: 'current_password', code: 'wrong_password' }],
      })
      expect((await me(bearer)).body.account.failed_attempts).toBe(1)
      expect((await me(elsewhere)).status).toBe(200)
      expect((await logIn(person.identifier, PASSWORD)).status).toBe(200)
    })

    rule('a new one that is weak or the identifier is refused', async () => {
      const { person, bearer } = await signedIn()
      for (const password of ['short', 'password1', person.identifier]) {
        const { body } = await change(bearer, PASSWORD, password)
        expect(body.errors).toMatchObject([{ field: 'password', code: 'weak_password' }])
      }
      expect((await me(bearer)).body.account.failed_attempts).toBe(0)
    })

    raced('of 32 parallel changes exactly one passes, and its password is the one', async () => {
      const { person, bearer } = await signedIn()
      const passwords = Array.from({ length: 32 }, (_, index) => `sentence number ${index} of many`)
      const answers = await Promise.all(
        passwords.map((password, index) => change(bearer, PASSWORD, password, index % 2 ? replica : service)),
      )
      const winners = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []))
      expect(winners).toHaveLength(1)
      const losers = answers.filter(({ status }) => status !== 200)
      expect(new Set(losers.map(({ body }) => body.code))).toEqual(new Set(['validation_failed']))
      expect((await logIn(person.identifier, passwords[winners[0]!]!)).status).toBe(200)
    })

    test('a code to reset it and a change of contact that wait die with it', async () => {
      const { person, bearer } = await signedIn()
      const phone = newPhone()
      await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
      const phoneCode = await service.inbox.nextCode(phone)
      const otp = await resetCode(person.identifier)
      expect((await change(bearer, PASSWORD)).status).toBe(200)
      expectRefusal(await reset(person.identifier, otp), 'invalid_code')
      expectRefusal(await service.post('phone/confirm', { otp: phoneCode }, { bearer }), 'invalid_code')
    })
  })
})
