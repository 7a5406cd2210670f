/**
 * Takes over an account before its owner has it. Somebody else registers the owner's address first, last or in between,
 * adds the owner's phone to an account of their own, and claims what they cannot prove. Every interleaving of what both
 * do is tried; at the end the owner has the account and nobody else's password or session opens it.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { fr } from '../../src/texts/fr.ts'
import { asOperator } from '../helpers/administration.ts'
import { type CallOptions, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { from, newClient, startLimited } from '../helpers/limited-service.ts'
import { onlySuccess, race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { type Shape, shapes, startService, type TestService } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'

setDefaultTimeout(120_000)

const OWNERS = 'the password of the owner'
const STRANGERS = 'the password of a stranger'
const NEW = 'chosen after the reset'

let service: TestService

interface Cast {
  email: string
  phone: string
  /** The address that the stranger can read. */
  ownEmail: string
  ownPhone: string
  strangersSessions: string[]
  ownerConfirmed: boolean
}

type Step = [name: string, run: (cast: Cast) => Promise<unknown>]

const ownersAddress = from('198.51.100.1')
const strangersAddress = from('203.0.113.1')

const confirm = async (identifier: string) =>
  service.post('verify-account', { identifier, otp: await service.newestCode(identifier) })

const strangerLogsIn = async (cast: Cast) => {
  for (const identifier of [cast.email, cast.phone, cast.ownEmail, cast.ownPhone]) {
    const { body } = await service.post('login', { identifier, password: STRANGERS }, newClient())
    if (body.access_token) cast.strangersSessions.push(body.access_token)
  }
}

/** Two messages that are on their way at once arrive in either order, and the newest code would be the older one. */
async function registerInOrder(body: object, client: CallOptions) {
  const answer = await service.post('register', body, client)
  await service.delivered()
  return answer
}

const registering =
  (password: string, address: CallOptions) =>
  (contactsOf: (cast: Cast) => { email?: string; phone?: string }): Step[1] =>
  (cast) =>
    registerInOrder({ ...contactsOf(cast), password, password_confirmation: password }, address)

const strangerRegisters = registering(STRANGERS, strangersAddress)
const ownerRegisters = registering(OWNERS, ownersAddress)

const ownerConfirms =
  (by: 'email' | 'phone'): Step[1] =>
  async (cast) => {
    cast.ownerConfirmed = (await confirm(cast[by])).status === 201
  }

interface Owner {
  by: 'email' | 'phone'
  steps: Step[]
}

const owners: Record<string, Owner> = {
  'by email': {
    by: 'email',
    steps: [
      ['owner registers', ownerRegisters(({ email }) => ({ email }))],
      ['owner confirms', ownerConfirms('email')],
    ],
  },
  'by phone': {
    by: 'phone',
    steps: [
      ['owner registers', ownerRegisters(({ phone }) => ({ phone }))],
      ['owner confirms', ownerConfirms('phone')],
    ],
  },
  'with both, and confirms the phone': {
    by: 'phone',
    steps: [
      ['owner registers', ownerRegisters(({ email, phone }) => ({ email, phone }))],
      ['owner asks', ({ phone }) => service.post('resend-verification', { identifier: phone })],
      ['owner confirms', ownerConfirms('phone')],
    ],
  },
}

const strangers: Record<string, Step[]> = {
  'registers the address and signs in': [
    ['registers the contact', strangerRegisters(({ email }) => ({ email }))],
    ['signs in', strangerLogsIn],
  ],
  'registers the address twice': [
    ['registers the contact', strangerRegisters(({ email }) => ({ email }))],
    ['registers again', strangerRegisters(({ email }) => ({ email }))],
  ],
  'registers the address, asks for codes, guesses': [
    ['registers the contact', strangerRegisters(({ email }) => ({ email }))],
    ['resends', ({ email }) => service.post('resend-verification', { identifier: email })],
    ['guesses', ({ email }) => service.post('verify-account', { identifier: email, otp: '123456' })],
  ],
  'registers the phone': [['registers the contact', strangerRegisters(({ phone }) => ({ phone }))]],
  'adds the phone to an address of their own': [
    ['registers the contact', strangerRegisters(({ ownEmail, phone }) => ({ email: ownEmail, phone }))],
  ],
  'registers the address, then adds the phone to one of their own': [
    ['registers the contact', strangerRegisters(({ email }) => ({ email }))],
    ['registers their own', strangerRegisters(({ ownEmail, phone }) => ({ email: ownEmail, phone }))],
  ],
  'adds the address to a phone of their own, and proves the phone': [
    ['registers the contact', strangerRegisters(({ email, ownPhone }) => ({ email, phone: ownPhone }))],
    ['sends to their phone', ({ ownPhone }) => service.post('resend-verification', { identifier: ownPhone })],
    ['proves their phone', ({ ownPhone }) => confirm(ownPhone)],
    ['signs in', strangerLogsIn],
  ],
  'adds the phone to an address of their own, and proves the address': [
    ['registers the contact', strangerRegisters(({ ownEmail, phone }) => ({ email: ownEmail, phone }))],
    ['proves their address', ({ ownEmail }) => confirm(ownEmail)],
    ['signs in', strangerLogsIn],
  ],
  'has a proved account, and asks for codes to the phone they claim': [
    ['registers the contact', strangerRegisters(({ ownEmail, phone }) => ({ email: ownEmail, phone }))],
    ['proves their address', ({ ownEmail }) => confirm(ownEmail)],
    ['asks for a code', ({ phone }) => service.post('2fa/request-otp', { identifier: phone })],
    [
      'tries the code that came to them',
      async (cast) => {
        const otp = await service.newestCode(cast.ownEmail)
        const { body } = await service.post('2fa/verify', { identifier: cast.phone, otp })
        if (body.access_token) cast.strangersSessions.push(body.access_token)
      },
    ],
  ],
}

/** All orders in which two people's steps can fall, each one's own order kept. */
function interleavings<T>(a: T[], b: T[]): T[][] {
  if (a.length === 0 || b.length === 0) return [[...a, ...b]]
  return [
    ...interleavings(a.slice(1), b).map((rest) => [a[0] as T, ...rest]),
    ...interleavings(a, b.slice(1)).map((rest) => [b[0] as T, ...rest]),
  ]
}

/** The reader of the mailbox or phone gets in, however it went so far, by registering again if need be. */
async function ownerGetsIn(identifier: string) {
  const first = await service.post('login', { identifier, password: OWNERS }, newClient())
  if (first.status === 200) return first.body
  await registerInOrder(registration(identifier, OWNERS), ownersAddress)
  await confirm(identifier)
  await service.post('password/forgot', { identifier })
  const otp = await service.newestCode(identifier)
  const reset = { identifier, otp, password: NEW, password_confirmation: NEW }
  expect((await service.post('password/reset', reset)).status).toBe(200)
  const answer = await service.post('login', { identifier, password: NEW }, newClient())
  expect(answer.status).toBe(200)
  return answer.body
}

/** A run plays every third order, and those in which the one or the other person comes first. A soak plays all. */
const EVERY = reduced(3, 1)
/** PostgreSQL decides who owns what in each shape. */
const played = reduced<Shape[]>(['redis'], shapes)

describe.each(played)('before the owner has the account, on %s', (shape) => {
  beforeAll(async () => {
    service = await startService({ shape, settings: { server: { trusted_proxies: ['127.0.0.1'] } } })
  })
  afterAll(() => service?.close())

  /** Both do what they do in this order; whose is what afterwards? */
  async function play(order: string, steps: Step[], by: 'email' | 'phone') {
    const cast: Cast = {
      email: newEmail(),
      phone: newPhone(),
      ownEmail: newEmail(),
      ownPhone: newPhone(),
      strangersSessions: [],
      ownerConfirmed: false,
    }
    for (const [, run] of steps) await run(cast)
    const identifier = cast[by]
    if (cast.ownerConfirmed) {
      const { status } = await service.post('login', { identifier, password: STRANGERS }, newClient())
      expect([order, status]).toEqual([order, 401])
    }
    const { account, access_token } = await ownerGetsIn(identifier)
    expect([order, account[by]]).toEqual([order, identifier])
    await strangerLogsIn(cast)
    const claimedBefore = order.indexOf('registers the') < order.indexOf('owner confirms')
    for (const bearer of cast.strangersSessions) {
      const seen = (await service.get('me', { bearer })).body.account
      expect([order, seen?.uuid]).not.toEqual([order, account.uuid])
      if (claimedBefore) expect([order, seen?.[by]]).not.toEqual([order, identifier])
    }
    expect((await service.get('me', { bearer: access_token })).status).toBe(200)
  }

  for (const [what, stranger] of Object.entries(strangers)) {
    for (const [how, owner] of Object.entries(owners)) {
      test(`a stranger ${what}; the owner comes ${how}`, async () => {
        const orders = interleavings(owner.steps, stranger)
        const plays = orders.filter((_, index) => index % EVERY === 0 || index === orders.length - 1)
        await Promise.all(plays.map((steps) => play(steps.map(([name]) => name).join(', '), steps, owner.by)))
      })
    }
  }
})

describe('a waiting registration is contested', () => {
  beforeAll(async () => {
    service = await startService({ settings: { server: { trusted_proxies: ['127.0.0.1'] } } })
  })
  afterAll(() => service?.close())

  const message = (contested: boolean) =>
    contested ? expect.stringMatching(/mot de passe/) : fr.sentences.account_confirmed

  type Try = [address: string, password: string]

  /** Registers with each in turn, confirms with the last code, and says which passwords open it. */
  async function openedBy(tries: Try[]) {
    const email = newEmail()
    for (const [address, password] of tries) {
      expect((await registerInOrder(registration(email, password), from(address))).status).toBe(201)
    }
    const confirmed = await confirm(email)
    expect(confirmed.status).toBe(201)
    const opening: string[] = []
    for (const password of new Set(tries.map(([, one]) => one))) {
      const { status } = await service.post('login', { identifier: email, password })
      if (status === 200) opening.push(password)
    }
    expect(confirmed.body.message).toEqual(message(opening.length === 0))
    return opening
  }

  const [here, there] = ['198.51.100.1', '203.0.113.1']
  const owner: Try = [here, OWNERS]
  const ownerElsewhere: Try = [there, OWNERS]
  const stranger: Try = [there, STRANGERS]
  const strangerHere: Try = [here, STRANGERS]
  const at = (address: string, [, password]: Try): Try => [address, password]

  test.each<[string, Try[], string[]]>([
    ['one registration', [owner], [OWNERS]],
    ['the same again', [owner, owner], [OWNERS]],
    ['the same password from another address', [owner, ownerElsewhere], [OWNERS]],
    ['another password from the same address', [strangerHere, owner], []],
    ['another one from another address, the stranger first', [stranger, owner], []],
    ['another one from another address, the stranger last', [owner, stranger], []],
    ['the stranger in between', [owner, stranger, owner], []],
    ['the stranger first and last', [stranger, owner, stranger], []],
    ['whatever the strangers send afterwards', [owner, stranger, stranger, stranger], []],
    ['two addresses of one /64', [at('2001:db8::1', stranger), at('2001:db8::2', owner)], []],
    ['two addresses of two /64', [at('2001:db8::1', stranger), at('2001:db8:0:1::1', owner)], []],
  ])('or not: %s', async (_name, tries, opening) => {
    expect(await openedBy(tries)).toEqual(opening)
  })

  test('in a race of both too', async () => {
    const emails = Array.from({ length: 8 }, newEmail)
    for (const email of emails)
      await Promise.all([
        service.post('register', registration(email, OWNERS), from(here)),
        service.post('register', registration(email, STRANGERS), from(there)),
      ])
    // The two mails may arrive in either order; the code of the registration that came last is the right one.
    await service.delivered()
    for (const email of emails) {
      const codes = service.inbox.codesTo(email)
      const answers = []
      for (const otp of codes) answers.push(await service.post('verify-account', { identifier: email, otp }))
      const right = answers.map(({ status }) => status === 201)
      expect([codes.length, right.filter(Boolean)]).toEqual([codes.length, [true]])
      const opened: number[] = []
      for (const password of [OWNERS, STRANGERS])
        opened.push((await service.post('login', { identifier: email, password })).status)
      expect(opened).toEqual([401, 401])
    }
  })
})

describe('who an identifier means, with limits on', () => {
  beforeAll(async () => {
    service = await startLimited({ shape: 'postgres' })
  })
  afterAll(() => service?.close())

  const [owner, stranger] = [() => newClient(), () => newClient()]
  const register = (contacts: { email?: string; phone?: string }, password: string, client: CallOptions) =>
    registerInOrder({ ...contacts, password, password_confirmation: password }, client)
  const logIn = (identifier: string, password: string) =>
    service.post('login', { identifier, password }, newClient())

  test('a registration by phone does not take the number away from the account that signs in with it', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await register({ email, phone }, OWNERS, owner())
    await confirm(email)
    await register({ phone }, STRANGERS, stranger())
    const later = newEmail()
    await register({ email: later, phone }, STRANGERS, stranger())
    await confirm(later)
    const { status, body } = await logIn(phone, OWNERS)
    expect([status, body.account?.email]).toEqual([200, email])
    expect((await logIn(phone, STRANGERS)).status).toBe(401)
  })

  test('a claim to a number keeps nobody from registering, confirming or resetting by it', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await register({ email, phone }, STRANGERS, stranger())
    await confirm(email)
    await register({ phone }, OWNERS, owner())
    expect((await logIn(phone, OWNERS)).status).toBe(401)
    await service.post('password/forgot', { identifier: phone }, owner())
    const otp = await service.newestCode(phone)
    const reset = { identifier: phone, otp, password: NEW, password_confirmation: NEW }
    expect((await service.post('password/reset', reset, owner())).status).toBe(200)
    const { body } = await logIn(phone, NEW)
    expect([body.account.phone, body.account.email]).toEqual([phone, null])
  })

  test('what tells of a contested registration lives as long as the registration', async () => {
    const email = newEmail()
    await register({ email }, OWNERS, owner())
    service.clock.advance(6 * 86_400_000)
    await register({ email }, STRANGERS, stranger())
    service.clock.advance(2 * 86_400_000)
    await service.inside.housekeeping.run()
    await service.post('resend-verification', { identifier: email }, owner())
    expect((await confirm(email)).status).toBe(201)
    expect((await logIn(email, STRANGERS)).status).toBe(401)
    expect(await countRows(service, 'registration_claims', sql`contact = ${sql.raw(`'${email}'`)}`)).toBe(0)
  })

  test('a contested confirmation keeps no contact that a stranger added', async () => {
    const [email, ownPhone] = [newEmail(), newPhone()]
    await register({ email }, OWNERS, owner())
    await register({ email, phone: ownPhone }, STRANGERS, stranger())
    expect((await confirm(email)).status).toBe(201)
    await service.post('password/forgot', { identifier: email }, owner())
    const otp = await service.newestCode(email)
    await service.post(
      'password/reset',
      { identifier: email, otp, password: NEW, password_confirmation: NEW },
      owner(),
    )
    expect((await logIn(email, NEW)).body.account.phone).toBeNull()
    expect((await logIn(ownPhone, NEW)).status).toBe(401)
  })

  test('a stranger who verifies a phone of their own does not void the owner’s registration or code', async () => {
    const [email, ownPhone] = [newEmail(), newPhone()]
    await register({ email }, OWNERS, owner())
    await register({ email, phone: ownPhone }, STRANGERS, stranger())
    const otp = await service.newestCode(email)
    await service.post('resend-verification', { identifier: ownPhone }, stranger())
    expect((await confirm(ownPhone)).status).toBe(201)
    const confirmed = await service.post(
      'verify-account',
      { identifier: email, otp, password: OWNERS },
      owner(),
    )
    expect(confirmed.status).toBe(201)
    const mine = (await logIn(email, OWNERS)).body.account
    const theirs = (await logIn(ownPhone, STRANGERS)).body.account
    expect([mine.phone, theirs.email]).toEqual([null, null])
    expect(mine.uuid).not.toBe(theirs.uuid)
  })

  test('whoever brings the code and a password has that password, and no other one opens the account', async () => {
    const [email, ownPhone] = [newEmail(), newPhone()]
    await register({ email, phone: ownPhone }, STRANGERS, stranger())
    const { status, body } = await service.post(
      'verify-account',
      { identifier: email, otp: await service.newestCode(email), password: OWNERS },
      owner(),
    )
    expect([status, body]).toEqual([201, { status: 201, message: fr.sentences.account_confirmed }])
    expect((await logIn(email, STRANGERS)).status).toBe(401)
    expect((await logIn(email, OWNERS)).body.account.phone).toBeNull()
  })

  test('a password that is refused leaves the code as it was; signing in needs one in the same call', async () => {
    const email = newEmail()
    await register({ email }, OWNERS, owner())
    const otp = await service.newestCode(email)
    const refusals: [object, object][] = [
      [{ password: '1234567' }, { field: 'password', code: 'weak_password' }],
      [{ password: email }, { field: 'password', code: 'weak_password' }],
      [{ sign_in: true }, { field: 'password', code: 'required' }],
    ]
    for (const [fields, error] of refusals) {
      const answer = await service.post('verify-account', { identifier: email, otp, ...fields }, owner())
      expect([answer.status, answer.body.errors]).toEqual([422, [expect.objectContaining(error)]])
    }
    const body = { identifier: email, otp, password: NEW, sign_in: true, device_name: 'My phone' }
    const answer = await service.post('verify-account', body, owner())
    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual([
      'status',
      'message',
      'access_token',
      'refresh_token',
      'account',
    ])
    expect(answer.body.account.email).toBe(email)
    const { sessions } = (await service.get('sessions', { bearer: answer.body.access_token })).body
    expect(sessions).toEqual([expect.objectContaining({ device_name: 'My phone' })])
  })

  test('of 32 callers with one code and passwords of their own, one has the account', async () => {
    const email = newEmail()
    await register({ email }, OWNERS, owner())
    const otp = await service.newestCode(email)
    const answers = await race([service], (_, caller) =>
      service.post(
        'verify-account',
        { identifier: email, otp, password: `the password of caller ${caller}`, sign_in: true },
        newClient(),
      ),
    )
    onlySuccess(answers, 'invalid_code', 'too_many_attempts')
    const winner = answers.findIndex(({ status }) => status === 201)
    expect((await logIn(email, `the password of caller ${winner}`)).status).toBe(200)
    expect((await logIn(email, OWNERS)).status).toBe(401)
  })

  test('an account that was made for somebody is not replaced or joined by a registration', async () => {
    const email = newEmail()
    await asOperator(service, 'POST', 'accounts', { email, password: OWNERS })
    expect((await register({ email }, STRANGERS, stranger())).status).toBe(201)
    expect(service.inbox.textsTo(email).at(-1)).not.toMatch(/\d{6}/)
    expect(await countRows(service, 'accounts', sql`email_key = ${sql.raw(`'${email}'`)}`)).toBe(1)
    expectRefusal(await logIn(email, OWNERS), 'account_unconfirmed')
  })

  test('registering with what is somebody’s changes nothing of their account, and tells only them', async () => {
    const { identifier } = await service.signUp(newEmail())
    const before = (await logIn(identifier, PASSWORD)).body.account
    const answer = await register({ email: identifier, phone: newPhone() }, STRANGERS, stranger())
    expect(answer.body.message).toBe(fr.sentences.code_sent_by_email)
    expect(service.inbox.textsTo(identifier)).toHaveLength(2)
    expect(service.inbox.textsTo(identifier)[1]).not.toMatch(/\d{6}/)
    expect((await logIn(identifier, STRANGERS)).status).toBe(401)
    const { account } = (await logIn(identifier, PASSWORD)).body
    expect([account.uuid, account.phone, account.created_at]).toEqual([before.uuid, null, before.created_at])
  })
})
