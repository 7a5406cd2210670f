/** Refresh tokens of applications: one that comes a second time, and those of an application that was taken out. */
import { describe, expect } from 'bun:test'
import { newEmail } from '../../helpers/api-client.ts'
import { newCode, REDIRECT, redeem, signedInBrowser, token } from '../../helpers/hand-over.ts'
import { createFrozenClock, from } from '../../helpers/limited-service.ts'
import { pageSettings } from '../../helpers/page-browser.ts'
import { race } from '../../helpers/race.ts'
import { mergeSettings, racingShapes, testsOn } from '../../helpers/service.ts'
import { notHere } from '../../helpers/soak.ts'
import { useLimited, useReplica } from '../../helpers/use-service.ts'

const [HOME, THERE] = ['198.51.100.7', '203.0.113.9']

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en', trusted_proxies: ['127.0.0.1'] },
  limits: { enabled: false },
  pages: { enabled: true, applications: [{ id: 'web', name: 'Example', redirect_uris: [REDIRECT] }] },
}

describe.each(racingShapes)('refreshes of an application on %s', (shape) => {
  const { test, raced, rule } = testsOn(shape)
  const clock = createFrozenClock()
  const service = useLimited({ shape, clock, settings })

  async function handedOver() {
    const { browser } = await signedInBrowser(service, newEmail())
    const { code, verifier } = await newCode(browser)
    const { body } = await redeem(service, code, verifier)
    return { first: body.refresh_token as string }
  }

  /** A refresh token comes by either of two ways. */
  const ways = {
    'POST /oauth2/token': (refresh_token: string, address: string) =>
      token(service, { grant_type: 'refresh_token', client_id: 'web', refresh_token }, from(address).headers),
    'POST refresh': (refresh_token: string, address: string) =>
      service.post('refresh', { refresh_token }, from(address)),
  }

  for (const [way, refresh] of Object.entries(ways)) {
    test(`the same token at ${way} gives its successor to the same address for 30 seconds`, async () => {
      const { first } = await handedOver()
      const { refresh_token: successor } = (await refresh(first, HOME)).body
      service.clock.advance(29_000)
      const again = await refresh(first, HOME)
      expect([again.status, again.body.refresh_token]).toEqual([200, successor])
      expect((await refresh(successor, HOME)).status).toBe(200)
    })

    rule(`the same token at ${way} ends the session from elsewhere and after 30 seconds`, async () => {
      const over = way === 'POST refresh' ? 401 : 400
      for (const [seconds, address] of [
        [29, THERE],
        [31, HOME],
      ] as const) {
        const { first } = await handedOver()
        const { refresh_token: successor } = (await refresh(first, HOME)).body
        service.clock.advance(seconds * 1000)
        expect([seconds, (await refresh(first, address)).status]).toEqual([seconds, over])
        expect([seconds, (await refresh(successor, HOME)).status]).toEqual([seconds, over])
      }
    })
  }

  // Another configuration is that of another process, and the embedded database has one.
  const inTwoProcesses = shape === 'embedded' ? notHere : raced
  const without = useReplica(service, { shape, settings: { ...settings, pages: { enabled: true } } })
  const claims = { tokens: { claims: { tongue: { from: 'language', required: true } } } }
  const withoutButClaims = useReplica(service, {
    shape,
    settings: mergeSettings({ ...settings, pages: { enabled: true } }, claims),
  })

  inTwoProcesses('an application that is put back into the configuration goes on', async () => {
    const { first } = await handedOver()
    for (const one of [without, withoutButClaims]) {
      for (let tries = 0; tries < 2; tries++) {
        expect((await one.post('refresh', { refresh_token: first })).status).toBe(401)
      }
    }
    service.clock.advance(3_600_000)
    const put = await service.post('refresh', { refresh_token: first })
    expect(put.status).toBe(200)
    // Its successor lives on, too, although the token before it is presented where the application is missing.
    service.clock.advance(60_000)
    expect((await without.post('refresh', { refresh_token: first })).status).toBe(401)
    expect((await service.post('refresh', { refresh_token: put.body.refresh_token })).status).toBe(200)
  })

  inTwoProcesses(
    '32 callers over a process with the application and one without rotate its session once',
    async () => {
      const { first } = await handedOver()
      const answers = await race([service, without], (one) => one.post('refresh', { refresh_token: first }))
      const given = answers.flatMap(({ status, body }) =>
        status === 200 ? [body.refresh_token as string] : [],
      )
      expect([given.length, new Set(given).size]).toEqual([16, 1])
      service.clock.advance(60_000)
      expect((await service.post('refresh', { refresh_token: given[0] })).status).toBe(200)
    },
  )
})
