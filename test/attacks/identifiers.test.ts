/** Spellings by which one person could be two, or two one: one account, one bucket, one recipient equal to the stored one. */
import { describe, expect, test } from 'bun:test'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { confirmedAccounts } from '../helpers/database.ts'
import { newClient, startLimited } from '../helpers/limited-service.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const service = useService()

const register = (contact: { email?: unknown; phone?: unknown }) =>
  service.post('register', { ...contact, password: PASSWORD, password_confirmation: PASSWORD })

describe('e-mail addresses', () => {
  /** The newest code in a mail to exactly this address, as the SMTP conversation named it. */
  const codeTo = async (recipient: string, nth: number) =>
    (
      await waitFor(() => service.smtp.messages.filter(({ envelope }) => envelope.to[0] === recipient)[nth], {
        what: `mail ${nth} to ${recipient}`,
      })
    ).code

  test('in another case or with spaces around they are one account, and mail goes to it as it was given', async () => {
    const local = `Ada.${crypto.randomUUID().slice(0, 8)}`
    const email = `${local}@Example.COM`
    // A domain has no case (RFC 1035), and is sent in small letters; the local part stays as it was given.
    const recipient = `${local}@example.com`
    const before = await confirmedAccounts(service)
    await register({ email })
    const otp = await codeTo(recipient, 0)
    expect((await service.post('verify-account', { identifier: email, otp })).status).toBe(201)
    const spellings = [email.toLowerCase(), email.toUpperCase(), `  ${email}`, `${email}\t\r\n`, ` ${email} `]
    for (const [index, identifier] of spellings.entries()) {
      expect((await service.post('login', { identifier, password: PASSWORD })).body.account.email).toBe(email)
      await service.post('2fa/request-otp', { identifier })
      expect(await codeTo(recipient, index + 1)).toMatch(/^\d{6}$/)
    }
    for (const identifier of spellings) expect((await register({ email: identifier })).status).toBe(201)
    expect(await confirmedAccounts(service)).toBe(before + 1)
    await codeTo(recipient, 2 * spellings.length)
    for (const { to, envelope } of service.smtp.messages) {
      expect([envelope.to, to]).toEqual([[recipient], recipient])
    }
  })

  test('an internationalised domain and its ASCII form are one account', async () => {
    const local = `u${crypto.randomUUID().slice(0, 8)}`
    const email = `${local}@xn--mnchen-3ya.example`
    await register({ email })
    const mail = await service.smtp.waitFor(({ envelope }) => envelope.to[0]?.startsWith(local) === true)
    expect(mail.raw).toContain(`To: ${email}`)
    expect((await service.post('verify-account', { identifier: email, otp: mail.code })).status).toBe(201)
    for (const identifier of [
      `${local}@münchen.example`,
      `${local}@MÜNCHEN.example`,
      `${local}@mu\u0308nchen.example`,
    ]) {
      expect((await service.post('login', { identifier, password: PASSWORD })).status).toBe(200)
    }
  })

  /** The form of an address refuses every other one: see domain/identifiers. */
  const lookAlikes: [string, (email: string) => string][] = [
    ['a Kelvin sign', (email) => email.replace('k', '\u212a')],
    ['a Cyrillic letter', (email) => email.replace('a', '\u0430')],
    ['a right-to-left mark', (email) => email.replace('k', '\u202ek')],
    ['a full-width at sign', (email) => email.replace('@', '\uff20')],
  ]
  test.each(lookAlikes)('%s in the local part is refused, and never somebody else', async (_name, spell) => {
    const email = `kisa-${crypto.randomUUID().slice(0, 8)}@example.com`
    await service.signUp(email)
    const alike = spell(email)
    expect(alike).not.toBe(email)
    const refused = await register({ email: alike })
    expect([refused.status, refused.body.errors[0].code]).toEqual([422, 'invalid_email'])
    const sent = await service.delivered()
    for (const operation of ['2fa/request-otp', 'resend-verification', 'password/forgot'])
      await service.post(operation, { identifier: alike })
    expect((await service.post('login', { identifier: alike, password: PASSWORD })).status).toBe(401)
    await service.post('2fa/request-otp', { identifier: email })
    await service.inbox.nextCode(email)
    expect(await service.delivered()).toBe(sent + 1)
  })

  test.each([
    'a@example.com,b@example.com',
    'Ada <a@example.com>',
    '"a b"@example.com',
    'a@example.com\r\nBcc: b@example.com',
    'a\r\nDATA@example.com',
    'a@example.com%0d%0aBcc:b@example.com',
    'a@[127.0.0.1]',
    'a@example.com\u0000',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(600)}.com`,
  ])('%j is refused, and nothing is sent', async (email) => {
    const sent = await service.delivered()
    const { status, body } = await register({ email })
    expect(status).toBe(422)
    expect(['invalid_email', 'invalid_characters', 'too_long']).toContain(body.errors[0].code)
    expect(JSON.stringify(body)).not.toContain('example.com')
    expect(await service.delivered()).toBe(sent)
  })

  test('percent signs stay what they are: one address, no line break', async () => {
    const email = `a%0d%0abcc-${crypto.randomUUID().slice(0, 8)}@example.com`
    await service.signUp(email)
    const [mail] = service.smtp.messages.filter(({ envelope }) => envelope.to.includes(email))
    expect(mail?.envelope.to).toEqual([email])
    expect(Object.keys(mail?.headers ?? {})).not.toContain('bcc')
  })
})

describe('telephone numbers', () => {
  const arabicIndic = (text: string) =>
    text.replace(/\d/g, (digit) => String.fromCharCode(0x660 + Number(digit)))
  const fullWidth = (text: string) =>
    text.replace(/[\d+]/g, (one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0))
  /** German ones, read where Germany is the default country, and French ones where France is. */
  const spellings = (e164: string, callingCode: string) => {
    const national = e164.slice(callingCode.length + 1)
    return [
      e164,
      `00${callingCode}${national}`,
      `0${national}`,
      `+${callingCode} ${national.slice(0, 3)} ${national.slice(3)}`,
      `+${callingCode} (0)${national}`.replace('(0)', ''),
      `0${national.slice(0, 3)}-${national.slice(3, 6)}/${national.slice(6)}`,
      `(0${national.slice(0, 3)}) ${national.slice(3)}`,
      ` 0${national.replace(/(..)/g, '$1.')} `.replace('. ', ' '),
      arabicIndic(`0${national}`),
      fullWidth(e164),
      `\u202a${e164}\u202c`,
    ]
  }

  test.each([
    ['FR', '33', () => newPhone()],
    ['DE', '49', () => `+491701${String(100_000 + (Date.now() % 899_999)).padStart(6, '0')}`],
  ] as const)(
    'in every spelling of %s are one account, one bucket and one recipient',
    async (country, code, number) => {
      await using local = await startLimited({ settings: { accounts: { default_country: country } } })
      const phone = number()
      const [first, ...others] = spellings(phone, code) as [string, ...string[]]
      await local.post('register', registration(first.startsWith('+') ? first : phone), newClient())
      const otp = await local.inbox.nextCode(phone)
      const confirmed = await local.post('verify-account', { identifier: others[1], otp }, newClient())
      expect([country, confirmed.status]).toEqual([country, 201])
      for (const identifier of spellings(phone, code)) {
        const { body } = await local.post('login', { identifier, password: PASSWORD }, newClient())
        expect([identifier, body.account?.phone]).toEqual([identifier, phone])
      }
      local.clock.advance(3_600_000)
      const statuses: number[] = []
      for (const identifier of spellings(phone, code)) {
        statuses.push((await local.post('2fa/request-otp', { identifier }, newClient())).status)
      }
      expect(statuses.filter((status) => status === 201)).toHaveLength(3)
      expect(new Set(local.gateway.messages.map(({ to }) => to))).toEqual(new Set([phone]))
    },
  )

  test.each([
    '+33612345678,+33612345679',
    '+33612345678;ext=5',
    '+33612345678\r\nto: +33600000000',
    '+33612345678%0a',
    '+33-6-12-34-56-78-',
    '𝟎𝟔𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖',
    '9'.repeat(9000),
  ])('%j is refused, or the one number it can only mean', async (phone) => {
    const { status, body } = await register({ phone })
    if (status === 201) {
      await service.inbox.nextCode('+33612345678')
    } else {
      expect([status, ['invalid_phone', 'too_long'].includes(body.errors[0].code)]).toEqual([422, true])
    }
  })

  test('an e-mail address and a phone of one account are counted by what is typed, and open one account', async () => {
    const [email, phone] = [newEmail(), newPhone()]
    await service.post('register', { ...registration(email), phone })
    await service.post('verify-account', { identifier: email, otp: await service.inbox.nextCode(email) })
    const uuids = await Promise.all(
      [email, phone].map(async (identifier) => {
        const { body } = await service.post('login', { identifier, password: PASSWORD })
        return body.account.uuid
      }),
    )
    expect(new Set(uuids).size).toBe(1)
  })
})

test('identifiers of other JSON types are refused by name, and never reach a query', async () => {
  for (const value of [1, true, ['a@example.com'], { $ne: null }, { toString: 'a@example.com' }, null]) {
    for (const operation of [
      'login',
      '2fa/verify',
      'verify-account',
      'resend-verification',
      'password/forgot',
    ]) {
      const { status, body } = await service.post(operation, {
        identifier: value,
        password: PASSWORD,
        otp: '000000',
      })
      expect([operation, status, body.errors[0].field]).toEqual([operation, 422, 'identifier'])
    }
    if (value === null) continue
    expect((await register({ email: value })).status).toBe(422)
    expect((await register({ phone: value })).status).toBe(422)
  }
})
