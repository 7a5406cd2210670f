/** A removal of two factors that waits, and an owner who has a factor after all. */
import { describe, expect, test } from 'bun:test'
import { PASSWORD } from '../helpers/api-client.ts'
import { appCode, PERIOD_MS, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { countRows } from '../helpers/database.ts'
import { createPasskey, signWithPasskey } from '../helpers/passkey-authenticator.ts'
import { race } from '../helpers/race.ts'
import { rareShapes } from '../helpers/service.ts'
import { useService } from '../helpers/use-service.ts'

const DAY_MS = 86_400_000
const ORIGIN = 'https://app.example.com'

describe.each(rareShapes)('a removal of two factors that waits, on %s', (shape) => {
  const service = useService({ shape, settings: { passkeys: { rp_id: 'example.com', origins: [ORIGIN] } } })

  const code = (secret: string) => {
    service.clock.advance(PERIOD_MS)
    return appCode(secret, service.clock.now(), 1)
  }
  const securityOf = async (bearer: string) => (await service.get('me/security', { bearer })).body.two_factor
  async function requestRemoval(bearer: string): Promise<void> {
    const { uuid } = (await service.get('me', { bearer })).body.account
    const { directory, twoFactorRemovals } = service.inside.services
    await twoFactorRemovals.remove(await directory.find(uuid), { delaySeconds: 86_400 })
  }
  async function waiting() {
    const owner = await protectByApp(service)
    expect((await securityOf(owner.bearer)).removal_at).toBeUndefined()
    await requestRemoval(owner.bearer)
    const { removal_at } = await securityOf(owner.bearer)
    const waitMs = new Date(removal_at).getTime() - service.clock.now().getTime()
    expect(waitMs).toBeWithin(DAY_MS - 60_000, DAY_MS + 1)
    return owner
  }
  const notices = async (identifier: string) => {
    await service.delivered()
    return service.inbox.textsTo(identifier).filter((text) => text.includes('reste active')).length
  }
  const stops = async (bearer: string) => {
    const { items } = (await service.get('events?limit=100', { bearer })).body
    return items.filter(({ type }: { type: string }) => type === 'undo.used').length
  }
  async function expectEnded({ person, bearer }: Awaited<ReturnType<typeof waiting>>) {
    expect(await countRows(service, 'two_factor_removals')).toBe(0)
    expect([await notices(person.identifier), await stops(bearer)]).toEqual([1, 1])
    expect(await securityOf(bearer)).toMatchObject({ enabled: true })
    expect(await securityOf(bearer)).not.toHaveProperty('removal_at')
  }

  test('ends with a right code of the app at a sign-in, is told once, and nothing is turned off', async () => {
    const owner = await waiting()
    const { person, secret, recoveryCodes } = owner
    const verify = async (otp?: string) => (await service.post('2fa/verify', { ...person, otp })).status
    expect([await verify('000000'), await verify(recoveryCodes[0])]).toEqual([422, 200])
    expect((await securityOf(owner.bearer)).removal_at).toBeString()
    expect([await verify(code(secret)), await verify(code(secret))]).toEqual([200, 200])
    await expectEnded(owner)
    service.clock.advance(2 * DAY_MS)
    await service.inside.housekeeping.run()
    expect((await service.post('login', person)).status).toBe(202)
  })

  test('ends with a right code of the app inside a session, and with a new app', async () => {
    const owner = await waiting()
    const { bearer, secret } = owner
    const asked = await service.post('2fa/totp', { password: PASSWORD, otp: code(secret) }, { bearer })
    expect(asked.status).toBe(200)
    await expectEnded(owner)

    const other = await waiting()
    const proof = { password: PASSWORD, otp: other.recoveryCodes[0] }
    const { body } = await service.post('2fa/totp', proof, { bearer: other.bearer })
    expect((await securityOf(other.bearer)).removal_at).toBeString()
    const otp = appCode(body.secret, service.clock.now())
    expect((await service.post('2fa/totp/confirm', { otp }, { bearer: other.bearer })).status).toBe(200)
    await expectEnded(other)
  })

  test('ends with a passkey, at a sign-in and inside a session', async () => {
    const owner = await protectByApp(service)
    const { bearer, secret } = owner
    const proof = { password: PASSWORD, otp: code(secret) }
    const asked = await service.post('passkeys/registration/options', proof, { bearer })
    const { passkey, credential } = createPasskey(asked.body.options, ORIGIN)
    expect((await service.post('passkeys/registration', { credential }, { bearer })).status).toBe(201)
    await requestRemoval(bearer)
    const stepUp = (await service.post('passkeys/step-up/options', {}, { bearer })).body.options
    const again = { credential: signWithPasskey(passkey, stepUp, ORIGIN) }
    expect((await service.post('2fa/recovery-codes', again, { bearer })).status).toBe(200)
    expect(await stops(bearer)).toBe(1)
    await requestRemoval(bearer)
    const login = (await service.post('passkeys/login/options', {})).body.options
    const signed = signWithPasskey(passkey, login, ORIGIN)
    expect((await service.post('passkeys/login', { credential: signed })).status).toBe(200)
    expect([await notices(owner.person.identifier), await stops(bearer)]).toEqual([2, 2])
    expect((await securityOf(bearer)).removal_at).toBeUndefined()
  })

  test('ends once for 32 callers, and a sent code does not end it', async () => {
    const owner = await waiting()
    const { person, secret } = owner
    const otps = [appCode(secret, service.clock.now(), 1), code(secret)]
    const answers = await race([service], (api, n) => api.post('2fa/verify', { ...person, otp: otps[n % 2] }))
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
    await expectEnded(owner)

    const sent = await protectBySentCodes(service)
    await requestRemoval(sent.bearer)
    await service.post('login', sent.person)
    const otp = await service.newestCode(sent.person.identifier)
    expect((await service.post('2fa/verify', { ...sent.person, otp })).status).toBe(200)
    expect((await securityOf(sent.bearer)).removal_at).toBeString()
  })
})
