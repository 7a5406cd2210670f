/** Checks who may open an account: the mode of registration, the domains, the terms, on every way that opens one. */
import { describe, expect, test } from 'bun:test'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { newPerson, startPretendProvider } from '../helpers/pretend-provider.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import type { TestService } from '../helpers/service.ts'
import { socialSettings } from '../helpers/social.ts'
import { use, useReplica, useService } from '../helpers/use-service.ts'

const provider = use(startPretendProvider)

/** One service that is open, and others on the same stores with other rules. */
const open = useService()
const withRules = (accounts: Record<string, unknown>) => useReplica(open, { settings: { accounts } })
const closed = withRules({ registration: 'closed' })
const ours = withRules({ registration_domains: ['ours.example', '*.groups.example'] })
const terms = withRules({ terms: '2026-11' })

const newPassword = { password: 'another fine password', password_confirmation: 'another fine password' }

/** Registers where it is open; gives the code. */
async function waitingFor(identifier: string, more: object = {}): Promise<string> {
  expect((await open.post('register', { ...registration(identifier), ...more })).status).toBe(201)
  return open.inbox.nextCode(identifier)
}

const verify = (service: TestService, identifier: string, otp: string, more: object = {}) =>
  service.post('verify-account', { identifier, otp, ...more })

async function resetCode(identifier: string): Promise<string> {
  await open.post('password/forgot', { identifier })
  return open.inbox.nextCode(identifier)
}

const isRegistered = async (identifier: string) =>
  (await open.post('login', { identifier, password: PASSWORD })).body.code === 'account_unconfirmed'

describe('closed', () => {
  test('registering is refused, whoever asks, before anything is read or sent', async () => {
    const known = (await open.signUp(newEmail())).identifier
    const before = await open.delivered()
    for (const identifier of [known, newEmail(), newPhone()])
      expectRefusal(await closed.post('register', registration(identifier)), 'registration_closed')
    expectRefusal(
      await closed.post('register', { email: 'nonsense', password: '', password_confirmation: '' }),
      'registration_closed',
    )
    expect(await open.delivered()).toBe(before)
  })

  test('a registration from before is refused after its right code, and stays', async () => {
    const email = newEmail()
    const otp = await waitingFor(email)
    expectRefusal(await verify(closed, email, '000000'), 'invalid_code')
    expectRefusal(await verify(closed, email, otp), 'registration_closed')
    expect(await isRegistered(email)).toBe(true)
  })

  test('a reset of such a registration is refused after its right code, and it stays', async () => {
    const email = newEmail()
    await waitingFor(email)
    const otp = await resetCode(email)
    expectRefusal(
      await closed.post('password/reset', { identifier: email, otp: '000000', ...newPassword }),
      'invalid_code',
    )
    expectRefusal(
      await closed.post('password/reset', { identifier: email, otp, ...newPassword }),
      'registration_closed',
    )
    expect(await isRegistered(email)).toBe(true)
  })

  test('people who have an account sign in and reset as before', async () => {
    const person = await open.signUp(newEmail())
    expect((await closed.logIn(person)).account.email).toBe(person.identifier)
    await closed.post('password/forgot', { identifier: person.identifier })
    const otp = await open.inbox.nextCode(person.identifier)
    const body = { identifier: person.identifier, otp, ...newPassword }
    expect((await closed.post('password/reset', body)).status).toBe(200)
  })

  test('every invitation is refused as closed, also one that nobody made', async () => {
    const email = newEmail()
    const otp = await waitingFor(email)
    const refused = await verify(closed, email, otp, { invitation: 'AAAA-BBBB-CCCC-DDDD' })
    expectRefusal(refused, 'registration_closed')
    expect((await verify(open, email, otp)).status).toBe(201)
  })
})

describe('providers', () => {
  const settings = () => socialSettings(provider.issuer)
  const start = (accounts: Record<string, unknown>) =>
    useService({
      get settings() {
        return { ...settings(), accounts }
      },
    } as never)
  const closedToo = start({ registration: 'closed' })
  const oursToo = start({ registration_domains: ['ours.example'], terms: '2026-11' })

  async function enter(service: TestService, email: string, more: object = {}, verified = true) {
    provider.present(newPerson({ email, email_verified: verified }))
    const id_token = await provider.idToken('n')
    return { id_token, answer: await service.post('social/p1/token', { id_token, nonce: 'n', ...more }) }
  }

  test('closed: nobody new comes in', async () => {
    expectRefusal((await enter(closedToo, newEmail())).answer, 'registration_closed')
  })

  test('only an address of a listed domain, which the provider answers for, opens an account', async () => {
    const more = { terms: '2026-11' }
    expectRefusal((await enter(oursToo, newEmail(), more)).answer, 'domain_not_allowed')
    const listed = newEmail().replace('example.com', 'ours.example')
    expectRefusal((await enter(oursToo, listed, more, false)).answer, 'domain_not_allowed')
    expect((await enter(oursToo, listed, more)).answer.body.account.email).toBe(listed)
  })

  test('what lacks the terms uses no proof up, and existing people need none', async () => {
    const listed = newEmail().replace('example.com', 'ours.example')
    const { id_token, answer } = await enter(oursToo, listed)
    expectRefusal(answer, 'terms_required')
    expect(answer.body.terms).toBe('2026-11')
    const again = await oursToo.post('social/p1/token', { id_token, nonce: 'n', terms: '2026-11' })
    expect(again.status).toBe(200)
    const next = await provider.idToken('m')
    expect((await oursToo.post('social/p1/token', { id_token: next, nonce: 'm' })).status).toBe(200)
  })
})

describe('domains', () => {
  const listed = () => newEmail().replace('example.com', 'ours.example')

  test('an address of a listed domain registers, others and telephones do not', async () => {
    expect((await ours.post('register', registration(listed()))).status).toBe(201)
    const inCapitals = newEmail().replace('example.com', 'OURS.Example')
    expect((await ours.post('register', registration(inCapitals))).status).toBe(201)
    const below = newEmail().replace('example.com', 'a.groups.example')
    expect((await ours.post('register', registration(below))).status).toBe(201)
    const refused = ['evil.ours.example', 'notours.example', 'groups.example', 'ours.example.com'].map(
      (domain) => newEmail().replace('example.com', domain),
    )
    for (const identifier of [...refused, newPhone()])
      expectRefusal(await ours.post('register', registration(identifier)), 'domain_not_allowed')
  })

  test('only the proof of the address opens the account: the telephone beside it does not', async () => {
    const [email, phone] = [listed(), newPhone()]
    expect((await ours.post('register', { ...registration(email), phone })).status).toBe(201)
    const otp = await open.inbox.nextCode(email)
    await ours.post('resend-verification', { identifier: phone })
    const bySms = await open.inbox.nextCode(phone)
    expectRefusal(await verify(ours, phone, '000000'), 'invalid_code')
    expectRefusal(await verify(ours, phone, bySms), 'domain_not_allowed')
    expect((await verify(ours, email, otp)).status).toBe(201)
  })

  test('a registration of before is refused after its code, by confirmation and by reset', async () => {
    const email = newEmail()
    const otp = await waitingFor(email)
    expectRefusal(await verify(ours, email, otp), 'domain_not_allowed')
    const body = { identifier: email, otp: await resetCode(email), ...newPassword }
    expectRefusal(await ours.post('password/reset', body), 'domain_not_allowed')
    expect(await isRegistered(email)).toBe(true)
  })

  test('a changed or added address must be of a listed domain, too', async () => {
    const { bearer } = await open.signedIn()
    const change = (service: TestService, email: string) =>
      service.post('email/change', { email, password: PASSWORD }, { bearer })
    expectRefusal(await change(ours, newEmail()), 'domain_not_allowed')
    expect((await change(ours, listed())).status).toBe(201)
    const elsewhere = newEmail()
    await change(open, elsewhere)
    const otp = await open.inbox.nextCode(elsewhere)
    expectRefusal(await ours.post('email/confirm', { otp }, { bearer }), 'domain_not_allowed')
    const phone = newPhone()
    expect((await ours.post('phone/change', { phone, password: PASSWORD }, { bearer })).status).toBe(201)
  })
})

describe('terms', () => {
  const accepted = { terms: '2026-11' }

  test('without them nothing is opened, and the code stays good for the call with them', async () => {
    const email = newEmail()
    const otp = await waitingFor(email)
    expectRefusal(await verify(terms, email, '000000'), 'invalid_code')
    expectRefusal(await verify(terms, email, '000000', { terms: '2025-01' }), 'terms_required')
    for (const more of [{}, { terms: '' }, { terms: null }, { terms: '2025-01' }]) {
      const refused = await verify(terms, email, otp, more)
      expectRefusal(refused, 'terms_required')
      expect(refused.body.terms).toBe('2026-11')
    }
    expect((await verify(terms, email, otp, accepted)).status).toBe(201)
  })

  test('a wrong code counts as ever where the terms are missing', async () => {
    const email = newEmail()
    const otp = await waitingFor(email)
    for (let i = 0; i < 5; i++) expectRefusal(await verify(terms, email, '000000'), 'invalid_code')
    expectRefusal(await verify(terms, email, otp, accepted), 'invalid_code')
  })

  test('a registration carries them for the confirmation, but only where it is uncontested', async () => {
    const email = newEmail()
    await terms.post('register', { ...registration(email), ...accepted })
    expect((await verify(terms, email, await open.inbox.nextCode(email))).status).toBe(201)
    const contested = newEmail()
    await terms.post('register', { ...registration(contested), ...accepted })
    await open.inbox.nextCode(contested)
    await terms.post('register', { ...registration(contested, 'a stranger’s password'), ...accepted })
    const otp = await open.inbox.nextCode(contested)
    expectRefusal(await verify(terms, contested, otp), 'terms_required')
    expect((await verify(terms, contested, otp, accepted)).status).toBe(201)
  })

  test('a reset opens a registration only if that carried them', async () => {
    const [without, carried] = [newEmail(), newEmail()]
    await waitingFor(without)
    const reset = async (identifier: string) =>
      terms.post('password/reset', { identifier, otp: await resetCode(identifier), ...newPassword })
    expectRefusal(await reset(without), 'terms_required')
    await terms.post('register', { ...registration(carried), ...accepted })
    await open.inbox.nextCode(carried)
    expect((await reset(carried)).status).toBe(200)
  })

  test('existing accounts go on without', async () => {
    const person = await open.signUp(newEmail())
    expect((await terms.logIn(person)).account.email).toBe(person.identifier)
  })
})
