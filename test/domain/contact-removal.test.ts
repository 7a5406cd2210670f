/** An e-mail address or phone removed from an account, on every storage shape; what a reset takes back. */
import { afterAll, describe, expect } from 'bun:test'
import { sql } from 'drizzle-orm'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { countRows, makeImported } from '../helpers/database.ts'
import { newClient, startLimited } from '../helpers/limited-service.ts'
import { createPasskey } from '../helpers/passkey-authenticator.ts'
import { newPerson, type PretendProvider, startPretendProvider } from '../helpers/pretend-provider.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { racingShapes, testsOn } from '../helpers/service.ts'
import { socialSettings } from '../helpers/social.ts'
import { use } from '../helpers/use-service.ts'

const DAY_MS = 86_400_000
const ORIGIN = 'https://app.example.com'

let provider: PretendProvider
afterAll(() => provider?.stop())

describe.each(racingShapes)('a contact on %s, with limits on', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = use(async () => {
    provider ??= await startPretendProvider()
    const settings = {
      passkeys: { rp_id: 'example.com', origins: [ORIGIN] },
      ...socialSettings(provider.issuer),
    }
    const started = await startLimited({ shape, settings })
    provider.keepTime(started.clock)
    return started
  })

  async function addPasskey(bearer: string) {
    const asOwner = { ...newClient(), bearer }
    const { options } = (await service.post('passkeys/registration/options', { password: PASSWORD }, asOwner))
      .body
    const { credential } = createPasskey(options, ORIGIN)
    expect((await service.post('passkeys/registration', { credential }, asOwner)).status).toBe(201)
  }

  const remove = (kind: 'email' | 'phone', bearer: string, body: object = { password: PASSWORD }) =>
    service.call('DELETE', `/api/v1/auth/${kind}`, body, { ...newClient(), bearer })

  const signIn = async (identifier: string, password = PASSWORD) => {
    const { status, body } = await service.post('login', { identifier, password }, newClient())
    expect(status).toBe(200)
    return body
  }

  async function register(identifier: string) {
    await service.post('register', registration(identifier), newClient())
    const otp = await service.inbox.nextCode(identifier)
    expect((await service.post('verify-account', { identifier, otp }, newClient())).status).toBe(201)
    return signIn(identifier)
  }

  /** Adds the contact in a session; gives the account as it is then. */
  async function add(kind: 'email' | 'phone', contact: string, bearer: string) {
    const asked = { [kind]: contact, password: PASSWORD }
    expect((await service.post(`${kind}/change`, asked, { ...newClient(), bearer })).status).toBe(201)
    const otp = await service.inbox.nextCode(contact)
    const { status, body } = await service.post(`${kind}/confirm`, { otp }, { ...newClient(), bearer })
    expect(status).toBe(200)
    return body.account
  }

  test('is removed with the password: it opens nothing any more, it is free, and it is told', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const { access_token } = await register(email)
    await add('phone', phone, access_token)
    const wrong = await remove('phone', access_token, { password: 'not the password' })
    expect(wrong.status).not.toBe(200)
    expect((await remove('phone', access_token, {})).body.errors).toEqual([
      expect.objectContaining({ field: 'password', code: 'required' }),
    ])
    const { status, body } = await remove('phone', access_token)
    expect([status, Object.keys(body)]).toEqual([200, ['status', 'account']])
    expect([body.account.phone, body.account.email]).toEqual([null, email])
    expect((await remove('phone', access_token)).body.code).toBe('contact_not_found')
    await service.delivered()
    for (const destination of [email, phone]) {
      expect(service.inbox.textsTo(destination).at(-1)).toMatch(/num.ro.*retir/)
    }
    expect((await service.post('login', { identifier: phone, password: PASSWORD }, newClient())).status).toBe(
      401,
    )
    const other = await register(phone)
    expect(other.account.uuid).not.toBe(body.account.uuid)
  })

  test('is not removed where it is the last verified one', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const { access_token } = await register(email)
    expect((await remove('email', access_token)).body.code).toBe('last_sign_in_method')
    await add('phone', phone, access_token)
    expect((await remove('email', access_token)).body.account.email).toBeNull()
    expect((await remove('phone', access_token)).body.code).toBe('last_sign_in_method')
    expect((await signIn(phone)).account.phone).toBe(phone)
  })

  rule('a claim goes without a word to it, and leaves the verified one', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', { ...registration(email), phone }, newClient())
    const otp = await service.inbox.nextCode(email)
    await service.post('verify-account', { identifier: email, otp }, newClient())
    const { access_token } = await signIn(phone)
    expect((await remove('phone', access_token)).body.account.phone).toBeNull()
    await service.delivered()
    expect(service.inbox.textsTo(phone)).toEqual([])
  })

  rule(
    'that is the last verified one stays also where a passkey or a provider opens the account',
    async () => {
      const [email, phone] = [newEmail(), newPhone()]
      const { access_token } = await register(email)
      await addPasskey(access_token)
      provider.present(newPerson({ email, email_verified: true }))
      const iat = Math.floor(service.clock.now().getTime() / 1000)
      provider.lie({ claims: (honest) => ({ ...honest, iat, exp: iat + 60 }) })
      const nonce = crypto.randomUUID()
      const proof = { id_token: await provider.idToken(nonce), nonce }
      expect((await service.post('social/p1/token', proof, newClient())).body.account.email).toBe(email)
      expectRefusal(await remove('email', access_token), 'last_sign_in_method')
      await add('phone', phone, access_token)
      expect((await remove('email', access_token)).status).toBe(200)
    },
  )

  rule('that nobody verified stays only where nothing else opens the account', async () => {
    const email = newEmail()
    const { access_token } = await register(email)
    await makeImported(service, email)
    expectRefusal(await remove('email', access_token), 'last_sign_in_method')
    await addPasskey(access_token)
    const answers = await race([service], () => remove('email', access_token))
    onlySuccess(answers, 'contact_not_found')
    expect((await service.get('me', { bearer: access_token })).body.account.email).toBeNull()
  })

  raced('is removed once by 32 callers, and of two at once one stays', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    const { access_token, account } = await register(email)
    await add('phone', phone, access_token)
    onlySuccess(await race([service], () => remove('phone', access_token)), 'contact_not_found')
    await add('phone', newPhone(), access_token)
    const both = await race([service], (_, caller) => remove(caller % 2 ? 'phone' : 'email', access_token))
    onlySuccess(both, 'contact_not_found', 'last_sign_in_method')
    const left = sql`uuid = ${sql.raw(`'${account.uuid}'`)} and num_nonnulls(email_confirmed_at, phone_confirmed_at) = 1`
    expect(await countRows(service, 'accounts', left)).toBe(1)
  })

  test('that was replaced is kept for seven days, and forgotten then', async () => {
    const [email, next] = [newEmail(), newEmail()]
    const { access_token } = await register(email)
    await add('email', next, access_token)
    await add('email', next, access_token)
    const kept = sql`destination = ${sql.raw(`'${email}'`)} and kind = 'email' and not known_client`
    expect(await countRows(service, 'replaced_contacts', kept)).toBe(1)
    service.clock.advance(7 * DAY_MS + 1000)
    await service.inside.housekeeping.run()
    expect(await countRows(service, 'replaced_contacts')).toBe(0)
  })

  test('that an intruder added does not outlive the owner’s reset, and the notice names it', async () => {
    const [email, planted] = [newEmail(), newPhone()]
    const intruder = await register(email)
    service.clock.advance(DAY_MS)
    const { access_token } = await signIn(email)
    await add('phone', planted, access_token)
    await service.resetPassword(email, 'chosen by the owner', newClient())
    await service.delivered()
    expect(service.inbox.textsTo(email).at(-1)).toMatch(
      /Adresse IP\s: 10\.\d+\.\d+\.\d+\n.*sept derniers jours.*le numéro de téléphone/s,
    )
    const { account } = await signIn(email, 'chosen by the owner')
    expect([account.uuid, account.phone]).toEqual([intruder.account.uuid, null])
    await service.post('password/forgot', { identifier: planted }, newClient())
    await service.delivered()
    expect(service.inbox.textsTo(planted).at(-1)).not.toMatch(/\d{6}/)
  })

  test('of a forgotten password: every known device is forgotten but the one that reset it', async () => {
    const email = newEmail()
    const { account } = await register(email)
    for (const device_fingerprint of ['of the owner', 'of an intruder']) {
      await service.post('login', { identifier: email, password: PASSWORD, device_fingerprint }, newClient())
    }
    const devices = sql`kind = 'device' and account_id = (select id from accounts where uuid = ${sql.raw(`'${account.uuid}'`)})`
    expect(await countRows(service, 'known_devices', devices)).toBe(2)
    const otp = await service.askCode('password/forgot', email, newClient())
    const chosen = { password: 'chosen by the owner', password_confirmation: 'chosen by the owner' }
    const body = { identifier: email, otp, device_fingerprint: 'of the owner', ...chosen }
    expect((await service.post('password/reset', body, newClient())).status).toBe(200)
    expect(await countRows(service, 'known_devices', devices)).toBe(1)
  })

  rule(
    'stays at a reset where it is older than seven days, or than the destination of the reset',
    async () => {
      const [email, phone] = [newEmail(), newPhone()]
      const first = await register(email)
      await add('phone', phone, first.access_token)
      service.clock.advance(8 * DAY_MS)
      const { access_token } = await signIn(email)
      const newer = newEmail()
      await add('email', newer, access_token)
      await service.resetPassword(newer, 'another password', newClient())
      const { account } = await signIn(phone, 'another password')
      expect([account.email, account.phone]).toEqual([newer, phone])
      await service.resetPassword(phone, 'one more password', newClient())
      expect((await signIn(phone, 'one more password')).account.email).toBeNull()
    },
  )
})
