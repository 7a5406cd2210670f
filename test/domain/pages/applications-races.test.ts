/**
 * Codes of the hand-over and refreshes of what was handed over, by 32 callers over two processes, while something ends the
 * browser's session: nothing that they got lives afterwards.
 */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../../helpers/administration.ts'
import { type Answer, newEmail, type Person } from '../../helpers/api-client.ts'
import { deadlocks } from '../../helpers/database.ts'
import {
  authorizeAddress,
  newCode,
  newVerifier,
  REDIRECT,
  redeem,
  signedInBrowser,
  token,
} from '../../helpers/hand-over.ts'
import { PAGE_HOST, type PageBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { race } from '../../helpers/race.ts'
import { type Shape, shapes, type TestService } from '../../helpers/service.ts'
import { reduced } from '../../helpers/soak.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: { enabled: true, applications: [{ id: 'web', name: 'Example', redirect_uris: [REDIRECT] }] },
  admin: { listen: '127.0.0.1:8081' },
}
const NEW_PASSWORD = 'an entirely new phrase'
const ROUNDS = reduced(2, 32)

interface Handed {
  access_token?: string
  refresh_token?: string
}

/** PostgreSQL decides each of these races; what its tickets do under many callers, their contract demands of Redis as well. */
describe.each(reduced<Shape[]>(['redis'], shapes))('races of the hand-over on %s', (shape) => {
  const service = useService({ shape, settings })
  const replica = useReplica(service, { shape, settings })
  /** The same stores, after the application was taken out of the configuration. */
  const without = useReplica(service, { shape, settings: { ...settings, pages: { enabled: true } } })

  interface Scene {
    person: Person
    browser: PageBrowser
    uuid: string
  }
  /** Prepares what ends the session, and returns the call that does it. */
  type Ending = (scene: Scene) => Promise<() => Promise<Answer | Response>>

  const endings: Record<string, Ending> = {
    'a reset': async ({ person: { identifier } }) => {
      const otp = await service.askCode('password/forgot', identifier)
      const body = { identifier, otp, password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }
      return () => replica.post('password/reset', body)
    },
    'logout-all': async ({ person }) => {
      const { access_token } = await service.logIn(person)
      return () => replica.post('logout-all', {}, { bearer: access_token })
    },
    'a password changed elsewhere': async ({ person }) => {
      const { access_token } = await service.logIn(person)
      const body = { password: NEW_PASSWORD, password_confirmation: NEW_PASSWORD }
      const current = { current_password: person.password }
      return () => service.post('password/change', { ...body, ...current }, { bearer: access_token })
    },
    'signing out of the browser':
      async ({ browser }) =>
      () =>
        browser.post('/sign-out', {}),
    'a lock':
      async ({ uuid }) =>
      () =>
        asOperator(replica, 'PATCH', `accounts/${uuid}`, { locked: true }),
    'an erasure':
      async ({ uuid }) =>
      () =>
        asOperator(service, 'DELETE', `accounts/${uuid}`),
  }

  async function expectOver(one: TestService, { access_token, refresh_token }: Handed): Promise<void> {
    if (access_token) expect((await one.get('me', { bearer: access_token })).status).not.toBe(200)
    if (refresh_token) expect((await one.post('refresh', { refresh_token })).status).not.toBe(200)
  }

  test.each(Object.entries(endings).slice(0, reduced(4, undefined)))(
    '%s leaves nothing alive',
    async (name, prepare) => {
      for (let round = 0; round < ROUNDS; round++) {
        const { person, browser } = await signedInBrowser(service, newEmail())
        const former = await newCode(browser)
        const opened = (await redeem(service, former.code, former.verifier)).body
        const waiting = await newCode(browser)
        const end = await prepare({ person, browser, uuid: opened.account.uuid })
        let ended: Promise<Answer | Response> | undefined
        const answers = await race([service, replica], async (one, caller) => {
          // The end comes among the callers, in each round later.
          if (caller === round * Math.floor(32 / ROUNDS)) ended = end()
          if (caller % 4 < 2) return redeem(one, waiting.code, waiting.verifier)
          const { refresh_token } = opened
          if (caller % 4 === 2) return one.post('refresh', { refresh_token })
          return token(one, { grant_type: 'refresh_token', client_id: 'web', refresh_token })
        })
        expect((await ended)?.status).toBeLessThan(400)
        if (name === 'a lock') {
          await asOperator(service, 'PATCH', `accounts/${opened.account.uuid}`, { locked: false })
        }
        for (const { body } of [{ body: opened }, ...answers]) await expectOver(service, body ?? {})
      }
      // Each would cost a second, and a statement that loses three is an answer with 503.
      expect(await deadlocks(service)).toBe(0)
    },
  )

  test('of 32 forms by which one browser signs in again, one session stays, and its application goes on', async () => {
    const { person, browser } = await signedInBrowser(service, newEmail())
    const handed = await newCode(browser)
    const { refresh_token } = (await redeem(service, handed.code, handed.verifier)).body
    await browser.open(authorizeAddress(newVerifier(), { prompt: 'login' }))
    const { action } = browser.forms[0]!
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answers = await race([service, replica], (one) =>
      fetch(one.url + action, {
        method: 'POST',
        redirect: 'manual',
        headers: {
          ...{ host: PAGE_HOST, 'sec-fetch-site': 'same-origin', cookie },
          'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
        },
        body: new URLSearchParams({ identifier: person.identifier, password: person.password }),
      }),
    )
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 303))
    const opened = answers.map(
      ({ headers }) => /__Host-poterne=([0-9a-f]+)/.exec(headers.get('set-cookie') ?? '')?.[1],
    )
    let alive = 0
    for (const value of [browser.cookies.get('__Host-poterne'), ...opened]) {
      browser.cookies.set('__Host-poterne', value!)
      if ((await browser.open('/account')).path === '/account') alive += 1
    }
    expect(alive).toBe(1)
    const { access_token } = await service.logIn(person)
    const { body } = await service.get('sessions', { bearer: access_token })
    const names = body.sessions.map(({ device_name }: { device_name: string | null }) => device_name)
    expect(names.filter((name: string | null) => name === 'Firefox on Linux')).toHaveLength(1)
    const refreshed = await token(service, { grant_type: 'refresh_token', client_id: 'web', refresh_token })
    expect(refreshed.status).toBe(200)
    expect(await deadlocks(service)).toBe(0)
  })

  test('codes, and refreshes of applications, that were taken out of the configuration are refused', async () => {
    if (shape === 'embedded') return
    const { browser } = await signedInBrowser(service, newEmail())
    const former = await newCode(browser)
    const { refresh_token } = (await redeem(service, former.code, former.verifier)).body
    const { code, verifier } = await newCode(browser)
    const answers = await race([without], (one, caller) =>
      caller % 2 === 0
        ? redeem(one, code, verifier)
        : token(one, { grant_type: 'refresh_token', client_id: 'web', refresh_token }),
    )
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toEqual([])
    expect((await without.post('refresh', { refresh_token })).status).toBe(401)
  })
})
