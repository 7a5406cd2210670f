/** Wrong codes of strangers at a registration: what they may try, and what that costs the newcomer who waits for it. */
import { describe, expect, test } from 'bun:test'
import { type CallOptions, newEmail, newPhone, registration } from '../helpers/api-client.ts'
import { countRows } from '../helpers/database.ts'
import { from, newClient } from '../helpers/limited-service.ts'
import { limitingShapes, ruleOn } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]
const WRONG = '000000'

describe.each(limitingShapes)('confirmations on %s', (shape) => {
  const rule = ruleOn(shape)
  const service = useLimited({ shape, settings: { sms: { allowed_countries: ['FR'] } } })

  const confirm = async (identifier: string, otp: string, client: CallOptions = newClient()) =>
    (await service.post('verify-account', { identifier, otp }, client)).status
  const register = (body: object) => service.post('register', body, newClient())
  /** Wrong ones until a call is refused; how many were not. */
  async function wrongOnes(identifier: string, times: number, client?: CallOptions) {
    let answered = 0
    for (let n = 0; n < times; n++) if ((await confirm(identifier, WRONG, client)) === 422) answered++
    return answered
  }

  test('wrong codes of strangers from many addresses do not keep a newcomer from confirming', async () => {
    const email = newEmail()
    await register(registration(email))
    for (let day = 0; day < 6; day++) {
      expect(await wrongOnes(email, 25)).toBe(25)
      service.clock.advance(DAY)
    }
    expect(await wrongOnes(email, 25)).toBe(25)
    expect((await service.post('resend-verification', { identifier: email }, newClient())).status).toBe(201)
    expect(await confirm(email, await service.newestCode(email))).toBe(201)
  })

  test('one address has 20 a day, of whatever code, and only itself is refused then', async () => {
    const [email, nobody] = [newEmail(), newEmail()]
    await register(registration(email))
    for (const identifier of [email, nobody]) {
      const client = from('198.51.100.20')
      expect(await wrongOnes(identifier, 22, client)).toBe(20)
      service.clock.advance(5 * MINUTE)
    }
    await service.post('resend-verification', { identifier: email }, newClient())
    const otp = await service.newestCode(email)
    expect(await confirm(email, otp, from('198.51.100.20'))).toBe(429)
    expect(await confirm(email, otp)).toBe(201)
  })

  rule('a code takes five wrong ones, from however many addresses', async () => {
    const email = newEmail()
    await register(registration(email))
    const otp = await service.newestCode(email)
    await wrongOnes(email, 5)
    expect(await confirm(email, otp)).toBe(422)
  })

  rule(
    'the other contact of many registrations has 20 a day from one address, not 20 for each of them',
    async () => {
      const phone = newPhone()
      const client = newClient()
      let answered = 0
      let otp = ''
      for (let hour = 0; hour < 2; hour++) {
        for (let round = 0; round < 4; round++) {
          await register({ ...registration(newEmail()), phone })
          const sent = await service.post('resend-verification', { identifier: phone }, newClient())
          expect(sent.status).toBe(201)
          answered += await wrongOnes(phone, 4, client)
          otp = await service.newestCode(phone)
          service.clock.advance(5 * MINUTE)
        }
        service.clock.advance(HOUR)
      }
      expect(answered).toBe(20)
      await service.post('resend-verification', { identifier: phone }, newClient())
      otp = await service.newestCode(phone)
      expect(await confirm(phone, otp, client)).toBe(429)
      expect(await confirm(phone, otp)).toBe(201)
    },
  )

  rule('the rows of wrong codes for names that nobody has are gone after two days', async () => {
    const rows = () => countRows(service, 'code_failures')
    service.clock.advance(3 * DAY)
    await service.inside.housekeeping.run()
    const before = await rows()
    const tries = {
      'verify-account': {},
      '2fa/verify': {},
      'password/reset': { password: 'another good one', password_confirmation: 'another good one' },
    }
    for (const [operation, fields] of Object.entries(tries))
      for (let n = 0; n < 30; n++)
        await service.post(operation, { identifier: newEmail(), otp: WRONG, ...fields }, newClient())
    expect(await rows()).toBe(before + 3 * 30 * 2)
    service.clock.advance(2 * DAY)
    await service.inside.housekeeping.run()
    expect(await rows()).toBe(before)
    expect(await countRows(service, 'code_budgets')).toBe(0)
  })
})
