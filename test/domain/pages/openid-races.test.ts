/**
 * Codes and refresh tokens of an application of somebody else, by 32 callers over two processes, while something ends what they
 * are for: nothing that they got lives afterwards.
 */
import { describe, expect, test } from 'bun:test'
import { asOperator } from '../../helpers/administration.ts'
import { type Answer, newEmail, type Person } from '../../helpers/api-client.ts'
import { deadlocks } from '../../helpers/database.ts'
import {
  basic,
  codeFor,
  entry,
  redeemBySecret,
  refreshBySecret,
  signedInBrowser,
  userinfo,
} from '../../helpers/hand-over.ts'
import { type PageBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { race } from '../../helpers/race.ts'
import type { Shape } from '../../helpers/service.ts'
import { shapes } from '../../helpers/service.ts'
import { reduced } from '../../helpers/soak.ts'
import { useReplica, useService } from '../../helpers/use-service.ts'

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en' },
  pages: { enabled: true, applications: [entry('grafana', { groups: ['staff'] })] },
  admin: { listen: '127.0.0.1:8081' },
}
const ROUNDS = reduced(2, 32)
const SCOPE = { scope: 'openid offline_access' }

describe.each(reduced<Shape[]>(['redis'], shapes))('races for an application of others on %s', (shape) => {
  const service = useService({ shape, settings })
  const replica = useReplica(service, { shape, settings })

  interface Scene {
    person: Person
    browser: PageBrowser
    uuid: string
    tokens: Answer['body']
  }
  /** What ends the session. */
  const endings: Record<string, (scene: Scene) => Promise<Answer | Response>> = {
    'a lost group': ({ uuid }) => asOperator(replica, 'PATCH', `accounts/${uuid}`, { groups: ['other'] }),
    'a lock': ({ uuid }) => asOperator(replica, 'PATCH', `accounts/${uuid}`, { locked: true }),
    'an erasure': ({ uuid }) => asOperator(service, 'DELETE', `accounts/${uuid}`),
    'signing out of the browser': ({ browser }) => browser.post('/sign-out', {}),
    'signing out by a hint': ({ browser, tokens }) =>
      browser.open(`/oauth2/sign-out?id_token_hint=${tokens.id_token}`) as never,
  }

  test.each(Object.entries(endings).slice(0, reduced(2, undefined)))(
    '%s leaves nothing alive',
    async (name, end) => {
      for (let round = 0; round < ROUNDS; round++) {
        const { person, browser } = await signedInBrowser(service, newEmail())
        const { uuid } = (await asOperator(service, 'GET', `accounts?query=${person.identifier}`)).body
          .items[0]
        await asOperator(service, 'PATCH', `accounts/${uuid}`, { groups: ['staff'] })
        const tokens = (await redeemBySecret(service, 'grafana', await codeFor(browser, 'grafana', SCOPE)))
          .body
        const code = await codeFor(browser, 'grafana', SCOPE)
        let ended: Promise<Answer | Response> | undefined
        const answers = await race([service, replica], async (one, caller) => {
          // The end comes among the callers, in each round later.
          if (caller === round * Math.floor(32 / ROUNDS)) ended = end({ person, browser, uuid, tokens })
          return caller % 2 === 0
            ? redeemBySecret(one, 'grafana', code)
            : refreshBySecret(one, 'grafana', tokens.refresh_token)
        })
        expect((await ended)?.status).toBeLessThan(400)
        if (name === 'a lock') await asOperator(service, 'PATCH', `accounts/${uuid}`, { locked: false })
        if (name === 'a lost group')
          await asOperator(service, 'PATCH', `accounts/${uuid}`, { groups: ['staff'] })
        for (const { body } of [{ body: tokens }, ...answers]) {
          if (body?.access_token) expect((await userinfo(service, body.access_token)).status).toBe(401)
          const { refresh_token } = body ?? {}
          if (refresh_token)
            expect((await refreshBySecret(replica, 'grafana', refresh_token)).status).toBe(400)
        }
        expect(answers.map(({ status }) => status).filter((status) => status >= 500)).toEqual([])
      }
      expect(await deadlocks(service)).toBe(0)
    },
  )

  test('of 32 callers with one code one gets tokens, and all of them refresh by the same token', async () => {
    const { person, browser } = await signedInBrowser(service, newEmail())
    const { uuid } = (await asOperator(service, 'GET', `accounts?query=${person.identifier}`)).body.items[0]
    await asOperator(service, 'PATCH', `accounts/${uuid}`, { groups: ['staff'] })
    const code = await codeFor(browser, 'grafana', SCOPE)
    const answers = await race([service, replica], (one) => redeemBySecret(one, 'grafana', code))
    const [won, ...others] = answers.filter(({ status }) => status === 200)
    expect(others).toEqual([])
    const { refresh_token } = won!.body
    const refreshed = await race([service, replica], (one) => refreshBySecret(one, 'grafana', refresh_token))
    expect(refreshed.map(({ body }) => body.refresh_token)).toEqual(refreshed.map(() => refresh_token))
    // A revocation among them ends it for all.
    await race([service, replica], (one, caller) =>
      caller === 7
        ? fetch(`${one.url}/oauth2/revoke`, {
            method: 'POST',
            headers: basic('grafana'),
            body: new URLSearchParams({ token: refresh_token }),
          })
        : refreshBySecret(one, 'grafana', refresh_token),
    )
    expect((await refreshBySecret(service, 'grafana', refresh_token)).status).toBe(400)
    expect(await deadlocks(service)).toBe(0)
  })
})
