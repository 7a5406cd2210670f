/** Applications are told when a session of theirs ends: once, whatever ended it, and until they took it. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import { asOperator } from '../../helpers/administration.ts'
import { newCode, REDIRECT, redeem, signedInBrowser } from '../../helpers/hand-over.ts'
import { pageSettings } from '../../helpers/page-browser.ts'
import { mergeSettings, startService, type TestService } from '../../helpers/service.ts'
import { longTest } from '../../helpers/soak.ts'
import { openToldApplication, type Told } from '../../helpers/told-application.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'
import { waitFor } from '../../helpers/wait.ts'

setDefaultTimeout(30_000)

const ISSUER = 'https://auth.example.com/oauth2'
const web = { id: 'web', name: 'Example', redirect_uris: [REDIRECT], own: true }
const listing = (application: object) =>
  mergeSettings(pageSettings, {
    server: { language: 'en' },
    pages: { enabled: true, applications: [application] },
    admin: { listen: '127.0.0.1:8081' },
  })

const applications = openToldApplication()
afterAll(applications.close)
const told = { ...web, backchannel_logout_uri: applications.address }

describe('an application with backchannel_logout_uri', () => {
  const options = { shape: 'postgres', settings: listing(told) } as const
  const service = useService(options)
  const replica = useReplica(service, options)

  async function handedOver(one: TestService = service) {
    const { person, browser } = await signedInBrowser(one)
    const { code, verifier } = await newCode(browser)
    const { body } = await redeem(one, code, verifier)
    const { sid = '', sub = '' } = decodeJwt<{ sid: string }>(body.access_token)
    return {
      person,
      browser,
      bearer: body.access_token as string,
      refresh_token: body.refresh_token,
      sid,
      sub,
    }
  }
  const messagesOf = async (sub: string) =>
    (await asOperator(service, 'GET', `messages?channel=application&limit=100`)).body.items.filter(
      ({ account }: { account: string }) => account === sub,
    )
  const messageOf = async (sub: string, state: string) => {
    await waitFor(async () => (await messagesOf(sub))[0]?.state === state, {
      what: `a message that is ${state}`,
    })
    return (await messagesOf(sub))[0]
  }

  test('is told by a token that it can verify, and that no route of ours takes', async () => {
    applications.answerStatus(204)
    const { bearer, sid, sub } = await handedOver()
    await service.post('logout-all', {}, { bearer })
    await messageOf(sub, 'sent')
    const [{ url, method, token }] = applications.of(sid) as [Told]
    expect([url, method]).toEqual([applications.address, 'POST'])
    const keys = createLocalJWKSet((await service.call('GET', '/oauth2/jwks')).body)
    const { payload } = await jwtVerify(token, keys, { issuer: ISSUER, audience: 'web', typ: 'logout+jwt' })
    expect(payload).toMatchObject({ sub, sid, events: expect.any(Object) })
    expect(payload.exp! - payload.iat!).toBe(120)
    expect(payload.nonce).toBeUndefined()
    expect((await service.get('me', { bearer: token })).status).toBe(401)
    expect(await messagesOf(sub)).toEqual([
      expect.objectContaining({
        destination: 'web',
        purpose: 'logout',
        meaning: 'The application was told.',
      }),
    ])
  })

  test('is told at once, and not at the next look at the table', async () => {
    applications.answerStatus(200)
    let waitedMs = 0
    for (let count = 0; count < 5; count++) {
      const { sid, refresh_token } = await handedOver()
      const endedAt = performance.now()
      await service.post('logout', { refresh_token })
      await waitFor(() => applications.of(sid).length > 0, {
        what: 'the application to be told',
        intervalMs: 2,
      })
      waitedMs += performance.now() - endedAt
    }
    // A look comes every two seconds.
    expect(waitedMs).toBeLessThan(1000)
  })

  const endings: Record<string, (scene: Awaited<ReturnType<typeof handedOver>>) => Promise<unknown>> = {
    'a lock': ({ sub }) => asOperator(replica, 'PATCH', `accounts/${sub}`, { locked: true }),
    'an erasure': ({ sub }) => asOperator(replica, 'DELETE', `accounts/${sub}`),
    'the end of the browser': ({ browser }) => browser.post('/sign-out', {}),
    'its own logout': ({ refresh_token }) => replica.post('logout', { refresh_token }),
    'an end from another session': async ({ person, sid }) => {
      const { access_token } = await service.logIn(person)
      return service.call('DELETE', `/api/v1/auth/sessions/${sid}`, undefined, { bearer: access_token })
    },
    'a changed password': async ({ person }) => {
      const { access_token } = await service.logIn(person)
      const form = { password: 'another long password', password_confirmation: 'another long password' }
      return service.post(
        'password/change',
        { ...form, current_password: person.password },
        { bearer: access_token },
      )
    },
  }

  test.each(Object.entries(endings))('is told once after %s', async (_, end) => {
    applications.answerStatus(200)
    const scene = await handedOver()
    await end(scene)
    await waitFor(() => applications.of(scene.sid).length > 0, { what: 'the application to be told' })
    await messageOf(scene.sub, 'sent')
    expect(applications.of(scene.sid)).toHaveLength(1)
    expect((await service.get('me', { bearer: scene.bearer })).status).toBe(401)
  })

  test('32 who end it in several ways over two processes, an erasure among them, tell it once', async () => {
    applications.answerStatus(200)
    const scene = await handedOver()
    const ways = [
      () => service.post('logout', { refresh_token: scene.refresh_token }),
      () => asOperator(replica, 'PATCH', `accounts/${scene.sub}`, { locked: true }),
      () => replica.post('logout-all', {}, { bearer: scene.bearer }),
      () => asOperator(service, 'DELETE', `accounts/${scene.sub}`),
    ]
    await Promise.all(Array.from({ length: 32 }, (_, index) => ways[index % ways.length]!()))
    await waitFor(() => applications.of(scene.sid).length > 0, { what: 'the application to be told' })
    // The erasure takes a message along that was sent before it. None waits any more.
    await waitFor(
      async () => (await messagesOf(scene.sub)).every(({ state }: { state: string }) => state === 'sent'),
      {
        what: 'no message that waits',
      },
    )
    expect(applications.of(scene.sid)).toHaveLength(1)
  })

  test('is not told of a session whose time is over, but of one that is ended while its row is kept', async () => {
    const { sid, sub, person, browser } = await handedOver()
    const sixth: string[] = []
    for (let count = 0; count < 5; count++) {
      const { code, verifier } = await newCode(browser)
      sixth.push(decodeJwt((await redeem(service, code, verifier)).body.access_token).sid as string)
      service.clock.advance(10)
    }
    // The first one gave way to the sixth.
    service.clock.advance(13 * 3_600_000)
    await Bun.sleep(1200)
    expect(await messagesOf(sub)).toEqual([])
    const { access_token } = await service.logIn(person)
    await service.post('logout-all', {}, { bearer: access_token })
    await waitFor(async () => (await messagesOf(sub)).length === 5, { what: 'five messages' })
    await waitFor(() => sixth.every((each) => applications.of(each).length === 1), { what: 'five calls' })
    expect(applications.of(sid)).toEqual([])
  })

  test.each([429, 503])('%i is tried again, with a token of its own', async (status) => {
    applications.answerStatus(status)
    const { bearer, sid, sub } = await handedOver()
    await service.post('logout-all', {}, { bearer })
    await waitFor(async () => (await messagesOf(sub))[0]?.detail === `web:${status}`, { what: 'a failure' })
    // An erasure meanwhile does not take away what the application has not heard yet.
    await asOperator(service, 'DELETE', `accounts/${sub}`)
    applications.answerStatus(200)
    service.clock.advance(60_000)
    await messageOf(sub, 'sent')
    const tokens = applications.of(sid).map(({ token }) => decodeJwt(token))
    expect(tokens).toHaveLength(2)
    expect(new Set(tokens.map(({ jti }) => jti)).size).toBe(2)
    expect(tokens[1]!.exp! - tokens[1]!.iat!).toBe(120)
  })

  test.each([302, 401])('%i is its last word, which an operator may ask again', async (status) => {
    applications.answerStatus(status)
    const { bearer, sid, sub } = await handedOver()
    await service.post('logout-all', {}, { bearer })
    const message = await messageOf(sub, 'refused')
    expect([message.detail, message.meaning]).toEqual([
      `web:${status}`,
      `It will not be sent: web refuses it (${status}).`,
    ])
    expect(applications.received.every(({ url }) => url === applications.address)).toBe(true)
    applications.answerStatus(200)
    expect((await asOperator(service, 'POST', `messages/${message.id}/retry`, {})).status).toBe(200)
    await messageOf(sub, 'sent')
    expect(applications.of(sid)).toHaveLength(2)
  })

  longTest('no answer within five seconds is tried again', async () => {
    applications.hang()
    const { bearer, sub } = await handedOver()
    await service.post('logout-all', {}, { bearer })
    await waitFor(async () => (await messagesOf(sub))[0]?.detail === 'web:timeout', { what: 'a failure' })
    expect((await messagesOf(sub))[0].state).toBe('waiting')
    applications.answerStatus(200)
    service.clock.advance(60_000)
    await messageOf(sub, 'sent')
  })
})

longTest('an application without it is not told, nor one that lost it while a message waited', async () => {
  applications.answerStatus(503)
  await using service = await startService({ shape: 'postgres', settings: listing(web) })
  const end = async (one: TestService) => {
    const { browser } = await signedInBrowser(one)
    const { code, verifier } = await newCode(browser)
    const { body } = await redeem(one, code, verifier)
    await one.post('logout-all', {}, { bearer: body.access_token })
  }
  const count = async () =>
    (await asOperator(service, 'GET', 'messages?channel=application')).body.items.length as number
  await end(service)
  expect(await count()).toBe(0)
  const before = applications.received.length
  {
    await using with_ = await startService({
      ...{ shape: 'postgres', storage: service.storage, settings: listing(told) },
    })
    await end(with_)
    await waitFor(() => applications.received.length > before, { what: 'an attempt' })
    expect(await count()).toBe(1)
  }
  await using _ = await startService({ shape: 'postgres', storage: service.storage, settings: listing(web) })
  expect(await count()).toBe(0)
})
