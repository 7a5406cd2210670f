/** Refresh tokens of applications: one that comes a second time, and those of an application that was taken out. */
import { describe, expect } from 'bun:test'
import { newEmail } from '../../helpers/api-client.ts'
import { newCode, REDIRECT, redeem, signedInBrowser, token } from '../../helpers/hand-over.ts'
import { createFrozenClock, from } from '../../helpers/limited-service.ts'
import { pageSettings } from '../../helpers/page-browser.ts'
import { shapes, testsOn } from '../../helpers/service.ts'
import { useLimited } from '../../helpers/use-service.ts'

const [HOME, THERE] = ['198.51.100.7', '203.0.113.9']

const settings = {
  ...pageSettings,
  server: { ...pageSettings.server, language: 'en', trusted_proxies: ['127.0.0.1'] },
  limits: { enabled: false },
  pages: { enabled: true, applications: [{ id: 'web', name: 'Example', redirect_uris: [REDIRECT] }] },
}

describe.each(shapes)('refreshes of an application on %s', (shape) => {
  const { test, rule } = testsOn(shape)
  const clock = createFrozenClock()
  const service = useLimited({ shape, clock, settings })

  async function handedOver() {
    const { browser } = await signedInBrowser(service, newEmail())
    const { code, verifier } = await newCode(browser)
    const { body } = await redeem(service, code, verifier)
    return { first: body.refresh_token as string }
  }

  /** By the two ways that there are. */
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
})
