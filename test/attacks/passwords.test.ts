/** The rules for passwords, and that the whole password counts, through HTTP. */
import { describe, expect, test } from 'bun:test'
import { newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useService } from '../helpers/use-service.ts'

const service = useService()

/** Letters in no order that a list or a keyboard knows. */
const letters = (count: number) =>
  Array.from({ length: count }, (_, i) => 'qzjxkvbw'[(i * i + 3 * i) % 8]).join('')

async function registerWith(password: string, identifier = newEmail()) {
  const { status, body } = await service.post('register', registration(identifier, password), {
    language: 'en',
  })
  return { status, error: body.errors?.[0] as { field: string; code: string; message: string } | undefined }
}
const logIn = async (identifier: string, password: string) =>
  (await service.post('login', { identifier, password })).status

describe('the whole password counts', () => {
  test('to the last letter of 256, and beyond the 72 bytes and the NUL at which others stop', async () => {
    const identifier = newEmail()
    const password = letters(256)
    await service.signUp(identifier, password)
    expect(await logIn(identifier, password)).toBe(200)
    const others = [72, 73, 128, 255].map((length) => password.slice(0, length))
    for (const other of [
      ...others,
      `${password}q`,
      `${password.slice(0, 255)}#`,
      ` ${password}`,
      `${password} `,
    ]) {
      expect(await logIn(identifier, other)).toBe(401)
    }
  })

  test('of 256 emoji too', async () => {
    const identifier = newEmail()
    const password = Array.from({ length: 256 }, (_, i) => ['🦊', '🐻', '🦉', '🐙'][(i * i) % 4]).join('')
    await service.signUp(identifier, password)
    expect(await logIn(identifier, password)).toBe(200)
    expect(await logIn(identifier, password.slice(0, -2))).toBe(401)
  })

  test('case, blanks at the ends and in between are part of it', async () => {
    const identifier = newEmail()
    await service.signUp(identifier, '  Two  Blanks  ')
    for (const other of ['Two  Blanks', ' Two Blanks ', '  two  blanks  '])
      expect(await logIn(identifier, other)).toBe(401)
    expect(await logIn(identifier, '  Two  Blanks  ')).toBe(200)
  })
})

test.each([
  ['composed, then decomposed', 'é'.normalize('NFC'), 'é'.normalize('NFD')],
  ['decomposed, then composed', 'ủ'.normalize('NFD'), 'ủ'.normalize('NFC')],
  ['full width, then half width', 'ＡＢＣ', 'ABC'],
  ['a ligature, then its letters', 'ﬃ', 'ffi'],
  ['Hangul composed, then in parts', '각', '각'.normalize('NFD')],
  ['a no-break space, then a space', 'a\u00a0b', 'a b'],
])('%s: the same password', async (_name, one, other) => {
  const identifier = newEmail()
  await service.signUp(identifier, `${one} une phrase`)
  expect(await logIn(identifier, `${other} une phrase`)).toBe(200)
  expect(await logIn(identifier, 'une phrase')).toBe(401)
  const person = {
    email: newEmail(),
    password: `${one} une phrase`,
    password_confirmation: `${other} une phrase`,
  }
  expect((await service.post('register', person)).status).toBe(201)
})

describe('refused with the reason', () => {
  test('one’s own identifier, in any spelling', async () => {
    const email = `someone.${crypto.randomUUID().slice(0, 8)}@example.com`
    const phone = newPhone()
    const tries: [string, string][] = [
      [email, email],
      [email, email.toUpperCase()],
      [email, ` ${email} `],
      [email, email.split('@')[0] as string],
      [phone, phone],
      [phone, phone.replace('+33', '0')],
      [phone, phone.replace('+', '00')],
      [phone, phone.replace(/(\d\d)/g, '$1 ')],
    ]
    for (const [identifier, password] of tries) {
      const { status, error } = await registerWith(password, identifier)
      expect([password, status, error?.code]).toEqual([password, 422, 'weak_password'])
      expect(error?.message).toInclude('identifier')
    }
  })

  test.each([
    ['password', 'weak_password'],
    ['short', 'weak_password'],
    [letters(257), 'too_long'],
    ['x\u0000yyyyyyyyy', 'invalid_characters'],
    ['lone \ud83d surrogate', 'invalid_characters'],
  ])('in a reset and in a change as in a registration: %j is %s', async (password, code) => {
    const { identifier, password: current_password } = await service.signUp(newEmail())
    const { access_token: bearer } = await service.logIn({ identifier, password: current_password })
    const otp = await service.askCode('password/forgot', identifier)
    const fields = { password, password_confirmation: password }
    const answers = await Promise.all([
      service.post('register', registration(newEmail(), password)),
      service.post('password/reset', { identifier, otp, ...fields }),
      service.post('password/change', { current_password, ...fields }, { bearer }),
    ])
    for (const { status, body } of answers) {
      expect([status, body.errors[0].field, body.errors[0].code]).toEqual([422, 'password', code])
      expect(body.errors).toEqual(answers[0].body.errors)
    }
  })
})

test('a login with a password that none can be costs what any wrong one does, and is refused like it', async () => {
  const { identifier } = await service.signUp(newEmail())
  for (const password of ['', 'x', letters(257), letters(15_000)]) {
    expectRefusal(await service.post('login', { identifier, password }), 'invalid_credentials')
  }
})

test('nobody opens an account with the name of the service', async () => {
  const { status, error } = await registerWith('Poterne-2026')
  expect([status, error?.code]).toEqual([422, 'weak_password'])
  expect(error?.message).toBe('The password must not be made of the name of this service.')
})
