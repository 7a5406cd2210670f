/** The clock of the machine is set an hour forward, or back: nothing lives longer than it may, nobody is shut out. */
import { beforeAll, describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { newEmail, type Person, registration } from '../helpers/api-client.ts'
import { differingShapes } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const HOUR_MS = 3_600_000

describe.each(differingShapes)('the clock on %s', (shape) => {
  const service = useService({ shape, settings: { limits: { enabled: true } } })
  let person: Person
  beforeAll(async () => {
    person = await service.signUp(newEmail())
  })

  /** Registered, with the code that came. */
  async function waiting() {
    const identifier = newEmail()
    expect((await service.post('register', registration(identifier))).status).toBe(201)
    return { identifier, otp: await service.inbox.nextCode(identifier) }
  }
  const confirm = (body: object) => service.post('verify-account', body)

  async function expectDailyLife() {
    await service.signUp(newEmail())
    const { access_token, account } = await service.logIn(person)
    const { exp = 0 } = decodeJwt(access_token)
    expect(Math.abs(exp * 1000 - service.clock.now().getTime() - 900_000)).toBeLessThan(5000)
    expect(Math.abs(Date.parse(account.current_sign_in_at) - service.clock.now().getTime())).toBeLessThan(
      5000,
    )
    const { status, body } = await service.get('me', { bearer: access_token })
    expect([status, body.code]).toEqual([200, undefined])
  }

  /** Resends until refused; the seconds to wait. */
  async function refusal(identifier: string): Promise<number> {
    for (let i = 0; i < 10; i++) {
      const { status, body } = await service.post('resend-verification', { identifier })
      if (status === 429) return body.retry_after
    }
    throw new Error('never refused')
  }

  test('forward: codes have ended, refusals too, and life goes on', async () => {
    const { identifier, otp } = await waiting()
    const { access_token } = await service.logIn(person)
    expect(await refusal(identifier)).toBeLessThanOrEqual(60)
    service.clock.advance(HOUR_MS)
    expect((await confirm({ identifier, otp })).body.code).toBe('invalid_code')
    expect((await service.get('me', { bearer: access_token })).body.code).toBe('token_expired')
    expect((await service.post('resend-verification', { identifier })).status).toBe(201)
    await expectDailyLife()
  })

  test('back: codes work once, refusals last no longer than their rule says, and life goes on', async () => {
    const [fresh, used, refused] = [await waiting(), await waiting(), await waiting()]
    expect((await confirm(used)).status).toBe(201)
    expect(await refusal(refused.identifier)).toBeLessThanOrEqual(60)
    service.clock.advance(-HOUR_MS)
    expect((await confirm(used)).body.code).toBe('invalid_code')
    const answers = await Promise.all(Array.from({ length: 8 }, () => confirm(fresh)))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    // The longest of the rules on one destination that three codes can meet is that of the burst.
    expect(await refusal(refused.identifier)).toBeLessThanOrEqual(180)
    await expectDailyLife()
  })

  test('back, while a mail waits for its next try: it goes out all the same', async () => {
    const email = newEmail()
    service.clock.advance(HOUR_MS)
    await service.smtp.stop()
    await service.post('register', registration(email))
    await waitFor(() => service.log.some((line) => line.includes('"outcome":"failed"')))
    service.clock.advance(-HOUR_MS)
    await service.smtp.start()
    const otp = await service.inbox.nextCode(email, 20_000)
    expect((await confirm({ identifier: email, otp })).status).toBe(201)
  })
})
