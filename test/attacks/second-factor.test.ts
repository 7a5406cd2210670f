/**
 * A stranger beside an owner who signs in with two factors. The owner's first factor serves nobody else, and the stranger's
 * tries neither use up the owner's nor tell whose a name is.
 */
import { describe, expect, test } from 'bun:test'
import { decodeJwt } from 'jose'
import { type CallOptions, newEmail, newPhone, PASSWORD, registration } from '../helpers/api-client.ts'
import { protectBySentCodes } from '../helpers/authenticator.ts'
import { lockAccount } from '../helpers/database.ts'
import { from, newClient, seen } from '../helpers/limited-service.ts'
import { limitingShapes, ruleOn } from '../helpers/service.ts'
import { useLimited } from '../helpers/use-service.ts'

const HERE = from('198.51.100.1')
const ELSEWHERE = from('203.0.113.1')
const WRONG = '000000'

describe.each(limitingShapes)('a stranger beside an owner with two factors, on %s', (shape) => {
  const rule = ruleOn(shape)
  const service = useLimited({ shape, settings: { sms: { allowed_countries: ['FR'] } } })

  const verify = (body: Record<string, unknown>, client: CallOptions = newClient()) =>
    service.post('2fa/verify', body, client)

  /** An account with two factors that signs in, and the code that came; the limits of sending have passed. */
  async function loggingIn(client: CallOptions, device: Record<string, string> = {}) {
    const { person, bearer, recoveryCodes } = await protectBySentCodes(service)
    service.clock.advance(60_000)
    expect((await service.post('login', { ...person, ...device }, client)).status).toBe(202)
    const otp = await service.inbox.nextCode(person.identifier)
    return { person, bearer, recoveryCodes, identifier: person.identifier, otp }
  }

  rule('the owner’s login proves the password for the owner’s address alone', async () => {
    const { identifier, otp } = await loggingIn(HERE)
    expect((await verify({ identifier, otp }, ELSEWHERE)).body.code).toBe('invalid_code')
    expect((await verify({ identifier, otp }, HERE)).status).toBe(200)
  })

  rule('or for the owner’s device, wherever it goes', async () => {
    const device = { device_fingerprint: crypto.randomUUID() }
    const { identifier, otp } = await loggingIn(HERE, device)
    expect((await verify({ identifier, otp, device_fingerprint: 'another' }, ELSEWHERE)).status).toBe(422)
    expect((await verify({ identifier, otp, ...device }, ELSEWHERE)).status).toBe(200)
    await service.post('2fa/request-otp', { identifier }, HERE)
    const next = await service.inbox.nextCode(identifier)
    expect((await verify({ identifier, otp: next, ...device }, HERE)).status).toBe(422)
  })

  test('the stranger uses up nothing while the owner signs in', async () => {
    const { identifier, otp } = await loggingIn(HERE)
    const answers = []
    for (let tries = 0; tries < 22; tries++) answers.push((await verify({ identifier, otp: WRONG })).status)
    expect(answers).toEqual([...Array(20).fill(422), 429, 429])
    expect((await verify({ identifier, otp }, HERE)).status).toBe(200)
  })

  rule('a login that was left does not make a later one of a single factor look like two', async () => {
    const { person, bearer, identifier, recoveryCodes } = await loggingIn(HERE)
    const off = { password: PASSWORD, otp: recoveryCodes[0] }
    expect((await service.post('2fa/disable', off, { bearer })).status).toBe(200)
    service.clock.advance(60_000)
    await service.post('2fa/request-otp', { identifier }, HERE)
    const otp = await service.inbox.nextCode(person.identifier)
    const { body } = await verify({ identifier, otp }, HERE)
    expect(decodeJwt(body.access_token).amr).toEqual(['otp'])
  })

  test('how many tries a name has left tells neither whose it is nor that it became somebody’s', async () => {
    const [email, phone, nobodys] = [newEmail(), newPhone(), newEmail()]
    await service.post('register', { ...registration(email), phone }, newClient())
    await service.post('verify-account', { identifier: email, otp: await service.inbox.nextCode(email) })
    const { account } = (await service.post('login', { identifier: email, password: PASSWORD })).body
    const tried = async (identifier: string) => seen(await verify({ identifier, otp: WRONG }))
    for (const identifier of [email, nobodys]) for (let i = 0; i < 20; i++) await tried(identifier)
    expect((await tried(email)).status).toBe(429)
    expect(await tried(email)).toEqual(await tried(nobodys))
    const ofNobody = await tried(newPhone())
    expect(ofNobody.status).toBe(422)
    expect([await tried(phone), await tried(account.uuid)]).toEqual([ofNobody, ofNobody])

    await service.signUp(nobodys)
    expect((await tried(nobodys)).status).toBe(429)
  })

  rule('a right code says that its account is locked, however the address is spelled', async () => {
    for (const email of [newEmail(), newEmail().replace('person', 'Person')]) {
      await service.signUp(email)
      service.clock.advance(60_000)
      const otp = await service.askCode('2fa/request-otp', email, newClient())
      await lockAccount(service, email, service.clock.now())
      expect((await verify({ identifier: email, otp })).body.code).toBe('account_locked')
    }
  })

  rule(
    'a login by a number that nobody proved sends to the address that is, whatever the country',
    async () => {
      const [identifier, phone] = [newEmail(), '+12024561111']
      await service.post('register', { ...registration(identifier), phone }, newClient())
      const confirmation = await service.inbox.nextCode(identifier)
      await service.post('verify-account', { identifier, otp: confirmation }, newClient())
      const { access_token: bearer } = await service.logIn({ identifier, password: PASSWORD })
      await service.post('2fa/enable', { password: PASSWORD }, { bearer })
      const otp = await service.inbox.nextCode(identifier)
      expect((await service.post('2fa/enable/confirm', { otp }, { bearer })).status).toBe(200)
      service.clock.advance(60_000)
      const login = await service.post('login', { identifier: phone, password: PASSWORD }, newClient())
      expect([login.status, login.body.two_factor?.methods]).toEqual([202, ['email', 'recovery_code']])
      expect(await service.inbox.nextCode(identifier)).toMatch(/^\d{6}$/)
    },
  )
})
