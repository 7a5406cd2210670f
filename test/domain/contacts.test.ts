/** Another e-mail address or phone, asked for by password and proved by a code, on every storage shape. */
import { describe, expect } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { fr } from '../../src/texts/fr.ts'
import { type Answer, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { protectBySentCodes } from '../helpers/authenticator.ts'
import { passMidnight } from '../helpers/limited-service.ts'
import { onlySuccess, race, untilAvailable } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { shapes, testsOn } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const WRONG_CODE = '000000'

const waitingChange = statement<{ accountId: number }, { destination: string }>(
  sql`select destination from contact_changes where account_id = ${param('accountId', 'bigint')}`,
)

/** Codes, stored or on their way, that would confirm the request for this destination. */
const codesOfChanges = statement<{ destination: string }, { count: number }>(
  sql`select (select count(*)::int from codes where codes.subject = changes.code_subject)
           + (select count(*)::int from messages where messages.code_subject = changes.code_subject) as count
        from contact_changes changes where destination = ${param('destination', 'text')}`,
)

const failure = ({ status, body }: Answer) => [status, body.code]

describe.each(shapes)('contacts on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape })
  const replica = useReplica(service, { shape })

  async function signedIn(identifier = newEmail()) {
    const { person, bearer } = await service.signedIn(identifier)
    return { ...person, bearer }
  }
  const kindOf = (contact: string) => (contact.startsWith('+') || /^0\d/.test(contact) ? 'phone' : 'email')
  const change = (bearer: string, contact: string, password = PASSWORD, at = service) =>
    at.post(`${kindOf(contact)}/change`, { [kindOf(contact)]: contact, password }, { bearer })
  const confirm = (bearer: string, kind: 'email' | 'phone', otp: string, at = service) =>
    at.post(`${kind}/confirm`, { otp }, { bearer })
  async function changeCode(bearer: string, contact: string): Promise<string> {
    expect((await change(bearer, contact)).status).toBe(201)
    return service.inbox.nextCode(contact)
  }
  const logIn = (identifier: string) => service.post('login', { identifier, password: PASSWORD })
  const told = (to: string, words: string) =>
    waitFor(() => service.inbox.textsTo(to).find((text) => text.includes(words)), {
      what: `"${words}" for ${to}`,
    })

  test('a new phone: the code goes to it, the old one is told, and the new one signs in', async () => {
    const { identifier: old, bearer } = await signedIn(newPhone())
    const phone = newPhone()
    const asked = await change(bearer, phone.replace('+33', '0'))
    expect([asked.status, asked.body]).toEqual([
      201,
      {
        status: 201,
        message: fr.sentences.phone_change_sent,
        channel: 'sms',
        expires_in: 600,
        resend_after: 0,
      },
    ])
    const answer = await confirm(bearer, 'phone', await service.inbox.nextCode(phone))
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual(['status', 'account'])
    expect(Object.keys(answer.body.account)).toHaveLength(24)
    expect(answer.body.account.phone).toBe(phone)
    expect((await logIn(phone)).status).toBe(200)
    expectRefusal(await logIn(old), 'invalid_credentials')
    await told(old, 'le num')
    expect((await service.get('me', { bearer })).body.account.phone).toBe(phone)
  })

  test('a new e-mail address, as it was written; the old one is free again', async () => {
    const { identifier: old, bearer } = await signedIn()
    const email = newEmail().replace('person', 'Person')
    const asked = await change(bearer, email)
    expect(asked.body.message).toBe(fr.sentences.email_change_sent)
    const answer = await confirm(bearer, 'email', await service.inbox.nextCode(email))
    expect(answer.body.account.email).toBe(email)
    expect((await logIn(email.toLowerCase())).status).toBe(200)
    await told(old, 'L’adresse e-mail de votre compte')
    await service.signUp(old)
  })

  rule('a phone added to an e-mail address is told there', async () => {
    const { identifier, bearer } = await signedIn()
    const phone = newPhone()
    await confirm(bearer, 'phone', await changeCode(bearer, phone))
    await told(identifier, 'Le numéro de votre compte')
    expect((await logIn(phone)).status).toBe(200)
  })

  test('the phone claimed at registration is proved so, and somebody else’s claim to it ends', async () => {
    const email = newEmail()
    const phone = newPhone()
    await service.post('register', { ...registration(email), phone })
    await service.post('verify-account', { identifier: email, otp: await service.inbox.nextCode(email) })
    await service.post('register', registration(phone))
    const waiting = await service.inbox.nextCode(phone)
    const { access_token: bearer } = await service.logIn({ identifier: email, password: PASSWORD })
    expect((await confirm(bearer, 'phone', await changeCode(bearer, phone))).status).toBe(200)
    expectRefusal(await service.post('verify-account', { identifier: phone, otp: waiting }), 'invalid_code')
    expect((await logIn(phone)).body.account.email).toBe(email)
  })

  rule('the own one again is proved again, and nobody is told of a change', async () => {
    const { identifier, bearer } = await signedIn()
    expect((await confirm(bearer, 'email', await changeCode(bearer, identifier))).status).toBe(200)
    expect(service.inbox.textsTo(identifier).filter((text) => text.includes('a changé'))).toEqual([])
  })

  test('the password is needed, and a wrong one counts as a failed login', async () => {
    const { bearer } = await signedIn()
    const phone = newPhone()
    const wrong = await change(bearer, phone, 'wrong password')
    expect(wrong.body.errors).toMatchObject([{ field: 'password', code: 'wrong_password' }])
    expect((await service.get('me', { bearer })).body.account.failed_attempts).toBe(1)
    const without = await service.post('phone/change', { phone }, { bearer })
    expect(without.body.errors).toMatchObject([{ field: 'password', code: 'required' }])
    expect(service.inbox.textsTo(phone)).toEqual([])
  })

  rule.each([
    ['phone', { phone: '12', password: PASSWORD }, 'invalid_phone'],
    ['phone', { phone: 'ada@example.com', password: PASSWORD }, 'invalid_phone'],
    ['phone', { phone: 33612345678, password: PASSWORD }, 'invalid_type'],
    ['phone', { password: PASSWORD }, 'required'],
    ['email', { email: 'a@b.co, c@d.eu', password: PASSWORD }, 'invalid_email'],
    ['email', { email: 'a@b.co\r\nBcc: e@f.gh', password: PASSWORD }, 'invalid_email'],
    ['email', { email: '', password: PASSWORD }, 'invalid_email'],
    ['email', { email: `${'x'.repeat(250)}@b.co`, password: PASSWORD }, 'too_long'],
    ['email', { email: `${'x'.repeat(600)}@example.com`, password: PASSWORD }, 'too_long'],
  ])('a %s that is none is refused: %j', async (kind, body, code) => {
    const { bearer } = await signedIn()
    const answer = await service.post(`${kind}/change`, body, { bearer })
    expectRefusal(answer, 'validation_failed')
    expect(answer.body.errors).toMatchObject([{ field: kind, code }])
  })

  rule(
    'an identifier that is somebody else’s is answered like a free one, its owner is told, and nothing comes of it',
    async () => {
      for (const own of [newPhone(), newEmail()]) {
        const kind = kindOf(own)
        const owner = await service.signUp(own)
        const [asker, other] = [await signedIn(), await signedIn()]
        const free = await change(other.bearer, kind === 'phone' ? newPhone() : newEmail())
        const before = await changeCode(asker.bearer, kind === 'phone' ? newPhone() : newEmail())
        const taken = await change(asker.bearer, own)
        expect([taken.status, taken.body]).toEqual([201, free.body])
        await told(own, kind === 'phone' ? 'autre compte' : 'à un autre compte')
        await service.delivered()
        expect(service.inbox.codesTo(own)).toHaveLength(1)
        // As with a free one, the request before it is void, and its code is right for nothing.
        for (const otp of [before, '000000']) {
          const answers = [await confirm(asker.bearer, kind, otp), await confirm(other.bearer, kind, otp)]
          expect(answers.map(failure)).toEqual([
            [422, 'invalid_code'],
            [422, 'invalid_code'],
          ])
        }
        expect((await service.logIn(owner)).account[kind]).toBe(own)
      }
    },
  )

  rule(
    'a request for somebody else’s contact comes to nothing, also when its owner gives it up later',
    async () => {
      const { person: owner, bearer: ownersBearer } = await service.signedIn()
      const asker = await signedIn()
      expect((await change(asker.bearer, owner.identifier)).status).toBe(201)
      const moved = newEmail()
      const otp = await changeCode(ownersBearer, moved)
      expect((await confirm(ownersBearer, 'email', otp)).status).toBe(200)
      const { database } = service.inside
      expect(await database.all(codesOfChanges, { destination: owner.identifier })).toEqual([{ count: 0 }])
      expectRefusal(await confirm(asker.bearer, 'email', otp), 'invalid_code')
    },
  )

  test('an identifier that somebody else proves in between is not taken from them, and other codes live on', async () => {
    const { identifier, bearer } = await signedIn()
    const phone = newPhone()
    const otp = await changeCode(bearer, phone)
    const reset = await service.askCode('password/forgot', identifier)
    const owner = await service.signUp(phone)
    expectRefusal(await confirm(bearer, 'phone', otp), 'invalid_code')
    expect((await service.logIn(owner)).account.phone).toBe(phone)
    const chosen = { password: PASSWORD, password_confirmation: PASSWORD }
    expect((await service.post('password/reset', { identifier, otp: reset, ...chosen })).status).toBe(200)
  })

  test('a second request voids the first', async () => {
    const { bearer } = await signedIn()
    const [first, second] = [newPhone(), newPhone()]
    const firstCode = await changeCode(bearer, first)
    const secondCode = await changeCode(bearer, second)
    if (firstCode !== secondCode) {
      expectRefusal(await confirm(bearer, 'phone', firstCode), 'invalid_code')
    }
    expect((await confirm(bearer, 'phone', secondCode)).body.account.phone).toBe(second)
  })

  raced('of 32 parallel requests one is left, and what is confirmed is what its code went to', async () => {
    const { bearer } = await signedIn()
    const phones = Array.from({ length: 32 }, () => newPhone())
    const asked = await Promise.all(
      phones.map((phone, index) =>
        untilAvailable(() => change(bearer, phone, PASSWORD, index % 2 ? replica : service)),
      ),
    )
    expect(new Set(asked.map(({ status }) => status))).toEqual(new Set([201]))
    const { account } = (await service.get('me', { bearer })).body
    const waiting = await service.inside.database.first(waitingChange, { accountId: account.id })
    const own = await service.inbox.nextCode(waiting!.destination)
    const others = phones.filter(
      (phone) => service.inbox.textsTo(phone).length > 0 && phone !== waiting!.destination,
    )
    for (const phone of others.slice(0, 4)) {
      const otp = await service.inbox.nextCode(phone)
      if (otp !== own) expectRefusal(await confirm(bearer, 'phone', otp), 'invalid_code')
    }
    const answer = await confirm(bearer, 'phone', own)
    expect([answer.status, answer.body.account?.phone]).toEqual([200, waiting!.destination])
  })

  raced('two changes of two accounts to one number, confirmed at once, give it to one of them', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await signedIn(), await signedIn()]
      const phone = newPhone()
      const oneCode = await changeCode(one.bearer, phone)
      const otherCode = await changeCode(other.bearer, phone)
      const answers = await Promise.all([
        confirm(one.bearer, 'phone', oneCode),
        confirm(other.bearer, 'phone', otherCode, replica),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    }
  })

  raced.each([
    ['phone', newPhone, 'Le numéro de votre compte'],
    ['email', newEmail, 'L’adresse e-mail de votre compte'],
  ] as const)(
    'the right code for a new %s in 32 parallel calls confirms exactly once',
    async (kind, newContact, words) => {
      const { bearer, identifier } = await signedIn()
      const contact = newContact()
      const otp = await changeCode(bearer, contact)
      const answers = await race([service, replica], (at) => confirm(bearer, kind, otp, at))
      const { body } = onlySuccess(answers, 'invalid_code', 'too_many_attempts')
      expect(body.account[kind]).toBe(contact)
      expect((await logIn(contact)).body.account.id).toBe(body.account.id)
      await service.delivered()
      const notices = service.inbox.textsTo(identifier).filter((text) => text.includes(words))
      expect(notices).toHaveLength(1)
    },
  )

  test('twenty wrong codes a day close the way, whatever is asked for again', async () => {
    passMidnight(service.clock)
    const { bearer } = await signedIn()
    const codes: unknown[] = []
    for (let i = 0; i < 22; i++) {
      if (i % 5 === 0) await changeCode(bearer, newPhone())
      codes.push((await confirm(bearer, 'phone', WRONG_CODE)).body.code)
    }
    expect(codes.slice(0, 20)).toEqual(Array(20).fill('invalid_code'))
    expect(codes.slice(20)).toEqual(['too_many_attempts', 'too_many_attempts'])
    const otp = await changeCode(bearer, newPhone())
    expectRefusal(await confirm(bearer, 'phone', otp), 'too_many_attempts')
    const email = newEmail()
    expect((await confirm(bearer, 'email', await changeCode(bearer, email))).status).toBe(200)
  })

  rule('a code is good for its own change only: kind, purpose and account', async () => {
    const { bearer, identifier } = await signedIn()
    const stranger = await signedIn()
    const phone = newPhone()
    const phoneCode = await changeCode(bearer, phone)
    await changeCode(bearer, newEmail())
    await changeCode(stranger.bearer, newPhone())
    const loginCode = await service.askCode('2fa/request-otp', identifier)
    const refused = [422, 'invalid_code']
    expect(failure(await confirm(bearer, 'email', phoneCode))).toEqual(refused)
    expect(failure(await confirm(stranger.bearer, 'phone', phoneCode))).toEqual(refused)
    expect(failure(await service.post('2fa/verify', { identifier, otp: phoneCode }))).toEqual(refused)
    if (loginCode !== phoneCode) expect(failure(await confirm(bearer, 'phone', loginCode))).toEqual(refused)
    expect((await confirm(bearer, 'phone', phoneCode)).status).toBe(200)
  })

  test('a code dies after ten minutes and with its session', async () => {
    const { bearer, identifier } = await signedIn()
    const late = await changeCode(bearer, newPhone())
    service.clock.advance(601_000)
    expectRefusal(await confirm(bearer, 'phone', late), 'invalid_code')
    const { access_token } = (await logIn(identifier)).body
    const otp = await changeCode(access_token, newPhone())
    await service.post('logout', {}, { bearer: access_token })
    expectRefusal(await confirm(access_token, 'phone', otp), 'invalid_token')
  })

  rule('codes sent to the old one are dead, also when it comes back', async () => {
    const { identifier: old, bearer } = await signedIn(newPhone())
    const loginCode = await service.askCode('2fa/request-otp', old)
    const resetCode = await service.askCode('password/forgot', old)
    await confirm(bearer, 'phone', await changeCode(bearer, newPhone()))
    await confirm(bearer, 'phone', await changeCode(bearer, old))
    const password = 'a quite different sentence'
    const body = { identifier: old, otp: resetCode, password, password_confirmation: password }
    expectRefusal(await service.post('password/reset', body), 'invalid_code')
    expectRefusal(await service.post('2fa/verify', { identifier: old, otp: loginCode }), 'invalid_code')
  })

  rule('two factors stay on, and their codes go to the new one', async () => {
    const old = newPhone()
    const { bearer } = await protectBySentCodes(service, old)
    const phone = newPhone()
    expectRefusal(await change(bearer, phone), 'two_factor_required')
    await service.post('2fa/request-otp', {}, { bearer })
    const proof = { password: PASSWORD, otp: await service.inbox.nextCode(old) }
    expect((await service.post('phone/change', { phone, ...proof }, { bearer })).status).toBe(201)
    const { body } = await confirm(bearer, 'phone', await service.inbox.nextCode(phone))
    expect(body.account.two_factor_enabled).toBe(true)
    const due = await logIn(phone)
    expect([due.status, due.body.two_factor.methods]).toEqual([202, ['sms', 'recovery_code']])
    const otp = await service.inbox.nextCode(phone)
    expect((await service.post('2fa/verify', { identifier: phone, otp })).status).toBe(200)
  })
})
