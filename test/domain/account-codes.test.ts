/** Accounts that an administrator makes, invitations and recovery codes. */
import { describe, expect, spyOn, test } from 'bun:test'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { protectByApp } from '../helpers/authenticator.ts'
import { dumpTables } from '../helpers/database.ts'
import { createPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { rareShapes, ruleOn, type Shape } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { createSocialBrowser, useSocial } from '../helpers/social.ts'
import { useService } from '../helpers/use-service.ts'

/** The last code of 16 letters that a message to this destination holds. */
const letterCodeIn = (texts: string[]): string | undefined =>
  texts.flatMap((text) => /[0-9A-Z]{4}(-[0-9A-Z]{4}){3}/.exec(text)?.[0] ?? []).at(-1)

const PASSWORD = 'quite another horse'
const chosen = { password: PASSWORD, password_confirmation: PASSWORD }
const CODE = /^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){3}$/
const DAY_MS = 86_400_000

describe.each(rareShapes)('codes that an administrator makes, on %s', (shape: Shape) => {
  const service = useService({ shape })
  const rule = ruleOn(shape)
  const call = operatorOf(service)
  const reset = (identifier: string, otp: string) =>
    service.post('password/reset', { identifier, otp, ...chosen })
  const codeFor = async (destination: string) => {
    await service.delivered()
    return letterCodeIn(service.inbox.textsTo(destination)) ?? ''
  }
  const typesOf = async (uuid: string): Promise<string[]> =>
    (await call('GET', `accounts/${uuid}/events`)).body.items.map(({ type }: { type: string }) => type)
  const person = async () => {
    const { person: known, bearer: access_token, account } = await service.signedIn()
    return { ...known, bearer: access_token as string, uuid: account.uuid as string }
  }
  const recover = async (uuid: string, body: object = {}) =>
    (await call('POST', `accounts/${uuid}/access-code`, body)).body

  test('an invited person chooses a password once, and the invitation confirms the account', async () => {
    const email = newEmail()
    const made = await call('POST', 'accounts', { email, role_id: 3, language: 'en', invite: true })
    expect(made.status).toBe(201)
    expect(made.body.account).toMatchObject({
      email,
      role_id: 3,
      language: 'en',
      account_confirmed: false,
      has_password: false,
      email_verified_at: null,
    })
    const { uuid } = made.body.account
    const code = await codeFor(email)
    expect(code).toMatch(CODE)
    expect(service.inbox.textsTo(email)[0]).toContain('7 days')
    const answers = await race([service], () => reset(email, code))
    onlySuccess(answers, 'invalid_code')
    const { account } = await service.logIn({ identifier: email, password: PASSWORD })
    expect(account).toMatchObject({ uuid, role_id: 3, account_confirmed: true })
    expectRefusal(await call('POST', `accounts/${uuid}/invite`, {}), 'password_already_set')
    expect((await typesOf(uuid)).sort()).toEqual(
      [
        'login.succeeded',
        'session.started',
        'password.reset',
        'account.confirmed',
        'account.registered',
        'account.invited',
        'account.created',
      ].sort(),
    )
  })

  test('a recovery code is shown once and works once, whatever others try meanwhile', async () => {
    const { identifier, uuid, bearer } = await person()
    const before = await service.delivered()
    const { code, expires_at } = await recover(uuid)
    expect(code).toMatch(CODE)
    expect(new Date(expires_at).getTime() - service.clock.now().getTime()).toBeWithin(3_590_000, 3_600_001)
    expect(await service.delivered()).toBe(before + 1)
    expect(service.inbox.textsTo(identifier).at(-1)).not.toContain(code)
    expect(await dumpTables(service)).not.toContain(code)
    for (let count = 0; count < 8; count++) {
      expectRefusal(await reset(identifier, '7GX2-MK4D-0QVT-9A3C'), 'invalid_code')
      expectRefusal(await reset(identifier, '000000'), 'invalid_code')
    }
    await service.resetPassword(identifier, 'somebody else reset it')
    const answers = await race([service], () => reset(uuid, code.toLowerCase().replaceAll('-', ' ')))
    onlySuccess(answers, 'invalid_code')
    expect((await service.get('me', { bearer })).status).toBe(401)
    await service.logIn({ identifier, password: PASSWORD })
    expect(await typesOf(uuid)).toContain('recovery.created')
  })

  rule('a newer code of its kind ends the older one, and a code ends with its time', async () => {
    const { identifier, uuid } = await person()
    const older = await recover(uuid)
    const newer = await recover(uuid, { lifetime: '24h' })
    expectRefusal(await reset(identifier, older.code), 'invalid_code')
    service.clock.advance(DAY_MS)
    expectRefusal(await reset(identifier, newer.code), 'invalid_code')
    for (const lifetime of ['25h', '0h', '1', '90ms'])
      expect((await recover(uuid, { lifetime })).code).toBe('validation_failed')
  })

  rule('a code that is sent goes to a verified contact, and is not shown', async () => {
    const { identifier, uuid } = await person()
    expect((await recover(uuid, { send: 'sms' })).code).toBe('no_verified_contact')
    const sent = await recover(uuid, { send: 'email' })
    expect(sent).toMatchObject({ status: 200, code: null })
    expect((await reset(identifier, await codeFor(identifier))).status).toBe(200)
    const message = service.inbox.textsTo(identifier).find((text) => letterCodeIn([text]))
    // Nobody typed the address, and somebody who did not ask for the code has to do something.
    expect(message).toContain('c’est l’adresse de votre compte')
    expect(message).toContain('prévenez les administrateurs')
    expectRefusal(await call('POST', `accounts/${crypto.randomUUID()}/access-code`, {}), 'account_not_found')
  })

  rule('a recovery never turns two factors off', async () => {
    const identifier = newEmail()
    await protectByApp(service, identifier)
    const { uuid } = (await call('GET', `accounts?query=${identifier}`)).body.items[0]
    const { code } = await recover(uuid)
    expect((await reset(identifier, code)).status).toBe(200)
    const answer = await service.post('login', { identifier, password: PASSWORD })
    expect(answer.status).toBe(202)
  })

  rule(
    'a code is refused alike for accounts that are not there, and a weak password leaves it open',
    async () => {
      const { identifier, uuid } = await person()
      const { code } = await recover(uuid)
      const wrong = '7GX2-MK4D-0QVT-9A3C'
      const answers = await Promise.all(
        [identifier, newEmail(), uuid, crypto.randomUUID(), 'nobody'].map((name) => reset(name, wrong)),
      )
      const shapes = answers.map(({ status, body: { request_id: _, ...body } }) => ({ status, body }))
      expect(new Set(shapes.map((one) => JSON.stringify(one))).size).toBe(1)
      const weak = { password: 'password', password_confirmation: 'password' }
      expectRefusal(
        await service.post('password/reset', { identifier: uuid, otp: code, ...weak }),
        'validation_failed',
      )
      const own = { password: identifier, password_confirmation: identifier }
      expectRefusal(
        await service.post('password/reset', { identifier: uuid, otp: code, ...own }),
        'validation_failed',
      )
      expect((await reset(uuid, code)).status).toBe(200)
    },
  )

  rule('a second invitation ends the first one', async () => {
    const phone = newPhone()
    const { uuid } = (await call('POST', 'accounts', { phone, invite: true })).body.account
    const first = await codeFor(phone)
    expect((await call('POST', `accounts/${uuid}/invite`, { lifetime: '30d' })).status).toBe(200)
    const second = await codeFor(phone)
    expect(second).not.toBe(first)
    expectRefusal(await reset(phone, first), 'invalid_code')
    service.clock.advance(29 * DAY_MS)
    await service.inside.housekeeping.run()
    expect((await reset(phone, second)).status).toBe(200)
    expect((await call('POST', `accounts/${uuid}/invite`, { lifetime: '31d' })).body.code).toBe(
      'validation_failed',
    )
  })

  rule(
    'a made account is the one of its contacts: no registration joins, replaces or prevents it',
    async () => {
      const email = newEmail()
      await service.post('register', registration(email, 'a stranger was first'))
      const wanted = { email, password: PASSWORD, verified: true, metadata: { plan: 'team' } }
      const { status, body } = await call('POST', 'accounts', wanted)
      expect([status, body.account.account_confirmed, body.account.metadata]).toEqual([
        201,
        true,
        wanted.metadata,
      ])
      await service.logIn({ identifier: email, password: PASSWORD })
      expectRefusal(await call('POST', 'accounts', { email }), 'identifier_taken')
      const unverified = newEmail()
      expect((await call('POST', 'accounts', { email: unverified, password: PASSWORD })).status).toBe(201)
      expectRefusal(await call('POST', 'accounts', { email: unverified }), 'identifier_taken')
      await service.post('register', registration(unverified, 'a stranger comes later'))
      await service.delivered()
      expect(service.inbox.textsTo(unverified)).toHaveLength(1)
      expect((await service.post('login', { identifier: unverified, password: PASSWORD })).body.code).toBe(
        'account_unconfirmed',
      )
    },
  )

  rule(
    'an administrator confirms an account; of a contested registration no password is activated',
    async () => {
      const [email, contested] = [newEmail(), newEmail()]
      await service.post('register', registration(email))
      await service.post('register', registration(contested))
      await service.post('register', registration(contested, 'somebody else was second'))
      for (const [identifier, hasPassword] of [
        [email, true],
        [contested, false],
      ] as const) {
        const { uuid } = (await call('GET', `accounts?query=${identifier}`)).body.items[0]
        const { status, body } = await call('PATCH', `accounts/${uuid}`, { confirmed: true })
        expect([status, body.account.has_password]).toEqual([200, hasPassword])
        expect(body.account.email_verified_at).not.toBeNull()
        expect((await call('PATCH', `accounts/${uuid}`, { confirmed: true })).status).toBe(200)
        const [event] = (await call('GET', `events?type=account.confirmed&account=${uuid}`)).body.items
        expect(event.actor).toMatchObject({ type: 'operator', name: 'root' })
      }
      await service.logIn({ identifier: email, password: registration(email).password })
    },
  )

  rule('a change that is refused confirms nothing', async () => {
    const [email, other] = [newEmail(), newEmail()]
    await service.post('register', registration(email))
    await call('POST', 'accounts', { email: other, username: 'taken_by_ada' })
    const path = `accounts/${(await call('GET', `accounts?query=${email}`)).body.items[0].uuid}`
    const confirming = (change: object) => call('PATCH', path, { confirmed: true, ...change })
    expectRefusal(await confirming({ username: 'taken_by_ada' }), 'username_taken')
    expectInvalid(await confirming({ locked_reason: 'why' }), { locked_reason: 'invalid_value' })
    expect((await call('GET', path)).body.account.account_confirmed).toBe(false)
    const { status, body } = await confirming({ username: 'not_taken_by_ada', locked: true })
    expect([status, body.account.account_confirmed, body.account.username]).toEqual([
      200,
      true,
      'not_taken_by_ada',
    ])
    expect(body.account.locked_at).not.toBeNull()
  })

  rule(
    'an account that is unlocked and confirmed at once tells the contact that is verified by it',
    async () => {
      const email = newEmail()
      await service.post('register', registration(email))
      const path = `accounts/${(await call('GET', `accounts?query=${email}`)).body.items[0].uuid}`
      expect((await call('PATCH', path, { locked: true })).status).toBe(200)
      const { account } = (await call('PATCH', path, { confirmed: true, locked: false })).body
      expect([account.account_confirmed, account.locked_at]).toEqual([true, null])
      await service.delivered()
      const told = service.inbox.textsTo(email).filter((text) => text.includes('de nouveau vous connecter'))
      expect(told).toHaveLength(1)
    },
  )

  rule('a contact that is replaced while its account is unlocked is not told', async () => {
    const [before, after] = [newEmail(), newEmail()]
    await service.post('register', registration(before))
    const path = `accounts/${(await call('GET', `accounts?query=${before}`)).body.items[0].uuid}`
    expect((await call('PATCH', path, { locked: true })).status).toBe(200)
    await service.delivered()
    const { database } = service.inside
    const transaction = database.transaction.bind(database)
    const meanwhile = spyOn(database, 'transaction').mockImplementationOnce(async (work, options) => {
      expect((await call('PUT', `${path}/email`, { value: after })).status).toBe(200)
      return transaction(work, options)
    })
    const unlocked = call('PATCH', path, { confirmed: true, locked: false })
    const { account } = (await unlocked.finally(() => meanwhile.mockRestore())).body
    expect([account.email, account.account_confirmed, account.locked_at]).toEqual([after, true, null])
    await service.delivered()
    const told = service.inbox.textsTo(before).filter((text) => text.includes('de nouveau vous connecter'))
    expect(told).toEqual([])
  })

  rule('two administrators who make an account for one contact at once make one', async () => {
    const email = newEmail()
    const answers = await race([service], () => call('POST', 'accounts', { email, verified: true }))
    onlySuccess(answers, 'identifier_taken')
  })

  rule('what cannot be is refused with all its fields', async () => {
    const { body } = await call('POST', 'accounts', {
      email: 'nobody',
      phone: '12',
      password: 'short',
      metadata: [1],
    })
    expect(body.code).toBe('validation_failed')
    expect(body.errors.map(({ field }: { field: string }) => field)).toEqual([
      'email',
      'phone',
      'password',
      'metadata',
    ])
    expect((await call('POST', 'accounts', {})).body.errors[0].code).toBe('identifier_required')
  })
})

describe('passkeys and identities at a recovery', () => {
  const origin = 'https://app.example.com'
  const { provider, service } = useSocial({ passkeys: { rp_id: 'example.com', origins: [origin] } })
  const call = operatorOf(service)

  async function addPasskey(bearer: string) {
    const proof = { password: registration('').password }
    const { body } = await service.post('passkeys/registration/options', proof, { bearer })
    const { credential } = createPasskey(body.options, origin)
    expect((await service.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
  }

  async function person() {
    const known = await service.signUp(newEmail())
    const first = await service.logIn(known)
    const uuid: string = first.account.uuid
    await addPasskey(first.access_token)
    provider.present(newPerson())
    const code = await createSocialBrowser(service).obtainCode()
    const link = { ...code, password: known.password }
    expect((await service.post('identities/p1', link, { bearer: first.access_token })).status).toBe(201)
    const left = async () => {
      const passkeys = (await call('GET', `accounts/${uuid}/passkeys`)).body.items
      const identities = (await call('GET', `accounts/${uuid}/identities`)).body.items
      return [passkeys.length, identities.length]
    }
    return { ...known, uuid, left }
  }

  const cases = [
    { body: {}, expected: [2, 1] },
    { body: { remove_factors: false, send: 'email' }, expected: [2, 1] },
    { body: { remove_factors: true }, expected: [0, 0] },
    { body: { remove_factors: true, send: 'email' }, expected: [0, 0] },
  ]
  longTest('stay all without remove_factors, and go all with it, however old they are', async () => {
    const people: Awaited<ReturnType<typeof person>>[] = []
    for (const _ of cases) people.push(await person())
    service.clock.advance(8 * DAY_MS)
    for (const [i, one] of cases.entries()) await checkRecovery(people[i]!, one)
  })

  async function checkRecovery(
    known: Awaited<ReturnType<typeof person>>,
    { body, expected }: (typeof cases)[number],
  ) {
    const { identifier, uuid, left } = known
    await addPasskey((await service.logIn(known)).access_token)
    const made = await call('POST', `accounts/${uuid}/access-code`, body)
    expect(made.status).toBe(200)
    await service.delivered()
    const otp = made.body.code ?? letterCodeIn(service.inbox.textsTo(identifier))
    expect(await left()).toEqual([2, 1])
    expect((await service.post('password/reset', { identifier, otp, ...chosen })).status).toBe(200)
    expect(await left()).toEqual(expected)
    await service.delivered()
    const told = service.inbox.textsTo(identifier).at(-1)
    const wentToo = expected[0] === 0
    expect(told?.includes('ont été retirés')).toBe(wentToo)
  }
})
