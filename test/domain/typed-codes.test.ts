/** Codes as people type and paste them: read alike in every operation, and a text that can be none costs no attempt. */
import { describe, expect, test } from 'bun:test'
import { newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { newClient } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { useLimited } from '../helpers/use-service.ts'

const inScript = (zero: number) => (code: string) =>
  code.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
const scripts = [0x660, 0x6f0, 0x9e6, 0x966, 0xe50, 0xff10, 0x7c0, 0x1e950].map(inScript)
const marked = [
  (code: string) => `"${code}".`,
  (code: string) => `« ${code.slice(0, 3)}\u00a0${code.slice(3)} »`,
  (code: string) => `(${[...code].join('-')})`,
  (code: string) => `\ufeff${[...code].join('\u200b')}\u2069`,
  (code: string) => [...code].map((digit) => `${digit}\ufe0f\u20e3`).join(''),
  (code: string) => `#${code},\r\n`,
  (code: string) => `“${code.slice(0, 2)}·${code.slice(2, 4)}/${code.slice(4)}”;`,
]
const spellings = [...scripts, ...marked]
const noCodes = [
  '',
  '12345',
  '1234567',
  'code',
  '12345o',
  '½½½½½½',
  'x'.repeat(300),
  '123 456 789',
  '１２３４５',
]

describe('a code that was typed', () => {
  const service = useLimited()
  const spelling = (() => {
    let next = 0
    return () => spellings[next++ % spellings.length]!
  })()

  test('is read in every script and with every mark at the confirmation', async () => {
    for (const spell of spellings) {
      const identifier = newEmail()
      await service.post('register', registration(identifier), newClient())
      const otp = spell(await service.inbox.nextCode(identifier))
      expect([otp, (await service.post('verify-account', { identifier, otp }, newClient())).status]).toEqual([
        otp,
        201,
      ])
    }
  })

  test('is read in every other operation', async () => {
    const { person, bearer } = await service.signedIn(newEmail())
    const call = async (path: string, otp: string, more: object = {}) => {
      const typed = spelling()(otp)
      const answer = await service.post(path, { otp: typed, ...more }, { bearer, ...newClient() })
      expect([path, typed, answer.status]).toEqual([path, typed, 200])
      return answer.body
    }
    const { identifier } = person
    await call('2fa/verify', await service.askCode('2fa/request-otp', identifier, newClient()), {
      identifier,
    })
    const phone = newPhone()
    await service.post('phone/change', { phone, password: PASSWORD }, { bearer })
    await call('phone/confirm', await service.inbox.nextCode(phone))
    await service.post('2fa/enable', { password: PASSWORD }, { bearer })
    await call('2fa/enable/confirm', await service.inbox.nextCode(identifier))
    await service.post('2fa/request-otp', {}, { bearer })
    await call('2fa/recovery-codes', await service.inbox.nextCode(identifier), { password: PASSWORD })
    const password = 'another horse battery'
    await call('password/reset', await service.askCode('password/forgot', identifier, newClient()), {
      identifier,
      password,
      password_confirmation: password,
    })
  })

  test('is read where it is of an app, and where it is a recovery code', async () => {
    const { person, bearer, secret, recoveryCodes } = await protectByApp(service)
    for (const spell of spellings) {
      service.clock.advance(PERIOD_MS)
      const otp = spell(appCode(secret, service.clock.now()))
      expect((await service.post('2fa/verify', { ...person, otp }, newClient())).status).toBe(200)
    }
    const wide = (code: string) =>
      code.replace(/[0-9A-Z]/g, (sign) => String.fromCodePoint(sign.charCodeAt(0) + 0xfee0))
    const forms = [
      wide,
      (code: string) => `"${code.toLowerCase()}".`,
      (code: string) => `\ufeff${code.replaceAll('-', ' – ')}`,
      (code: string) => [...code].join('\u200b'),
    ]
    for (const [index, form] of forms.entries()) {
      const answer = await service.post(
        '2fa/verify',
        { ...person, otp: form(recoveryCodes[index]!) },
        newClient(),
      )
      expect(answer.status).toBe(200)
    }
    expect((await service.get('me', { bearer })).status).toBe(200)
  })
})

describe('a text that can be no code', () => {
  const service = useLimited()

  test('costs no attempt: the right code still counts after it, for known and unknown alike', async () => {
    const identifier = newEmail()
    await service.post('register', registration(identifier), newClient())
    const code = await service.inbox.nextCode(identifier)
    for (const otp of [...noCodes, ...noCodes, ...noCodes])
      for (const name of [identifier, newEmail()])
        expectRefusal(
          await service.post('verify-account', { identifier: name, otp }, newClient()),
          'invalid_code',
        )
    expect((await service.post('verify-account', { identifier, otp: code }, newClient())).status).toBe(201)
  })

  test('costs none in a second step and inside a session', async () => {
    const { person, bearer } = await protectBySentCodes(service)
    const { login_token } = (await service.post('login', person, newClient())).body.two_factor
    const sent = await service.inbox.nextCode(person.identifier)
    const step = (otp: string) =>
      service.post('2fa/verify', { identifier: person.identifier, login_token, otp }, newClient())
    for (const otp of [...noCodes, ...noCodes, ...noCodes]) expectRefusal(await step(otp), 'invalid_code')
    expect((await step(sent)).status).toBe(200)
    const phone = newPhone()
    await service.post('2fa/request-otp', {}, { bearer })
    const proof = { password: PASSWORD, otp: await service.inbox.nextCode(person.identifier) }
    expect((await service.post('phone/change', { phone, ...proof }, { bearer })).status).toBe(201)
    for (const otp of [...noCodes, ...noCodes])
      expectRefusal(await service.post('phone/confirm', { otp }, { bearer, ...newClient() }), 'invalid_code')
    const otp = await service.inbox.nextCode(phone)
    expect((await service.post('phone/confirm', { otp }, { bearer })).status).toBe(200)
  })
})
