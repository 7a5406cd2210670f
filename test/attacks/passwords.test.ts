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

describe('the length, in code points', () => {
  test.each([
    [7, 'too short'],
    [8, null],
    [64, null],
    [256, null],
    [257, 'too long'],
    [5000, 'too long'],
  ])('%i letters: refused as %s', async (count, reason) => {
    const { status, error } = await registerWith(letters(count))
    expect([status, error?.field ?? null]).toEqual(reason ? [422, 'password'] : [201, null])
    if (reason) expect(error?.message).toInclude(reason)
  })

  /** No letter over and over, which would be refused as common: two kinds by turns. */
  const mixed = (one: string, other: string, count: number) =>
    Array.from({ length: count }, (_, i) => ((i * i) % 3 ? one : other)).join('')

  test.each([
    ['emoji', mixed('🦊', '🐻', 256), 201],
    ['emoji', mixed('🦊', '🐻', 257), 422],
    ['ligatures of two letters', mixed('ﬁ', 'ﬂ', 128), 201],
    ['ligatures of two letters', mixed('ﬁ', 'ﬂ', 129), 422],
    ['letters with combining accents', mixed('e\u0301', 'a\u0300', 256), 201],
    ['letters with combining accents', mixed('e\u0301', 'a\u0300', 257), 422],
  ])('%s, after NFKC', async (_name, password, status) => {
    expect((await registerWith(password)).status).toBe(status)
  })
})

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
  test.each([
    'password',
    '12345678',
    'qwertyuiop',
    'PASSWORD',
    'azertyuiop',
    'iloveyou',
    'motdepasse',
    'aaaaaaaa',
    '87654321',
    'abcdefgh',
    'password1',
    '11111111',
  ])('%s is common', async (password) => {
    const { status, error } = await registerWith(password)
    expect([status, error?.code]).toEqual([422, 'weak_password'])
    expect(error?.message).toMatch(/common|short/)
  })

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
    'eight\u0000letters',
    '\u0000\u0000\u0000\u0000\u0000\u0000\u0000\u0000',
    'lone \ud83d surrogate',
    '\udc00 lone surrogate',
  ])('%j has characters no password has', async (password) => {
    const { status, error } = await registerWith(password)
    expect([status, error?.field, error?.code]).toEqual([422, 'password', 'invalid_characters'])
    expect((await service.post('login', { identifier: newEmail(), password })).status).toBe(422)
  })

  test('two that differ', async () => {
    const body = {
      email: newEmail(),
      password: 'one good password',
      password_confirmation: 'one good passwore',
    }
    const answer = await service.post('register', body)
    expect([answer.status, answer.body.errors]).toEqual([
      422,
      [{ field: 'password_confirmation', code: 'password_mismatch', message: expect.any(String) }],
    ])
  })

  test('in a reset and in a change as in a registration', async () => {
    const person = await service.signUp(newEmail())
    const { access_token: bearer } = await service.logIn(person)
    await service.post('password/forgot', { identifier: person.identifier })
    const otp = await service.inbox.nextCode(person.identifier)
    for (const password of ['password', person.identifier, 'short', letters(257), 'x\u0000yyyyyyyyy']) {
      const fields = { password, password_confirmation: password }
      const reset = await service.post('password/reset', { identifier: person.identifier, otp, ...fields })
      const change = await service.post(
        'password/change',
        { current_password: person.password, ...fields },
        { bearer },
      )
      expect([reset.status, change.status]).toEqual([422, 422])
      expect(reset.body.errors).toEqual(change.body.errors)
    }
  })
})

test('a login with a password that none can be costs what any wrong one does, and is refused like it', async () => {
  const { identifier } = await service.signUp(newEmail())
  for (const password of ['', 'x', letters(257), letters(15_000)]) {
    const answer = await service.post('login', { identifier, password })
    expectRefusal(answer, 'invalid_credentials')
  }
})

test('nobody opens an account with the name of the service', async () => {
  const { status, error } = await registerWith('Poterne-2026')
  expect([status, error?.code]).toEqual([422, 'weak_password'])
  expect(error?.message).toBe('The password must not be made of the name of this service.')
})
