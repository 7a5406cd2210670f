/**
 * A second step that names neither the token of its login nor a device counts by address, and over all addresses by
 * account. Somebody with the password may change addresses as often as they like.
 */
import { describe, expect } from 'bun:test'
import type { CallOptions } from '../helpers/api-client.ts'
import { PASSWORD } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { from, newClient } from '../helpers/limited-service.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { limitingShapes, testsOn } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useLimited, useReplica } from '../helpers/use-service.ts'

const DAY = 86_400_000
const WRONG = '000000'
const KNOWN = { device_fingerprint: 'the device of the owner' }
/** The bound over all addresses, and that of one. */
const [EVERYWHERE, HERE] = [60, 20]

describe.each(limitingShapes)('the second step by address alone, on %s', (shape) => {
  const { test, rule } = testsOn(shape)
  const service = useLimited({ shape, settings: { limits: { verifications: 1000 } } })
  const replica = useReplica(service, {
    shape,
    settings: { limits: { enabled: true, verifications: 1000 }, server: { trusted_proxies: ['127.0.0.1'] } },
  })

  /** Noon of the next day. */
  const passDay = () => service.clock.advance(DAY - ((service.clock.now().getTime() + DAY / 2) % DAY))
  const logIn = (identifier: string, client: CallOptions, fields: object = {}) =>
    service.post('login', { identifier, password: PASSWORD, ...fields }, client)
  const notices = async (identifier: string) => {
    await service.delivered()
    return service.inbox.textsTo(identifier).filter((text) => text.includes('Codes erronés')).length
  }
  const code = (secret: string) => {
    service.clock.advance(PERIOD_MS)
    return appCode(secret, service.clock.now(), 1)
  }

  /** So many wrong codes from one address, by turns at both replicas, after a login there; how many were not refused. */
  async function guess(identifier: string, times: number, client = newClient()): Promise<number> {
    expect((await logIn(identifier, client)).status).toBe(202)
    const statuses: number[] = []
    for (let n = 0; n < times; n++) {
      const at = n % 2 === 0 ? service : replica
      statuses.push((await at.post('2fa/verify', { identifier, otp: WRONG }, client)).status)
    }
    return statuses.filter((status) => status !== 429).length
  }

  longTest(
    'sixty wrong codes a day are compared, from however many addresses, and the owner is told',
    async () => {
      passDay()
      const { person, secret } = await protectByApp(service)
      const { identifier } = person
      let compared = 0
      for (let address = 0; address < 34; address++) compared += await guess(identifier, 5)
      expect([compared, await notices(identifier)]).toEqual([EVERYWHERE, 1])
      const client = newClient()
      await logIn(identifier, client)
      const refused = await service.post('2fa/verify', { identifier, otp: code(secret) }, client)
      expectRefusal(refused, 'too_many_attempts')
    },
  )

  test('an owner with the login token, the password in the call, or on a known device is not refused by it', async () => {
    passDay()
    const { person, secret } = await protectByApp(service)
    const { identifier } = person
    const atFirst = { ...person, ...KNOWN, otp: code(secret) }
    expect((await service.post('2fa/verify', atFirst, newClient())).status).toBe(200)
    for (let address = 0; address < 32; address++) await guess(identifier, 2)
    const client = newClient()
    const { login_token } = (await logIn(identifier, client)).body.two_factor
    for (const proof of [{ login_token }, { password: PASSWORD }])
      expect(
        (await service.post('2fa/verify', { identifier, otp: code(secret), ...proof }, client)).status,
      ).toBe(200)
    for (const fields of [{}, KNOWN]) {
      // The second step alone may name the device, or the login too.
      expect((await logIn(identifier, client, fields)).status).toBe(202)
      const body = { identifier, otp: code(secret), ...KNOWN }
      expect((await service.post('2fa/verify', body, client)).status).toBe(200)
    }
  })

  rule('one address fills a third of it and no more, however long it goes on', async () => {
    passDay()
    const { person, secret } = await protectByApp(service)
    const { identifier } = person
    const shared = from('198.51.100.99')
    expect(await guess(identifier, 100, shared)).toBe(HERE)
    const elsewhere = newClient()
    await logIn(identifier, elsewhere)
    expect((await service.post('2fa/verify', { identifier, otp: code(secret) }, elsewhere)).status).toBe(200)
  })

  longTest(
    'a hundred in a row are compared over days and addresses, then one a day, until a right one',
    async () => {
      const { person, secret } = await protectByApp(service)
      const { identifier } = person
      const days = []
      for (let day = 0; day < 4; day++) {
        passDay()
        let compared = 0
        for (let address = 0; address < 6; address++) compared += await guess(identifier, 15)
        days.push(compared)
      }
      expect(days).toEqual([60, 40, 1, 1])
      passDay()
      const client = newClient()
      await logIn(identifier, client)
      expect((await service.post('2fa/verify', { identifier, otp: code(secret) }, client)).status).toBe(200)
      expect(await guess(identifier, 2)).toBe(2)
    },
  )

  rule('of 32 guesses at once from as many addresses no more are compared than are left', async () => {
    passDay()
    const { person } = await protectBySentCodes(service)
    const { identifier } = person
    for (let address = 0; address < 5; address++) await guess(identifier, 10)
    const clients = Array.from({ length: 32 }, newClient)
    for (const client of clients) await logIn(identifier, client)
    const answers = await Promise.all(
      clients.map((client, n) =>
        (n % 2 ? service : replica).post('2fa/verify', { identifier, otp: WRONG }, client),
      ),
    )
    expect(answers.filter(({ status }) => status === 422)).toHaveLength(EVERYWHERE - 50)
  })
})
