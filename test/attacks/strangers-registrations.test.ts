/**
 * Somebody registers your address with what is theirs, and then you open the account: by every way there is, with a
 * password, with an empty one or without one. Nothing of theirs is in it, and nothing of theirs opens it.
 */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { openBrowser, type PageBrowser, pageSettings } from '../helpers/page-browser.ts'
import { expectInvalid, expectRefusal } from '../helpers/refusals.ts'
import { useService } from '../helpers/use-service.ts'

const settings = { ...pageSettings, server: { ...pageSettings.server, language: 'en' } }
const service = useService({ settings: { ...settings, accounts: { password: 'optional' } } })

const THEIRS = 'the attacker’s password'
const passwordFields = (password: string | undefined) =>
  password === undefined ? {} : { password, password_confirmation: password }

const administered = async (identifier: string) =>
  (await asOperator(service, 'GET', `accounts?query=${encodeURIComponent(identifier)}`)).body.items[0]

let invitation: Promise<string> | undefined
/** The code of an invitation that is the stranger's. */
function theirInvitation() {
  const made = () => asOperator(service, 'POST', 'invitations', { groups: ['attackers'], uses: 1000 })
  invitation ??= made().then(({ body }) => body.code)
  return invitation
}

/** The stranger registers the address with what is theirs. */
async function attack(email: string, phone: string, password?: string): Promise<void> {
  const body = { email, phone, profile: { name: 'Mallory' }, invitation: await theirInvitation() }
  const answer = await service.post('register', { ...body, ...passwordFields(password) })
  expect(answer.status).toBe(201)
  // Of two messages that are sent at the same time either one may come last.
  await service.delivered()
}

type Password = 'named' | 'empty' | 'absent'
type Order = 'before' | 'after' | 'alone'

/** A way of the owner to their account. */
interface Way {
  passwords: Password[]
  /** It asks for a code; null: the only one is that of the stranger's registration. */
  begin: ((identifier: string, password?: string) => Promise<unknown>) | null
  /** It opens the account and signs in; `begun`: what `begin` gave. */
  finish(typed: { identifier: string; otp: string; password?: string }, begun: unknown): Promise<unknown>
  /** A reset is no confirmation: its code is another one, and it keeps the invitation of a registration that waits. */
  isReset?: true
}

const post = async (path: string, body: object, status: number) =>
  expect([path, (await service.post(path, body)).status]).toEqual([path, status])

const register = (email: string, password?: string) =>
  post('register', { email, ...passwordFields(password) }, 201)
const verify: Way['finish'] = (typed) => post('verify-account', { ...typed, sign_in: true }, 201)
const resend = (identifier: string) => post('resend-verification', { identifier }, 201)
const requestCode = (identifier: string) => post('2fa/request-otp', { identifier, create: true }, 201)
const enterByCode: Way['finish'] = (typed) => post('2fa/verify', { ...typed, create: true }, 200)

/** Begins on that page; gives the browser. */
const beginAt =
  (path: string, button: string) =>
  async (identifier: string, password = '') => {
    const page = await openBrowser(service.url).open(path)
    const hasPassword = page.forms.some(({ fields }) => 'password' in fields)
    return page.press(button, { identifier, ...(path === '/sign-up' && hasPassword && { password }) })
  }

/** Ends on that page, in the browser that began or in another one, where the identifier has to be typed. */
const endAt =
  (path: string, button: string): Way['finish'] =>
  async (typed, begun) => {
    const page = (begun as PageBrowser | null) ?? (await openBrowser(service.url).open(path))
    const fields = page.forms.flatMap((form) => Object.keys(form.fields))
    const own = Object.entries(typed).filter(([name]) => fields.includes(name))
    await page.press(button, Object.fromEntries(own))
    expect([page.path, page.said]).toEqual(['/account', ''])
  }

const ways: Record<string, Way> = {
  'register and verify-account': { passwords: ['named', 'absent'], begin: register, finish: verify },
  'verify-account': { passwords: ['named', 'absent'], begin: null, finish: verify },
  'resend-verification and verify-account': {
    passwords: ['named', 'absent'],
    begin: resend,
    finish: verify,
  },
  '2fa/request-otp and 2fa/verify': { passwords: ['absent'], begin: requestCode, finish: enterByCode },
  '2fa/verify': { passwords: ['absent'], begin: null, finish: enterByCode },
  'password/forgot and password/reset': {
    passwords: ['named'],
    begin: (identifier) => post('password/forgot', { identifier }, 201),
    finish: (typed) => post('password/reset', { ...typed, ...passwordFields(typed.password) }, 200),
    isReset: true,
  },
  '/sign-up and /confirm': {
    passwords: ['named', 'empty'],
    begin: beginAt('/sign-up', 'Create an account'),
    finish: endAt('/confirm', 'Confirm'),
  },
  '/confirm': { passwords: ['named', 'empty'], begin: null, finish: endAt('/confirm', 'Confirm') },
  '/sign-in and /code': {
    passwords: ['absent'],
    begin: beginAt('/sign-in', 'Send a code'),
    finish: endAt('/code', 'Sign in'),
  },
  '/code': { passwords: ['absent'], begin: null, finish: endAt('/code', 'Sign in') },
  '/recover and /choose-password': {
    passwords: ['named'],
    begin: beginAt('/recover', 'Send a code'),
    finish: endAt('/choose-password', 'Save password'),
    isReset: true,
  },
}

const typedPasswords = { named: PASSWORD, empty: '', absent: undefined }

const cases = Object.entries(ways).flatMap(([name, way]) => {
  const orders: Order[] = way.begin === null ? ['alone'] : way.isReset ? ['before'] : ['before', 'after']
  return way.passwords.flatMap((own) =>
    orders.flatMap((order) => [THEIRS, undefined].map((theirs) => ({ name, own, order, theirs }))),
  )
})

describe('whoever registered your address opens nothing, and has left nothing, when you came', () => {
  test.each(cases)(
    'by $name, password $own, stranger $order ($theirs)',
    async ({ name, own, order, theirs }) => {
      const way = ways[name]!
      const password = typedPasswords[own]
      const [identifier, phone] = [newEmail(), newPhone()]
      if (order !== 'after') await attack(identifier, phone, theirs)
      const begun = (await way.begin?.(identifier, password)) ?? null
      if (order === 'after') await attack(identifier, phone, theirs)
      const otp = await service.newestCode(identifier)
      await way.finish({ identifier, otp, ...(password !== undefined && { password }) }, begun)
      expect(await administered(identifier)).toMatchObject({
        phone: null,
        profile: {},
        ...(!way.isReset && name !== '2fa/verify' && name !== '/code' && { groups: [] }),
      })
      for (const claimed of [identifier, phone])
        expectRefusal(
          await service.post('login', { identifier: claimed, password: THEIRS }),
          'invalid_credentials',
        )
    },
  )
})

test('an empty password is none at the interface, and is refused before the code is used', async () => {
  const email = newEmail()
  await attack(email, newPhone(), THEIRS)
  const body = { identifier: email, otp: await service.newestCode(email), sign_in: true }
  expectInvalid(await service.post('verify-account', { ...body, password: '' }), {
    password: 'weak_password',
  })
  expect((await service.post('verify-account', { ...body, password: null })).status).toBe(201)
  expect(await administered(email)).toMatchObject({ phone: null, has_password: false })
})

test('whoever comes by the other contact of a registration leaves it to the one that it waits for', async () => {
  const [theirs, phone] = [newEmail(), newPhone()]
  await attack(theirs, phone, THEIRS)
  await resend(phone)
  await verify({ identifier: phone, otp: await service.newestCode(phone) }, null)
  expect(await administered(phone)).toMatchObject({
    email: null,
    profile: {},
    groups: [],
    has_password: false,
  })
  expectRefusal(await service.post('login', { identifier: phone, password: THEIRS }), 'invalid_credentials')
  await verify({ identifier: theirs, otp: await service.inbox.nextCode(theirs), password: THEIRS }, null)
  expect(await administered(theirs)).toMatchObject({ phone: null, profile: { name: 'Mallory' } })
})

test('without sign_in an uncontested registration is confirmed as it was sent', async () => {
  const [email, phone] = [newEmail(), newPhone()]
  await attack(email, phone, PASSWORD)
  await post('verify-account', { identifier: email, otp: await service.newestCode(email) }, 201)
  expect(await administered(email)).toMatchObject({ phone, groups: ['attackers'], has_password: true })
  await service.logIn({ identifier: email, password: PASSWORD })
})

test('an account that was made for somebody keeps what its administrator wrote', async () => {
  const [email, phone] = [newEmail(), newPhone()]
  const made = await asOperator(service, 'POST', 'accounts', { email, phone, groups: ['staff'] })
  await service.post('register', { email, ...passwordFields(THEIRS) })
  await resend(email)
  await verify({ identifier: email, otp: await service.newestCode(email) }, null)
  expect(await administered(email)).toMatchObject({ uuid: made.body.account.uuid, phone, groups: ['staff'] })
})
