/** Two processes on the same stores: what may succeed once succeeds once, no matter which of them is asked. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import postgres from 'postgres'
import { type CallOptions, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode, type LogInAnswer, protectByApp } from '../helpers/authenticator.ts'
import { type Executable, newStorage, runExecutable, startExecutable } from '../helpers/executable.ts'
import { startGateway, type TestGateway } from '../helpers/gateway.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { createTestClock, mergeSettings } from '../helpers/service.ts'
import { startSmtp, type TestSmtp } from '../helpers/smtp.ts'
import { reduced } from '../helpers/soak.ts'
import { createSocialBrowser, newPkce, type SocialBrowser, socialSettings } from '../helpers/social.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

/** Refusals of a code that was used, and of one more wrong one than are allowed. */
const USED = ['invalid_code', 'too_many_attempts']

/** Alone, PostgreSQL decides by the statements that test/contract and two services in test/domain race there. */
describe.each(reduced(['redis'] as const, ['postgres', 'redis'] as const))('two processes on %s', (shape) => {
  let stores: Awaited<ReturnType<typeof newStorage>>
  let sql: postgres.Sql
  let smtp: TestSmtp
  let gateway: TestGateway
  let provider: PretendProvider
  let both: Executable[]
  let browsers: SocialBrowser[]
  beforeAll(async () => {
    stores = await newStorage(shape)
    sql = postgres(stores.settings.database?.url as string, { max: 1 })
    smtp = await startSmtp({ security: 'none', auth: null })
    gateway = await startGateway()
    provider = await startPretendProvider()
    const settings = mergeSettings(socialSettings(provider.issuer), {
      server: { base_url: 'http://auth.internal' },
    })
    both = await Promise.all(
      [1, 2].map(() => startExecutable({ storage: stores.settings, settings, smtp, gateway })),
    )
    browsers = both.map(createSocialBrowser)
  })
  afterAll(async () => {
    await Promise.all(both.map((each) => each.close()))
    await sql.end()
    await Promise.all([smtp.stop(), gateway.stop(), provider.stop(), stores.drop()])
  })

  /** 32 calls at once, every second one at the other process. */
  const ask = (operation: string, body: object, options?: CallOptions) =>
    race(both, (each) => each.post(operation, body, options))
  const [first, second] = [() => both[0] as Executable, () => both[1] as Executable]
  const nextCode = (identifier: string) => first().inbox.nextCode(identifier)

  const sessionsOf = async (bearer: string): Promise<object[]> =>
    (await second().get('sessions', { bearer })).body.sessions
  async function noticesTo(identifier: string, words: string): Promise<string[]> {
    const nothingWaits = async () => {
      const waiting = await sql`
        select from messages where destination = ${identifier} and finished_at is null`
      return waiting.length === 0
    }
    await waitFor(nothingWaits, { what: `every message to ${identifier} to be sent` })
    return first()
      .inbox.textsTo(identifier)
      .filter((text) => text.includes(words))
  }

  test('32 right codes at once confirm once', async () => {
    const email = newEmail()
    await first().post('register', registration(email))
    const otp = await nextCode(email)
    const answers = await ask('verify-account', { identifier: email, otp })
    expect(onlySuccess(answers, ...USED).status).toBe(201)
  })

  test('32 right codes at once sign in once', async () => {
    const { identifier, password } = await first().signUp(newEmail())
    await first().post('2fa/request-otp', { identifier })
    const otp = await nextCode(identifier)
    const { body } = onlySuccess(await ask('2fa/verify', { identifier, otp, password }), ...USED)
    expect(await sessionsOf(body.access_token)).toHaveLength(1)
  })

  test('of 32 people with the last use of an invitation one gets an account, and it is in the group', async () => {
    const inviting = ['invitations', 'create', '--group', 'staff', '--json', ...first().configArgs]
    const { code, id } = JSON.parse((await runExecutable(inviting)).out)
    const people = await race(both, async (each) => {
      const email = newEmail()
      await each.post('register', { ...registration(email), invitation: code })
      return email
    })
    const codes = await Promise.all(people.map(nextCode))
    const answers = await race(both, (each, caller) =>
      each.post('verify-account', { identifier: people[caller], otp: codes[caller] }),
    )
    const email = people[answers.indexOf(onlySuccess(answers, 'invalid_invitation'))] as string
    const opened = await sql`
      select email, accounts.groups, used from accounts join invitations on invitations.id = invitation_id
       where invitations.uuid = ${id} and account_confirmed_at is not null`
    expect([...opened]).toEqual([{ email, groups: ['staff'], used: 1 }])
  })

  test('32 registrations at once make one account, and each is answered alike', async () => {
    const email = newEmail()
    const answers = await ask('register', registration(email))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    expect(await sql`select uuid from accounts where email = ${email}`).toHaveLength(1)
  })

  test('32 right codes at once, each with another new password, set one of them', async () => {
    const { identifier } = await first().signUp(newEmail())
    await first().post('password/forgot', { identifier })
    const otp = await nextCode(identifier)
    const password = (caller: number) => `sentence number ${caller} of many`
    const answers = await race(both, (each, caller) => {
      const chosen = { password: password(caller), password_confirmation: password(caller) }
      return each.post('password/reset', { identifier, otp, ...chosen })
    })
    const winner = answers.indexOf(onlySuccess(answers, ...USED))
    const logins = await race(both, (each, caller) =>
      each.post('login', { identifier, password: password(caller) }),
    )
    expect(logins.indexOf(onlySuccess(logins, 'invalid_credentials'))).toBe(winner)
    expect((await second().post('login', { identifier, password: PASSWORD })).status).toBe(401)
    expect(await noticesTo(identifier, 'a changé')).toHaveLength(1)
  })

  test.each([
    ['phone', newPhone, 'Le numéro de votre compte'],
    ['email', newEmail, 'L’adresse e-mail de votre compte'],
  ] as const)('32 right codes at once change the %s once', async (kind, newContact, words) => {
    const { person, bearer } = await first().signedIn()
    const contact = newContact()
    await first().post(`${kind}/change`, { [kind]: contact, password: PASSWORD }, { bearer })
    const otp = await nextCode(contact)
    const { body } = onlySuccess(await ask(`${kind}/confirm`, { otp }, { bearer }), ...USED)
    expect(body.account[kind]).toBe(contact)
    const later = await second().logIn({ identifier: contact, password: PASSWORD })
    expect(later.account.id).toBe(body.account.id)
    expect(await noticesTo(person.identifier, words)).toHaveLength(1)
  })

  test('32 refreshes by one token at once have one successor, which lives', async () => {
    const { refresh_token } = await first().logIn(await first().signUp(newEmail()))
    const answers = await ask('refresh', { refresh_token })
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const successors = [...new Set(answers.map(({ body }) => body.refresh_token as string))]
    expect(successors).toHaveLength(1)
    const { status, body } = await second().post('refresh', { refresh_token: successors[0] })
    expect(status).toBe(200)
    expect(await sessionsOf(body.access_token)).toHaveLength(1)
  })

  describe('with two factors', () => {
    const byApp = () => protectByApp({ ...first(), clock: createTestClock() }, newEmail())

    /** By one of 32 callers, and the recovery codes it was shown are those that serve. */
    async function confirmedOnce(operation: string, otp: string, { person, bearer }: LogInAnswer) {
      const answers = await ask(operation, { otp }, { bearer })
      const { body } = onlySuccess(answers, ...USED, 'two_factor_already_enabled')
      expect((await second().post('login', person)).status).toBe(202)
      const verified = await second().post('2fa/verify', { ...person, otp: body.recovery_codes[0] })
      expect(verified.status).toBe(200)
      expect(await noticesTo(person.identifier, 'Double authentification activée')).toHaveLength(1)
    }

    test('32 right codes at once turn them on once', async () => {
      const owner = await first().signedIn()
      await first().post('2fa/enable', { password: PASSWORD }, { bearer: owner.bearer })
      await confirmedOnce('2fa/enable/confirm', await nextCode(owner.person.identifier), owner)
    })

    test('32 first codes of an app at once confirm it once', async () => {
      const owner = await first().signedIn()
      const { body } = await first().post('2fa/totp', { password: PASSWORD }, { bearer: owner.bearer })
      await confirmedOnce('2fa/totp/confirm', appCode(body.secret, new Date()), owner)
    })

    test('32 calls at once with one code of the app sign in once', async () => {
      const { person, bearer, secret } = await byApp()
      const answers = await ask('2fa/verify', { ...person, otp: appCode(secret, new Date(), 1) })
      onlySuccess(answers, ...USED)
      expect(await sessionsOf(bearer)).toHaveLength(2)
    })

    test('32 calls at once with one recovery code sign in once, and nine are left', async () => {
      const { person, bearer, recoveryCodes } = await byApp()
      onlySuccess(await ask('2fa/verify', { ...person, otp: recoveryCodes[0] }), ...USED)
      expect(await sessionsOf(bearer)).toHaveLength(2)
      const [notice, ...more] = await noticesTo(person.identifier, 'code de secours')
      expect(notice).toMatch(/Il en reste 9\./)
      expect(more).toEqual([])
    })
  })

  describe('with a provider', () => {
    const [firstBrowser, secondBrowser] = [() => browsers[0]!, () => browsers[1]!]
    const somebodyNew = () => provider.present(newPerson({ email: newEmail(), email_verified: true }))

    test('32 returns at once by one state go on once', async () => {
      somebodyNew()
      const { challenge, verifier } = newPkce()
      const { location, cookie } = await firstBrowser().begin('p1', { challenge, verifier })
      const callback = await firstBrowser().visit(location)
      const before = provider.exchanges.length
      const returns = await race(browsers, (browser) => browser.comeBack(callback, cookie))
      const codes = returns.flatMap((back) => back.location?.searchParams.get('code') ?? [])
      expect(codes).toHaveLength(1)
      expect(returns.filter(({ answer }) => answer?.code === 'invalid_sign_in_state')).toHaveLength(31)
      expect(provider.exchanges).toHaveLength(before + 1)
      expect((await secondBrowser().exchange(codes[0]!, verifier)).status).toBe(200)
    })

    test('32 exchanges of one code at once sign in once', async () => {
      somebodyNew()
      const { body } = onlySuccess(
        await ask('social/exchange', await firstBrowser().obtainCode()),
        'invalid_code',
      )
      expect(body.account.sign_in_count).toBe(1)
      expect(await sessionsOf(body.access_token)).toHaveLength(1)
    })

    test('32 calls at once with one identity token sign in once', async () => {
      somebodyNew()
      const id_token = await provider.idToken('once')
      const { body } = onlySuccess(await ask('social/p1/token', { id_token, nonce: 'once' }), 'invalid_token')
      expect(body.account.sign_in_count).toBe(1)
      expect(await sessionsOf(body.access_token)).toHaveLength(1)
    })

    test.each([
      ['code of the browser flow', () => firstBrowser().obtainCode(), 'invalid_code'],
      [
        'identity token',
        async () => ({ id_token: await provider.idToken('link'), nonce: 'link' }),
        'invalid_token',
      ],
    ])('32 calls at once with one %s link once', async (_, obtainProof, refusal) => {
      const { person, bearer } = await first().signedIn()
      const identity = newPerson()
      provider.present(identity)
      const proof = await obtainProof()
      onlySuccess(await ask('identities/p1', { ...proof, password: PASSWORD }, { bearer }), refusal)
      const { body: listed } = await second().get('identities', { bearer })
      expect(listed.identities).toMatchObject([{ provider_uid: identity.sub }])
      const { account } = (await secondBrowser().signIn()).body
      expect(account.email).toBe(person.identifier)
      expect(await noticesTo(person.identifier, 'P1')).toHaveLength(1)
    })
  })

  test('every message goes out once', async () => {
    const emails = Array.from({ length: 40 }, newEmail)
    const answers = await Promise.all(
      emails.map((email, i) => (both[i % 2] as Executable).post('register', registration(email))),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
    await Promise.all(emails.map((email) => smtp.waitForMailTo(email)))
    await Bun.sleep(500)
    for (const email of emails) expect(first().inbox.textsTo(email)).toHaveLength(1)
  })
})
