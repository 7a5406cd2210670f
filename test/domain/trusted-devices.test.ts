/** `two_factor.trust_device`: what spares a device the second step, how little that is worth, and what ends it. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { operatorOf } from '../helpers/administration.ts'
import { newEmail, newPhone, PASSWORD } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { dumpTables } from '../helpers/database.ts'
import { newPerson } from '../helpers/pretend-provider.ts'
import { race } from '../helpers/race.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { startService } from '../helpers/service.ts'
import { createSocialBrowser, useSocial } from '../helpers/social.ts'
import { useService } from '../helpers/use-service.ts'

setDefaultTimeout(30_000)

const device = (name = 'laptop') => ({ device_fingerprint: `${name}-fingerprint`, device_name: name })

describe('a trusted device', () => {
  const service = useService({ settings: { two_factor: { trust_device: '30d' } } })
  const call = operatorOf(service)

  const withApp = async () => {
    const identifier = newEmail()
    const owner = await protectByApp(service, identifier)
    const verify = (otp: string, body: object = {}) =>
      service.post('2fa/verify', { ...owner.person, otp, ...device(), ...body })
    /** Codes of the app work once each. */
    const code = () => {
      service.clock.advance(31_000)
      return appCode(owner.secret, service.clock.now())
    }
    const trusted = async (body: object = {}) => (await verify(code(), { trust_device: true, ...body })).body
    return { ...owner, identifier, verify, code, trusted }
  }
  type Owner = Awaited<ReturnType<typeof withApp>>
  const logIn = ({ person }: Pick<Owner, 'person'>, device_token: string, body: object = {}) =>
    service.post('login', { ...person, device_token, ...device(), ...body })
  const uuidOf = async ({ identifier }: Pick<Owner, 'identifier'>) =>
    (await call('GET', `accounts?query=${identifier}`)).body.items[0].uuid as string

  test('needs no second step, says no more than the first in its token, and each use is an event', async () => {
    const owner = await withApp()
    const { device_token, account } = await owner.trusted()
    expect(device_token).toMatch(/^[\w-]{43}$/)
    const answer = await logIn(owner, device_token)
    expect(answer.status).toBe(200)
    expect(Object.keys(answer.body)).toEqual(['status', 'access_token', 'refresh_token', 'account'])
    const { amr } = JSON.parse(Buffer.from(answer.body.access_token.split('.')[1], 'base64url').toString())
    expect(amr).toEqual(['pwd'])
    const bearer = answer.body.access_token
    const change = {
      current_password: PASSWORD,
      password: 'quite another password',
      password_confirmation: 'quite another password',
    }
    expectRefusal(await service.post('password/change', change, { bearer }), 'two_factor_required')
    expectRefusal(
      await service.post('2fa/disable', { password: PASSWORD, device_token }, { bearer }),
      'two_factor_required',
    )
    const { items } = (await call('GET', `accounts/${account.uuid}/events`)).body
    const types = items.map(({ type }: { type: string }) => type)
    expect(types).toContain('trusted_device.added')
    expect(types).toContain('trusted_device.used')
    const dump = JSON.stringify(await dumpTables(service))
    expect(dump).not.toContain(device_token)
    const exported = (await call('GET', `accounts/${account.uuid}/export`)).body
    expect(Object.keys(exported.trusted_devices[0])).toEqual(['created_at', 'expires_at', 'last_used_at'])
  })

  test('opens no copy of the account without the second factor', async () => {
    const owner = await withApp()
    const { device_token } = await owner.trusted()
    const { access_token: bearer, refresh_token } = (await logIn(owner, device_token)).body
    const copy = (headers: Record<string, string> = {}) =>
      service.get('me/export', { bearer, headers: { 'x-refresh-token': refresh_token, ...headers } })
    const refused = await copy()
    expectRefusal(refused, 'two_factor_required')
    expect(refused.body.two_factor.methods).toEqual(['totp', 'recovery_code'])
    expectRefusal(await copy({ 'x-otp': '000000' }), 'invalid_code')
    expect((await copy({ 'x-otp': owner.code() })).status).toBe(200)
  })

  test('is made only where somebody asks for it, on a named device, and not by a recovery code', async () => {
    const owner = await withApp()
    const without = async (otp: string, body: object) =>
      expect(Object.keys((await owner.verify(otp, body)).body)).toEqual([
        ...['status', 'access_token', 'refresh_token', 'account'],
      ])
    await without(owner.code(), {})
    await without(owner.code(), { trust_device: false })
    await without(owner.code(), { trust_device: true, device_fingerprint: null })
    await without(owner.recoveryCodes[0]!, { trust_device: true })
  })

  test('that is stolen is worth nothing without its fingerprint, the password or the account', async () => {
    const [owner, other] = [await withApp(), await withApp()]
    const { device_token } = await owner.trusted()
    expect((await logIn(owner, device_token, { device_fingerprint: 'thief' })).status).toBe(202)
    expect((await logIn(owner, device_token, { device_fingerprint: null })).status).toBe(202)
    expect((await logIn(other, device_token)).status).toBe(202)
    expectRefusal(await logIn(owner, device_token, { password: 'wrong password' }), 'invalid_credentials')
    expect((await logIn(owner, `${device_token.slice(0, -1)}_`)).status).toBe(202)
    expect((await logIn(owner, device_token)).status).toBe(200)
  })

  test('may be used by 32 callers at once, and of eleven the oldest ends', async () => {
    const owner = await withApp()
    const tokens: string[] = []
    for (let made = 0; made < 11; made++) tokens.push((await owner.trusted()).device_token)
    expect((await logIn(owner, tokens[0]!)).status).toBe(202)
    expect((await logIn(owner, tokens[1]!)).status).toBe(200)
    const answers = await race(Array.from({ length: 32 }), () => logIn(owner, tokens[10]!))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  })

  test('is marked in the list of sessions, and ended alone', async () => {
    const owner = await withApp()
    const { device_token, access_token } = await owner.trusted()
    const list = async () => (await service.get('sessions', { bearer: access_token })).body.sessions
    const marked = (await list()).filter((each: { trusted_device: boolean }) => each.trusted_device)
    expect(marked).toHaveLength(1)
    expect(marked[0].current).toBe(true)
    const path = `/api/v1/auth/sessions/${marked[0].id}/trusted-device`
    const stranger = await withApp()
    const foreign = (await stranger.trusted()).access_token
    expectRefusal(await service.call('DELETE', path, undefined, { bearer: foreign }), 'session_not_found')
    const ended = await race(Array.from({ length: 32 }), () =>
      service.call('DELETE', path, undefined, { bearer: access_token }),
    )
    expect(ended.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await list()).some((each: { trusted_device: boolean }) => each.trusted_device)).toBe(false)
    expect((await logIn(owner, device_token)).status).toBe(202)
    expect((await service.get('me', { bearer: access_token })).status).toBe(200)
  })

  test('is listed by itself, after its own sign-out too, and ended by its id', async () => {
    const [owner, other] = [await withApp(), await withApp()]
    const thief = await owner.trusted(device('thief'))
    await service.post('logout', { refresh_token: thief.refresh_token }, { bearer: thief.access_token })
    expect((await logIn(owner, thief.device_token, device('thief'))).status).toBe(200)
    const { body: own } = await owner.verify(owner.code())
    const bearer = own.access_token as string
    const listed = async () => (await service.get('me/security', { bearer })).body.trusted_devices
    const [found, ...more] = await listed()
    expect(more).toEqual([])
    expect(Object.keys(found)).toEqual(['id', 'name', 'created_at', 'last_used_at'])
    expect(found).toMatchObject({ name: 'thief', last_used_at: expect.any(String) })
    const end = (id: string, by = bearer) =>
      service.call('DELETE', `/api/v1/auth/trusted-devices/${id}`, undefined, { bearer: by })
    const foreign = (await other.verify(other.code())).body.access_token
    for (const [id, by] of [
      [found.id, foreign],
      [crypto.randomUUID(), bearer],
      ['no uuid', bearer],
    ])
      expectRefusal(await end(id, by), 'device_not_found')
    const answers = await race([service], () => end(found.id))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await listed()).toEqual([])
    expect((await logIn(owner, thief.device_token, device('thief'))).status).toBe(202)
    const types = (await service.get('events', { bearer })).body.items.map(
      ({ type }: { type: string }) => type,
    )
    expect(types.filter((type: string) => type === 'trusted_device.removed')).toHaveLength(1)
  })

  test('stays after its own sign-out and after new recovery codes', async () => {
    const owner = await withApp()
    const { device_token, access_token: bearer, refresh_token } = await owner.trusted()
    const replaced = await service.post(
      '2fa/recovery-codes',
      { password: PASSWORD, otp: owner.code() },
      { bearer },
    )
    expect(replaced.status).toBe(200)
    await service.post('logout', { refresh_token }, { bearer })
    const again = await logIn(owner, device_token)
    expect(again.status).toBe(200)
    await service.post('logout', {}, { bearer: again.body.access_token })
    expect((await logIn(owner, device_token)).status).toBe(200)
  })

  const stepUp = (owner: Owner) => ({ password: PASSWORD, otp: owner.code() })
  const ends: Record<string, (owner: Owner, bearer: string, sessionId: string) => Promise<unknown>> = {
    'its time': async () => service.clock.advance(30 * 86_400_000),
    'a change of the password': async (owner, bearer) => {
      const changed = { current_password: PASSWORD, password: 'quite another password' }
      const body = { ...changed, password_confirmation: changed.password, otp: owner.code() }
      expect((await service.post('password/change', body, { bearer })).status).toBe(200)
      owner.person.password = changed.password
    },
    'a reset': async (owner) => {
      owner.person.password = 'quite another password'
      await service.resetPassword(owner.identifier, owner.person.password)
    },
    'a new contact': async (owner, bearer) => {
      const phone = newPhone()
      await service.post('phone/change', { phone, ...stepUp(owner) }, { bearer })
      const otp = await service.inbox.nextCode(phone)
      expect((await service.post('phone/confirm', { otp }, { bearer })).status).toBe(200)
    },
    'another app': async (owner, bearer) => {
      const { body } = await service.post('2fa/totp', stepUp(owner), { bearer })
      const otp = appCode(body.secret, service.clock.now())
      expect((await service.post('2fa/totp/confirm', { otp }, { bearer })).status).toBe(200)
    },
    'two factors that were off in between': async (owner, bearer) => {
      expect((await service.post('2fa/disable', stepUp(owner), { bearer })).status).toBe(200)
      const { body } = await service.post('2fa/totp', { password: PASSWORD }, { bearer })
      const otp = appCode(body.secret, service.clock.now())
      expect((await service.post('2fa/totp/confirm', { otp }, { bearer })).status).toBe(200)
    },
    'a lock': async (owner) => {
      const path = `accounts/${await uuidOf(owner)}`
      await call('PATCH', path, { locked: true })
      await call('PATCH', path, { locked: false })
    },
    'a role of administration, also a former one': async (owner) => {
      const uuid = await uuidOf(owner)
      expect((await call('POST', 'administrators', { account: uuid, role: 'viewer' })).status).toBeLessThan(
        300,
      )
      await call('DELETE', `administrators/${uuid}`)
    },
    'an undo, which brings the same contacts back': async (owner, bearer) => {
      const email = newEmail()
      await service.post('email/change', { email, ...stepUp(owner) }, { bearer })
      const otp = await service.inbox.nextCode(email)
      expect((await service.post('email/confirm', { otp }, { bearer })).status).toBe(200)
      await service.delivered()
      const [, token] = /undo\?t=([\w-]{22})/.exec(service.inbox.textsTo(owner.identifier).at(-1)!)!
      const body = new URLSearchParams({ t: token! })
      expect((await fetch(`${service.url}/undo`, { method: 'POST', body })).status).toBe(200)
      await service.resetPassword(owner.identifier, PASSWORD)
    },
    'the end of all sessions': (_, bearer) => service.post('logout-all', {}, { bearer }),
    'the end of its session from another one': async (owner, _, sessionId) => {
      const other = (await owner.verify(owner.code(), device('phone'))).body.access_token
      const ended = await service.call('DELETE', `/api/v1/auth/sessions/${sessionId}`, undefined, {
        bearer: other,
      })
      expect(ended.status).toBe(200)
    },
    'the end of its session by an administrator': async (owner, _, sessionId) =>
      call('DELETE', `accounts/${await uuidOf(owner)}/sessions/${sessionId}`),
  }

  test.each(Object.entries(ends))('ends by %s', async (_, end) => {
    const owner = await withApp()
    const { device_token, access_token } = await owner.trusted()
    expect((await logIn(owner, device_token)).status).toBe(200)
    const { sessions } = (await service.get('sessions', { bearer: access_token })).body
    const own = sessions.find(({ current }: { current: boolean }) => current)
    await end(owner, access_token, own.id)
    expect((await logIn(owner, device_token)).status).toBe(202)
  })

  test('ends by the removal of two factors, also where they are on again', async () => {
    const owner = await withApp()
    const { device_token } = await owner.trusted()
    await call('DELETE', `accounts/${await uuidOf(owner)}/two-factor`)
    const bearer = (await service.logIn(owner.person)).access_token
    const { body } = await service.post('2fa/totp', { password: PASSWORD }, { bearer })
    await service.post('2fa/totp/confirm', { otp: appCode(body.secret, service.clock.now()) }, { bearer })
    expect((await logIn(owner, device_token)).status).toBe(202)
  })

  test('is never good for an administrator', async () => {
    const owner = await withApp()
    const uuid = await uuidOf(owner)
    await call('POST', 'administrators', { account: uuid, role: 'viewer' })
    expect(Object.keys(await owner.trusted())).not.toContain('device_token')
  })
})

describe('for other first factors, a trusted device', () => {
  const onDevice = device('tablet')
  const amrOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).amr as string[]
  const settings = { accounts: { password: 'optional' }, two_factor: { trust_device: '30d' } }
  const { provider, service } = useSocial(settings)

  /** An account without a password, with an app; returns the code of the app after half a minute. */
  async function withoutPassword() {
    const email = newEmail()
    await service.post('2fa/request-otp', { identifier: email, create: true })
    const opened = await service.post('2fa/verify', {
      ...{ identifier: email, otp: await service.inbox.nextCode(email), create: true },
    })
    const { access_token: bearer, refresh_token } = opened.body
    const { secret } = (await service.post('2fa/totp', { refresh_token }, { bearer })).body
    const otp = appCode(secret, service.clock.now())
    expect((await service.post('2fa/totp/confirm', { otp }, { bearer })).status).toBe(200)
    service.clock.advance(31_000)
    return { email, code: () => appCode(secret, service.clock.now()) }
  }

  const firstCode = async (identifier: string, body: object) => {
    const otp = await service.askCode('2fa/request-otp', identifier)
    return service.post('2fa/verify', { identifier, otp, ...body })
  }

  test('needs no second step after a code, and the code alone is what its token says', async () => {
    const { email, code } = await withoutPassword()
    const due = await firstCode(email, onDevice)
    const { login_token } = due.body.two_factor
    const second = { identifier: email, otp: code(), login_token }
    const done = await service.post('2fa/verify', { ...second, ...onDevice, trust_device: true })
    const { device_token } = done.body
    expect(device_token).toMatch(/^[\w-]{43}$/)
    const again = await firstCode(email, { ...onDevice, device_token })
    expect([again.status, amrOf(again.body.access_token)]).toEqual([200, ['otp']])
    expect((await firstCode(email, { ...device('thief'), device_token })).status).toBe(202)
    const without = await firstCode(email, onDevice)
    expect(without.status).toBe(202)
    const wrong = { identifier: email, otp: '000000', device_token, ...onDevice }
    expectRefusal(await service.post('2fa/verify', wrong), 'invalid_code')
  })

  test('needs none after a provider, in a browser and in a native app', async () => {
    const email = newEmail()
    const { secret } = await protectByApp(service, email)
    provider.present(newPerson({ email, email_verified: true }))
    const native = async (nonce: string, body: object) => {
      const id_token = await provider.idToken(nonce)
      return service.post('social/p1/token', { id_token, nonce, ...body })
    }
    const due = await native('a', onDevice)
    expect(due.status).toBe(202)
    const { login_token } = due.body.two_factor
    service.clock.advance(31_000)
    const otp = appCode(secret, service.clock.now())
    const done = await service.post('2fa/verify', {
      ...{ identifier: email, otp, login_token, trust_device: true, ...onDevice },
    })
    const { device_token } = done.body
    expect(device_token).toMatch(/^[\w-]{43}$/)
    const app = await native('b', { ...onDevice, device_token })
    expect([app.status, amrOf(app.body.access_token)]).toEqual([200, ['fed']])
    const browser = createSocialBrowser(service)
    const inBrowser = await browser.signIn('p1', { ...onDevice, device_token })
    expect([inBrowser.status, amrOf(inBrowser.body.access_token)]).toEqual([200, ['fed']])
    expect((await native('c', { ...device('thief'), device_token })).status).toBe(202)
    expect((await browser.signIn('p1', onDevice)).status).toBe(202)
  })
})

test.each(['never', undefined])('nothing is trusted where trust_device is %s', async (trust_device) => {
  await using service = await startService({ settings: trust_device ? { two_factor: { trust_device } } : {} })
  const owner = await protectByApp(service)
  service.clock.advance(31_000)
  const otp = appCode(owner.secret, service.clock.now())
  const { body } = await service.post('2fa/verify', { ...owner.person, otp, ...device(), trust_device: true })
  expect(Object.keys(body)).toEqual(['status', 'access_token', 'refresh_token', 'account'])
})
