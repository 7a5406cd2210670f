/** Passkeys through HTTP, with an authenticator in software, on every storage shape. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { decodeJwt } from 'jose'
import { PASSWORD } from '../helpers/api-client.ts'
import { countRows, lockAccount } from '../helpers/database.ts'
import { newClient, startLimited } from '../helpers/limited-service.ts'
import {
  type AuthenticatorQuirks,
  createPasskey,
  type SoftPasskey,
  signWithPasskey,
} from '../helpers/passkey-authenticator.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { shapes, startService, testsOn } from '../helpers/service.ts'
import { useReplica, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(20_000)

const origin = 'https://app.example.com'
const settings = { passkeys: { rp_id: 'example.com', origins: [origin, 'https://example.com'] } }

describe.each(shapes)('passkeys on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useService({ shape, settings })
  const replica = useReplica(service, { shape, settings })

  const creationOptions = async (bearer: string) =>
    (await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer })).body.options

  async function addPasskey(bearer: string, quirks: Parameters<typeof createPasskey>[2] = {}) {
    const { passkey, credential } = createPasskey(await creationOptions(bearer), origin, quirks)
    const answer = await service.post('passkeys/registration', { credential }, { bearer })
    return { passkey, answer }
  }

  async function withPasskey(quirks: Parameters<typeof createPasskey>[2] = {}) {
    const { person, bearer } = await service.signedIn()
    const { passkey, answer } = await addPasskey(bearer, quirks)
    expect(answer.status).toBe(201)
    return { person, bearer, passkey, id: answer.body.passkey.id as string }
  }

  const loginOptions = async () => (await service.post('passkeys/login/options', {})).body.options

  async function assertion(passkey: SoftPasskey, quirks: AuthenticatorQuirks = {}) {
    return { credential: signWithPasskey(passkey, await loginOptions(), origin, quirks) }
  }
  const signIn = async (passkey: SoftPasskey, quirks: AuthenticatorQuirks = {}) =>
    service.post('passkeys/login', await assertion(passkey, quirks))

  describe('adding one', () => {
    test('takes options of the session, and answers with its record', async () => {
      const { bearer } = await service.signedIn()
      const options = await creationOptions(bearer)
      expect(options).toMatchObject({
        rp: { id: 'example.com' },
        attestation: 'none',
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        excludeCredentials: [],
        timeout: 300_000,
      })
      expect(options.pubKeyCredParams.map(({ alg }: { alg: number }) => alg)).toEqual([-8, -7, -257])
      expect(Buffer.from(options.user.id, 'base64url')).toHaveLength(32)
      const { credential } = createPasskey(options, origin, {
        aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd',
      })
      const { status, body } = await service.post('passkeys/registration', { credential }, { bearer })
      expect(status).toBe(201)
      expect(body.passkey).toEqual({
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        name: 'iCloud Keychain',
        created_at: expect.any(String),
        last_used_at: null,
        backed_up: true,
        transports: ['internal', 'hybrid'],
        aaguid: 'fbfc3007-154e-4ecc-8c0b-6e020557d7bd',
      })
      for (const [aaguid, name] of [
        ['b78a0a55-6ef8-d246-a042-ba0f6d55050c', 'LastPass'],
        ['19083c3d-8383-4b18-bc03-8f1c9ab2fd1b', 'YubiKey 5'],
        ['00000000-0000-0000-0000-000000000000', 'Passkey'],
        [crypto.randomUUID(), 'Passkey'],
      ] as const) {
        const { credential } = createPasskey(await creationOptions(bearer), origin, { aaguid })
        const added = await service.post('passkeys/registration', { credential }, { bearer })
        expect([aaguid, added.body.passkey.name]).toEqual([aaguid, name])
      }
    })

    rule('again names the first one, and keeps the user handle of the account', async () => {
      const { bearer, passkey } = await withPasskey()
      const options = await creationOptions(bearer)
      expect(options.user.id).toBe(passkey.userHandle)
      expect(options.excludeCredentials).toEqual([
        { id: passkey.id, type: 'public-key', transports: ['internal', 'hybrid'] },
      ])
      const second = await addPasskey(bearer)
      expect(second.answer.status).toBe(201)
      const { body } = await service.get('passkeys', { bearer })
      expect(body.signal).toEqual({
        rp_id: 'example.com',
        user_id: passkey.userHandle,
        credential_ids: [passkey.id, second.passkey.id],
      })
    })

    rule('needs the password once the sign-in is five minutes old', async () => {
      const { person, bearer } = await service.signedIn()
      service.clock.advance(5 * 60_000 + 1000)
      const ask = (body: object) => service.post('passkeys/registration/options', body, { bearer })
      expectRefusal(await ask({}), 'validation_failed')
      expect((await ask({ password: 'wrong wrong wrong' })).body.errors[0].code).toBe('wrong_password')
      expect((await ask({ password: person.password })).status).toBe(200)
    })

    rule('takes only a challenge that the same session got', async () => {
      const [mine, others] = await Promise.all([service.signedIn(), service.signedIn()])
      const { credential } = createPasskey(await creationOptions(others.bearer), origin)
      const stolen = await service.post('passkeys/registration', { credential }, { bearer: mine.bearer })
      expectRefusal(stolen, 'invalid_passkey')
      const again = (await service.logIn(mine.person)).access_token
      const own = createPasskey(await creationOptions(mine.bearer), origin).credential
      const elsewhere = await service.post('passkeys/registration', { credential: own }, { bearer: again })
      expectRefusal(elsewhere, 'invalid_passkey')
      const login = createPasskey(
        { ...(await creationOptions(mine.bearer)), challenge: (await loginOptions()).challenge },
        origin,
      )
      const wrongKind = await service.post(
        'passkeys/registration',
        { credential: login.credential },
        { bearer: mine.bearer },
      )
      expectRefusal(wrongKind, 'invalid_passkey')
    })

    test('ends after five minutes', async () => {
      const { bearer } = await service.signedIn()
      const { credential } = createPasskey(await creationOptions(bearer), origin)
      service.clock.advance(5 * 60_000)
      const late = await service.post('passkeys/registration', { credential }, { bearer })
      expectRefusal(late, 'invalid_passkey')
    })

    raced('works once, of 32 callers with one challenge', async () => {
      const { bearer } = await service.signedIn()
      const { credential } = createPasskey(await creationOptions(bearer), origin)
      const answers = await race([service, replica], (at) =>
        at.post('passkeys/registration', { credential }, { bearer }),
      )
      onlySuccess(answers, 'invalid_passkey')
      expect((await service.get('passkeys', { bearer })).body.passkeys).toHaveLength(1)
    })

    test('stops at ten', async () => {
      const { bearer } = await service.signedIn()
      const options = await creationOptions(bearer)
      for (let count = 0; count < 10; count++) expect((await addPasskey(bearer)).answer.status).toBe(201)
      const eleventh = await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer })
      expectRefusal(eleventh, 'passkey_limit')
      const { credential } = createPasskey({ ...options, user: options.user }, origin)
      expectRefusal(await service.post('passkeys/registration', { credential }, { bearer }), 'passkey_limit')
    })

    rule('does not take a credential that somebody has', async () => {
      const [owner, other] = await Promise.all([withPasskey(), service.signedIn()])
      const { answer } = await addPasskey(other.bearer, { id: owner.passkey.id })
      expectRefusal(answer, 'invalid_passkey')
    })

    rule('tells the owner', async () => {
      const { person } = await withPasskey()
      await service.delivered()
      expect(service.inbox.textsTo(person.identifier).at(-1)).toMatch(/clé d’accès|passkey/i)
    })
  })

  describe('signing in', () => {
    test('takes one step, counts as both factors, and says which kind of key it was', async () => {
      const [synced, bound] = [
        await withPasskey(),
        await withPasskey({ backupEligible: false, backedUp: false }),
      ]
      const first = await service.post('passkeys/login', {
        ...(await assertion(synced.passkey)),
        device_name: 'Phone',
      })
      expect(first.status).toBe(200)
      expect(Object.keys(first.body)).toEqual(['status', 'access_token', 'refresh_token', 'account'])
      expect(first.body.account.email).toBe(synced.person.identifier)
      expect(decodeJwt(first.body.access_token).amr).toEqual(['swk', 'user', 'mfa'])
      const quirks = { backupEligible: false, backedUp: false }
      const second = await signIn(bound.passkey, quirks)
      expect(decodeJwt(second.body.access_token).amr).toEqual(['hwk', 'user', 'mfa'])
      const { body } = await service.get('passkeys', { bearer: first.body.access_token })
      expect(body.passkeys[0].last_used_at).not.toBeNull()
    })

    raced('works once for an assertion, of 32 callers on all replicas', async () => {
      const { passkey } = await withPasskey()
      const body = await assertion(passkey)
      const answers = await race([service, replica], (at) => at.post('passkeys/login', body))
      onlySuccess(answers, 'invalid_passkey')
      expectRefusal(await service.post('passkeys/login', body), 'invalid_passkey')
    })

    raced('by 32 different signatures of one passkey at once works for each of them', async () => {
      const { passkey } = await withPasskey()
      const bodies = await Promise.all(Array.from({ length: 32 }, () => assertion(passkey)))
      const answers = await Promise.all(
        bodies.map((body, index) => (index % 2 === 0 ? service : replica).post('passkeys/login', body)),
      )
      expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200))
    })

    rule('by a credential of 20 kB is refused clearly, as is a registration with one', async () => {
      const { passkey, bearer } = await withPasskey()
      const { credential } = await assertion(passkey)
      const long = 'A'.repeat(20_480)
      const login = await service.post('passkeys/login', { credential: { ...credential, id: long } })
      expectRefusal(login, 'body_too_large')
      const made = createPasskey(await creationOptions(bearer), origin).credential
      const response = { ...made.response, attestationObject: 'A'.repeat(12_500) }
      const registration = { credential: { ...made, response } }
      const answer = await service.post('passkeys/registration', registration, { bearer })
      expectRefusal(answer, 'validation_failed')
    })

    rule('by a credential that nobody has names it, for the browser to forget', async () => {
      const { passkey } = await withPasskey()
      const id = randomBytes(16).toString('base64url')
      const answer = await signIn({ ...passkey, id })
      expectRefusal(answer, 'unknown_passkey')
      expect(answer.body.passkey).toEqual({ rp_id: 'example.com', credential_id: id })
    })

    rule.each<[string, AuthenticatorQuirks]>([
      ['another origin', { origin: 'https://evil.example.net' }],
      ['another relying party', { rpId: 'example.net' }],
      ['a frame of another site', { crossOrigin: true }],
      ['a person who was not verified', { userVerified: false }],
      ['client data that were changed', { tamper: true }],
      ['another backup flag', { backupEligible: false, backedUp: false }],
    ])('with %s is refused, and spends nothing', async (_, quirks) => {
      const { passkey } = await withPasskey()
      const before = await countRows(service, 'spent_challenges')
      expectRefusal(await signIn(passkey, quirks), 'invalid_passkey')
      expect(await countRows(service, 'spent_challenges')).toBe(before)
    })

    rule('from a related origin works', async () => {
      const { passkey } = await withPasskey()
      const body = await assertion(passkey, { origin: 'https://example.com' })
      expect((await service.post('passkeys/login', body)).status).toBe(200)
    })

    test('with a counter that fell is refused, and the owner is told', async () => {
      const { person, passkey } = await withPasskey({ counter: 5 })
      expect((await signIn(passkey, { counter: 6 })).status).toBe(200)
      for (const counter of [6, 5, 0]) {
        expectRefusal(await signIn(passkey, { counter }), 'invalid_passkey')
      }
      await service.delivered()
      const told = () => service.inbox.textsTo(person.identifier).filter((text) => /copi/i.test(text)).length
      expect(told()).toBe(3)
      const replayed = await assertion(passkey, { counter: 5 })
      for (let count = 0; count < 3; count++)
        expect((await service.post('passkeys/login', replayed)).status).toBe(422)
      await service.delivered()
      expect(told()).toBe(4)
      expect((await signIn(passkey, { counter: 7 })).status).toBe(200)
    })

    rule('of a locked account says so, to the one who has the key', async () => {
      const { person, passkey } = await withPasskey()
      await lockAccount(service, person.identifier, new Date())
      expectRefusal(await signIn(passkey), 'account_locked')
    })

    test('writes nothing for options and for garbage', async () => {
      const tables = ['spent_challenges', 'passkeys', 'tickets', 'codes']
      const before = await Promise.all(tables.map((table) => countRows(service, table)))
      for (let count = 0; count < 50; count++) await loginOptions()
      const garbage = { ...(await withoutAccount()) }
      expect((await service.post('passkeys/login', garbage)).status).toBe(401)
      expect(await Promise.all(tables.map((table) => countRows(service, table)))).toEqual(before)
    })

    async function withoutAccount() {
      const options = { ...(await loginOptions()), rp: { id: 'example.com' }, user: { id: 'AAAA' } }
      return assertion(createPasskey(options, origin).passkey)
    }
  })

  describe('as a second factor', () => {
    const enable = (bearer: string, body: object) => service.post('2fa/enable', body, { bearer })

    test('turns two factors on at once, and a login with the password then lists it first', async () => {
      const { person, bearer, passkey } = await withPasskey()
      const answer = await enable(bearer, { password: person.password, method: 'passkey' })
      expect(answer.status).toBe(200)
      expect(answer.body.recovery_codes).toHaveLength(10)
      const { items } = (await service.get('events', { bearer })).body
      expect(items.find(({ type }: { type: string }) => type === 'two_factor.enabled').data).toEqual({
        method: 'passkey',
      })
      const login = await service.post('login', person)
      expect(login.status).toBe(202)
      expect(login.body.two_factor.methods[0]).toBe('passkey')
      expect((await signIn(passkey)).status).toBe(200)
    })

    rule('cannot turn them on for an account that has none, nor without the password', async () => {
      const { person, bearer } = await service.signedIn()
      const none = await enable(bearer, { password: person.password, method: 'passkey' })
      expectRefusal(none, 'passkey_not_found')
      const owner = await withPasskey()
      expectRefusal(await enable(owner.bearer, { method: 'passkey' }), 'validation_failed')
    })

    rule('does not turn them on by itself', async () => {
      const { person } = await withPasskey()
      expect((await service.post('login', person)).status).toBe(200)
    })
  })

  describe('to confirm a change in a session', () => {
    const stepUp = async (bearer: string, passkey: SoftPasskey, quirks: AuthenticatorQuirks = {}) => {
      const { body } = await service.post('passkeys/step-up/options', {}, { bearer })
      return signWithPasskey(passkey, body.options, origin, quirks)
    }
    const newCodes = (bearer: string, credential: unknown, at = service) =>
      at.post('2fa/recovery-codes', { credential }, { bearer })

    async function withTwoFactors() {
      const owner = await withPasskey()
      const { password } = owner.person
      await service.post('2fa/enable', { password, method: 'passkey' }, { bearer: owner.bearer })
      return owner
    }

    test('stands for the password and the second factor together', async () => {
      const { bearer, passkey } = await withTwoFactors()
      const answer = await newCodes(bearer, await stepUp(bearer, passkey))
      expect(answer.status).toBe(200)
      expect(answer.body.recovery_codes).toHaveLength(10)
    })

    rule('stands in a change of the password too', async () => {
      const { person, bearer, passkey } = await withTwoFactors()
      const password = 'another horse battery'
      const change = (credential: unknown) =>
        service.post('password/change', { password, password_confirmation: password, credential }, { bearer })
      expect((await change(await stepUp(bearer, passkey))).status).toBe(200)
      expect((await service.post('login', { ...person, password })).status).toBe(202)
    })

    raced('works once, of 32 callers on all replicas', async () => {
      const { bearer, passkey } = await withTwoFactors()
      const credential = await stepUp(bearer, passkey)
      onlySuccess(await race([service, replica], (at) => newCodes(bearer, credential, at)), 'invalid_passkey')
    })

    rule('is refused by the passkey of somebody else, of another session, or for a login', async () => {
      const [owner, other] = [await withTwoFactors(), await withPasskey()]
      const { bearer } = owner
      const foreign = await stepUp(bearer, other.passkey)
      expectRefusal(await newCodes(bearer, foreign), 'invalid_passkey')
      const elsewhere = (await signIn(owner.passkey)).body.access_token
      const ofOtherSession = await stepUp(elsewhere, owner.passkey)
      expectRefusal(await newCodes(bearer, ofOtherSession), 'invalid_passkey')
      const forLogin = (await assertion(owner.passkey)).credential
      expectRefusal(await newCodes(bearer, forLogin), 'invalid_passkey')
      const asLogin = { credential: await stepUp(bearer, owner.passkey) }
      expectRefusal(await service.post('passkeys/login', asLogin), 'invalid_passkey')
    })
  })

  describe('looking after them', () => {
    test('counts them on the settings page, and writes the history', async () => {
      const { bearer, passkey, id } = await withPasskey()
      const count = async () => (await service.get('me/security', { bearer })).body.passkeys
      expect(await count()).toBe(1)
      await signIn(passkey)
      await service.call('DELETE', `/api/v1/auth/passkeys/${id}`, { password: PASSWORD }, { bearer })
      expect(await count()).toBe(0)
      const { items } = (await service.get('events', { bearer })).body
      const about = items.filter(({ type }: { type: string }) => type.startsWith('passkey.'))
      expect(about.map(({ type }: { type: string }) => type)).toEqual([
        'passkey.removed',
        'passkey.used',
        'passkey.added',
      ])
      for (const { data, outcome } of about) expect([data, outcome]).toEqual([{ passkey: id }, 'success'])
    })

    rule('renames one, within 1 to 120 characters', async () => {
      const { bearer, id } = await withPasskey()
      const rename = (name: unknown) =>
        service.call('PATCH', `/api/v1/auth/passkeys/${id}`, { name }, { bearer })
      expect((await rename('Clé du bureau')).body.passkey.name).toBe('Clé du bureau')
      expect((await rename('x'.repeat(120))).status).toBe(200)
      for (const name of ['', 'x'.repeat(121), 7]) expect((await rename(name)).status).toBe(422)
    })

    test('removes one, which then opens nothing', async () => {
      const { bearer, id, passkey } = await withPasskey()
      const remove = () =>
        service.call('DELETE', `/api/v1/auth/passkeys/${id}`, { password: PASSWORD }, { bearer })
      expect((await remove()).status).toBe(200)
      expectRefusal(await remove(), 'passkey_not_found')
      expectRefusal(await signIn(passkey), 'unknown_passkey')
    })

    test('a reset of the password takes back what a session added in the last seven days, and says so', async () => {
      const { person, passkey } = await withPasskey()
      await service.resetPassword(person.identifier, 'another horse battery')
      expectRefusal(await signIn(passkey), 'unknown_passkey')
      await service.delivered()
      expect(service.inbox.textsTo(person.identifier).at(-1)).toMatch(/clé d’accès|passkey/i)
    })

    rule('a reset of the password keeps what was added before', async () => {
      const { person, passkey } = await withPasskey()
      service.clock.advance(8 * 86_400_000)
      await service.resetPassword(person.identifier, 'another horse battery')
      expect((await signIn(passkey)).status).toBe(200)
    })

    test('goes with the account', async () => {
      const { person, bearer, passkey } = await withPasskey()
      const proof = { password: person.password }
      expect((await service.call('DELETE', '/api/v1/auth/me', proof, { bearer })).status).toBe(200)
      expectRefusal(await signIn(passkey), 'unknown_passkey')
    })

    rule("does not reach somebody else's", async () => {
      const [owner, other] = await Promise.all([withPasskey(), service.signedIn()])
      const path = `/api/v1/auth/passkeys/${owner.id}`
      const options = { bearer: other.bearer }
      expectRefusal(await service.call('DELETE', path, { password: PASSWORD }, options), 'passkey_not_found')
      expectRefusal(await service.call('PATCH', path, { name: 'mine' }, options), 'passkey_not_found')
      expect((await service.get('passkeys', { bearer: owner.bearer })).body.passkeys).toHaveLength(1)
    })

    test('spent challenges are swept once their time is over', async () => {
      const { passkey } = await withPasskey()
      await signIn(passkey)
      expect(await countRows(service, 'spent_challenges')).toBeGreaterThan(0)
      service.clock.advance(10 * 60_000)
      await service.inside.housekeeping.run()
      await waitFor(async () => (await countRows(service, 'spent_challenges')) === 0)
    })
  })
})

describe('with limits', () => {
  test('600 options and 60 tries a minute for each client address', async () => {
    await using service = await startLimited({ shape: 'postgres', settings })
    const [one, other] = [newClient(), newClient()]
    const options = (client: typeof one) => service.post('passkeys/login/options', {}, client)
    for (let count = 0; count < 600; count++) expect((await options(one)).status).toBe(200)
    expectRefusal(await options(one), 'too_many_requests')
    expect((await options(other)).status).toBe(200)
    const made = createPasskey({ challenge: 'AAAA', rp: { id: 'example.com' }, user: { id: 'AAAA' } }, origin)
    const credential = signWithPasskey(made.passkey, { challenge: 'AAAA', rpId: 'example.com' }, origin)
    const attempt = (client: typeof one) => service.post('passkeys/login', { credential }, client)
    for (let count = 0; count < 60; count++) expectRefusal(await attempt(one), 'invalid_passkey')
    expectRefusal(await attempt(one), 'too_many_requests')
    expectRefusal(await attempt(other), 'invalid_passkey')
  })
})

describe('the relying party', () => {
  test('may not change while passkeys are stored, unless the operator says so', async () => {
    await using service = await startService({ shape: 'postgres', settings })
    const { person, bearer } = await service.signedIn()
    const { body } = await service.post('passkeys/registration/options', { password: PASSWORD }, { bearer })
    const { credential } = createPasskey(body.options, origin)
    await service.post('passkeys/registration', { credential }, { bearer })
    const moved = { passkeys: { rp_id: 'example.org' } }
    const { storage } = service
    await expect(startService({ shape: 'postgres', storage, settings: moved })).rejects.toThrow(
      'passkeys.rp_id is "example.org", and 1 stored passkeys belong to another one',
    )
    const allowed = { passkeys: { rp_id: 'example.org', allow_rp_id_change: true } }
    await using elsewhere = await startService({ shape: 'postgres', storage, settings: allowed })
    const proof = { password: person.password, method: 'passkey' }
    expectRefusal(await elsewhere.post('2fa/enable', proof, { bearer }), 'passkey_not_found')
    const { signal, passkeys } = (await elsewhere.get('passkeys', { bearer })).body
    expect([passkeys.length, signal.credential_ids]).toEqual([1, []])
  })

  test('publishes what browsers and phones look for, and nothing that is not configured', async () => {
    const sha256 = Array.from({ length: 32 }, (_, index) => index.toString(16).padStart(2, '0')).join(':')
    const service = await startService({
      shape: 'postgres',
      settings: {
        passkeys: {
          rp_id: 'example.com',
          origins: [origin, 'https://example.org'],
          ios_apps: ['ABCDE12345.com.example.app'],
          android_apps: [{ package: 'com.example.app', sha256 }],
          enroll_url: 'https://example.com/passkeys/new',
          manage_url: 'https://example.com/passkeys',
          change_password_url: 'https://example.com/password',
        },
      },
    })
    const file = async (name: string) => (await service.call('GET', `/.well-known/${name}`)).body
    expect(await file('webauthn')).toEqual({ origins: [origin, 'https://example.org'] })
    expect(await file('passkey-endpoints')).toEqual({
      enroll: 'https://example.com/passkeys/new',
      manage: 'https://example.com/passkeys',
    })
    expect(await file('apple-app-site-association')).toEqual({
      webcredentials: { apps: ['ABCDE12345.com.example.app'] },
    })
    expect(await file('assetlinks.json')).toEqual([
      {
        relation: [
          'delegate_permission/common.get_login_creds',
          'delegate_permission/common.handle_all_urls',
        ],
        target: {
          namespace: 'android_app',
          package_name: 'com.example.app',
          sha256_cert_fingerprints: [sha256.toUpperCase()],
        },
      },
    ])
    const changePassword = await fetch(`${service.url}/.well-known/change-password`, { redirect: 'manual' })
    expect(changePassword.status).toBe(303)
    expect(changePassword.headers.get('location')).toBe('https://example.com/password')
    const unknown = await fetch(
      `${service.url}/.well-known/resource-that-should-not-exist-whose-status-code-should-not-be-200`,
    )
    expect(unknown.status).toBe(404)
    await service.close()
    await using bare = await startService({ shape: 'postgres' })
    for (const name of [
      'webauthn',
      'passkey-endpoints',
      'apple-app-site-association',
      'assetlinks.json',
      'change-password',
    ])
      expect((await bare.call('GET', `/.well-known/${name}`)).status).toBe(404)
  })
})

test('without an rp_id there are no passkeys', async () => {
  await using service = await startService({ shape: 'postgres' })
  expectRefusal(await service.post('passkeys/login/options', {}), 'route_not_found')
})
