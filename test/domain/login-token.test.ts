/**
 * The record that a login with two factors leaves for the call that ends it, and accounts whose app cannot be opened
 * any more.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { newEmail, PASSWORD } from '../helpers/api-client.ts'
import { appCode, protectByApp, protectBySentCodes } from '../helpers/authenticator.ts'
import { from, newClient, noon, startLimited } from '../helpers/limited-service.ts'
import { race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { deliverySettings, racingShapes, startService, testsOn } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { useLimited } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(20_000)

const failure = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code]
const invalidCode = [422, 'invalid_code']
const loginExpired = [401, 'login_expired']
const [OWNER, OTHER] = [from('198.51.100.20'), from('203.0.113.30')]

/** A change of the server secret leaves it so: another key sealed it. */
const damage = statement<{ email: string }>(sql`
  update totp_factors set sealed_secret = sealed_secret || '\\x00'::bytea
   where account_id = (select id from accounts where email = ${param('email', 'text')})`)

describe.each(racingShapes)('the end of a login with two factors, on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const service = useLimited({ shape, clock: noon(), settings: { limits: { enabled: false } } })

  const now = () => service.clock.now()
  async function begun(fields: Record<string, string> = {}) {
    const owner = await protectByApp(service)
    const { body } = await service.post('login', { ...owner.person, ...fields }, OWNER)
    return { ...owner, identifier: owner.person.identifier, token: body.two_factor.login_token as string }
  }

  rule('the token stands for the password, from anywhere', async () => {
    const { identifier, token, secret } = await begun()
    const body = { identifier, otp: appCode(secret, now(), 1), login_token: token }
    expect((await service.post('2fa/verify', body, OTHER)).status).toBe(200)
  })

  raced(
    'the token opens one session among 32 callers with codes of their own, and wrong codes do not spend it',
    async () => {
      const { identifier, token, recoveryCodes, secret } = await begun()
      const verify = (otp: string) =>
        service.post('2fa/verify', { identifier, otp, login_token: token }, OTHER)
      expectRefusal(await verify('000000'), 'invalid_code')
      const codes = [...recoveryCodes, appCode(secret, now(), 1)]
      const answers = await race([service], (_, caller) => verify(codes[caller % codes.length] as string))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const refusals = answers
        .filter(({ status }) => status !== 200)
        .map(failure)
        .map(String)
      expect([String(invalidCode), String(loginExpired)]).toEqual(
        expect.arrayContaining([...new Set(refusals)]),
      )
    },
  )

  test('a token of somebody else, of ten minutes ago or of another password has expired', async () => {
    const { identifier, token, secret, recoveryCodes, bearer } = await begun()
    const foreign = (await begun()).token
    const verify = (login_token: string, otp = appCode(secret, now(), 1)) =>
      service.post('2fa/verify', { identifier, otp, login_token }, OWNER)
    for (const wrong of [foreign, '', 'x'.repeat(43), 'x'.repeat(5000)]) {
      expectRefusal(await verify(wrong), 'login_expired')
    }
    const next = 'another horse battery'
    const change = { current_password: PASSWORD, password: next, password_confirmation: next }
    await service.post('password/change', { ...change, otp: recoveryCodes[0] }, { bearer })
    expectRefusal(await verify(token), 'login_expired')
    const late = (await service.post('login', { identifier, password: next }, OWNER)).body.two_factor
      .login_token
    service.clock.advance(10 * 60_000 + 1000)
    expectRefusal(await verify(late), 'login_expired')
  })

  rule('a token that does not hold costs no attempt, and tells nothing of the account', async () => {
    const { identifier, token, secret } = await begun()
    const verify = async (name: string, login_token: string, otp: string) => {
      const { status, body } = await service.post('2fa/verify', { identifier: name, otp, login_token }, OTHER)
      return { ...body, status, request_id: '' }
    }
    const known = await verify(identifier, 'x'.repeat(43), '000000')
    expect(failure({ status: known.status, body: known })).toEqual(loginExpired)
    expect(await verify(newEmail(), 'x'.repeat(43), '000000')).toEqual(known)
    // It is more than the 20 of a day, and it has the right code, which stays unused.
    const otp = appCode(secret, now(), 1)
    for (let n = 0; n < 21; n++) expect(await verify(identifier, 'x'.repeat(43), otp)).toEqual(known)
    expect((await verify(identifier, token, otp)).status).toBe(200)
    expect(await verify(identifier, token, otp)).toEqual(known)
  })

  rule(
    'who proved who they are is told to use the app; strangers are told what everybody is told',
    async () => {
      const { identifier, token, bearer } = await begun()
      const foreign = (await begun()).token
      const before = await service.delivered()
      const ask = (body: object, caller: object = OTHER) => service.post('2fa/request-otp', body, caller)
      for (const answer of [await ask({ identifier, login_token: token }), await ask({}, { bearer })]) {
        expectRefusal(answer, 'use_another_method')
        expect(answer.body.two_factor).toEqual({ methods: ['totp', 'recovery_code'] })
      }
      const stranger = await ask({ identifier: newEmail() })
      expect(stranger.status).toBe(201)
      for (const fields of [{}, { login_token: 'x'.repeat(43) }, { login_token: foreign }]) {
        const { status, body } = await ask({ identifier, ...fields })
        expect({ status, body }).toEqual({ status: 201, body: stranger.body })
      }
      expect(await service.delivered()).toBe(before)
    },
  )

  rule('a login that named a fingerprint is not finished from its address alone', async () => {
    const { identifier, secret, recoveryCodes } = await begun({ device_fingerprint: 'the-own-device' })
    const body = { identifier, otp: appCode(secret, now(), 1) }
    expectRefusal(await service.post('2fa/verify', body, OWNER), 'invalid_code')
    const otp = recoveryCodes[0]
    const device = { device_fingerprint: 'the-own-device' }
    expect((await service.post('2fa/verify', { identifier, otp, ...device }, OTHER)).status).toBe(200)
  })

  test('an app that cannot be opened: recovery codes serve, then sent codes; the owner is told once', async () => {
    const { person, identifier, secret, recoveryCodes, bearer } = await begun()
    await service.inside.database.all(damage, { email: identifier })
    const login = () => service.post('login', person, OWNER)
    expect((await login()).body.two_factor).toMatchObject({ methods: ['recovery_code'], sent_to: null })
    expect((await login()).status).toBe(202)
    const verify = (otp: string) => service.post('2fa/verify', { ...person, otp }, OWNER)
    expectRefusal(await verify(appCode(secret, now(), 1)), 'invalid_code')
    expect((await verify(recoveryCodes[0] as string)).status).toBe(200)
    expect((await login()).body.two_factor.methods).toEqual(['email', 'recovery_code'])
    expect((await verify(await service.inbox.nextCode(identifier))).status).toBe(200)
    const off = await service.post('2fa/disable', { password: PASSWORD, otp: recoveryCodes[1] }, { bearer })
    expect(off.status).toBe(200)
    await service.delivered()
    const told = service.inbox
      .textsTo(identifier)
      .filter((text) => text.includes('ne peut plus vérifier les codes'))
    expect(told).toHaveLength(1)
  })
})

longTest('start says how many apps cannot be opened', async () => {
  await using service = await startService()
  const { person } = await protectByApp(service)
  await service.inside.database.all(damage, { email: person.identifier })
  const { storage, smtp, gateway } = service
  await using again = await startService({ storage, settings: deliverySettings(smtp, gateway) })
  await waitFor(() => again.log.some((line) => /"count":1.*authenticator apps cannot be used/.test(line)), {
    what: 'the line',
  })
})

longTest('guesses made before two factors were on do not close the second step', async () => {
  await using service = await startLimited()
  const { identifier } = await service.signUp(newEmail())
  for (let n = 0; n < 21; n++) {
    await service.post('2fa/verify', { identifier, otp: '000000' }, newClient())
  }
  const password = PASSWORD
  const { access_token: bearer } = await service.logIn({ identifier, password })
  const { body } = await service.post('2fa/totp', { password }, { bearer })
  const { recovery_codes } = (
    await service.post('2fa/totp/confirm', { otp: appCode(body.secret, service.clock.now()) }, { bearer })
  ).body
  for (const otp of [appCode(body.secret, service.clock.now(), 1), recovery_codes[0]]) {
    expect((await service.post('2fa/verify', { identifier, password, otp }, newClient())).status).toBe(200)
  }
})

test('turning two factors on again opens what guesses closed while they were on before', async () => {
  await using service = await startService({ clock: noon() })
  const { person, bearer, recoveryCodes } = await protectBySentCodes(service)
  const { identifier, password } = person
  for (let n = 0; n < 21; n++) await service.post('2fa/verify', { ...person, otp: '000000' })
  await service.post('2fa/disable', { password, otp: recoveryCodes[0] }, { bearer })
  const { body } = await service.post('2fa/totp', { password }, { bearer })
  await service.post('2fa/totp/confirm', { otp: appCode(body.secret, service.clock.now()) }, { bearer })
  const otp = appCode(body.secret, service.clock.now(), 1)
  expect((await service.post('2fa/verify', { identifier, password, otp })).status).toBe(200)
})

test('sign-in by a code alone can be turned off; the second step stays', async () => {
  await using service = await startService({ settings: { codes: { login: false } } })
  const { identifier } = await service.signUp(newEmail())
  const before = await service.delivered()
  expect((await service.post('2fa/request-otp', { identifier })).status).toBe(201)
  expect(await service.delivered()).toBe(before)
  const sent = await protectBySentCodes(service)
  expect((await service.post('login', sent.person)).status).toBe(202)
  const otp = await service.inbox.nextCode(sent.person.identifier)
  expect((await service.post('2fa/verify', { ...sent.person, otp })).status).toBe(200)
})
