/**
 * Libraries that servers sign people in with, as their own pages say how to use them: `openid-client` in the normal run, the
 * others for a soak. Those of browsers are in chromium.test.ts.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createServer } from 'node:http'
import * as openid from 'openid-client'
import { freePort } from '../../helpers/free-port.ts'
import { entry, SECRET, signedInBrowser } from '../../helpers/hand-over.ts'
import { type PageBrowser, pageSettings } from '../../helpers/page-browser.ts'
import { longTest } from '../../helpers/soak.ts'
import { useService } from '../../helpers/use-service.ts'
import { waitFor } from '../../helpers/wait.ts'

setDefaultTimeout(60_000)

const AUTH = pageSettings.server.base_url
const ISSUER = `${AUTH}/oauth2`
const SCOPE = 'openid profile email offline_access'
const site = (id: string) => `https://${id}.example.com`
const expressPort = await freePort()

const service = useService({
  settings: {
    ...pageSettings,
    server: { ...pageSettings.server, language: 'en' },
    pages: {
      enabled: true,
      applications: [
        entry('grafana'),
        entry('authjs', { redirect_uris: [`${site('authjs')}/auth/callback/poterne`] }),
        entry('passport', { redirect_uris: [`${site('passport')}/callback`] }),
        entry('express', {
          redirect_uris: [`${site('express')}/callback`],
          backchannel_logout_uri: `http://127.0.0.1:${expressPort}/backchannel-logout`,
        }),
      ],
    },
  },
})

/** The service has another address here than the one that everybody knows. */
const asServed = (url: string | URL | Request, init?: object) => {
  const address = url instanceof Request ? url.url : String(url)
  return fetch(address.replace(AUTH, service.url), init as RequestInit)
}

/** A browser that is signed in goes where an application sends it, and gives the address to which it was led back. */
async function follow(browser: PageBrowser, to: string | URL): Promise<URL> {
  const { pathname, search } = new URL(to)
  browser.left = null
  await browser.open(pathname + search)
  return new URL(browser.left ?? 'none:')
}

/** The cookies that a server gave, for its next request. */
function cookieJar() {
  const cookies = new Map<string, string>()
  return {
    take(answer: Response): Response {
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      return answer
    },
    headers: () => ({ cookie: [...cookies].map((pair) => pair.join('=')).join('; ') }),
  }
}

/** Without types: two have none, and those of Auth.js bring those of a browser along for the whole project. */
const load = (name: string) => import(name)

const methods = { client_secret_basic: openid.ClientSecretBasic, client_secret_post: openid.ClientSecretPost }

test.each(Object.entries(methods))('openid-client by %s', async (_, method) => {
  const { person, browser } = await signedInBrowser(service)
  const found = await openid.discovery(new URL(ISSUER), 'grafana', SECRET, method(SECRET), {
    [openid.customFetch]: asServed as openid.CustomFetch,
  })
  const checks = {
    pkceCodeVerifier: openid.randomPKCECodeVerifier(),
    expectedState: openid.randomState(),
    expectedNonce: openid.randomNonce(),
    maxAge: 600,
  }
  const address = openid.buildAuthorizationUrl(found, {
    ...{ redirect_uri: 'https://grafana.example.com/in', scope: SCOPE, max_age: '600' },
    ...{ state: checks.expectedState, nonce: checks.expectedNonce },
    code_challenge: await openid.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const tokens = await openid.authorizationCodeGrant(found, await follow(browser, address), checks)
  const { sub } = tokens.claims()!
  expect(await openid.fetchUserInfo(found, tokens.access_token, sub)).toMatchObject({
    ...{ sub, email: person.identifier, email_verified: true },
  })
  const refreshed = await openid.refreshTokenGrant(found, tokens.refresh_token!)
  expect(refreshed.claims()?.sub).toBe(sub)
  await openid.tokenRevocation(found, tokens.refresh_token!)
  expect(openid.fetchUserInfo(found, refreshed.access_token, sub)).rejects.toThrow()
  const hint = { id_token_hint: tokens.id_token!, post_logout_redirect_uri: 'https://grafana.example.com/' }
  expect((await follow(browser, openid.buildEndSessionUrl(found, hint))).href).toBe(
    hint.post_logout_redirect_uri,
  )
})

describe('a library for a server', () => {
  longTest('Auth.js', async () => {
    const { Auth, customFetch } = await load('@auth/core')
    const { person, browser } = await signedInBrowser(service)
    const jar = cookieJar()
    const call = async (path: string, body?: URLSearchParams) => {
      const init = { headers: jar.headers(), ...(body && { method: 'POST', body }) }
      return jar.take(
        await Auth(new Request(`${site('authjs')}/auth/${path}`, init), {
          ...{ basePath: '/auth', trustHost: true, secret: 'only for this test' },
          providers: [
            {
              ...{ id: 'poterne', name: 'poterne', type: 'oidc', issuer: ISSUER },
              ...{ clientId: 'authjs', clientSecret: SECRET, checks: ['pkce', 'state', 'nonce'] },
              [customFetch]: asServed,
            },
          ],
        }),
      )
    }
    const { csrfToken } = (await (await call('csrf')).json()) as { csrfToken: string }
    const sent = await call('signin/poterne', new URLSearchParams({ csrfToken }))
    const back = await follow(browser, sent.headers.get('location')!)
    await call(`callback/poterne${back.search}`)
    const session = (await (await call('session')).json()) as { user?: { email: string } }
    expect(session.user?.email).toBe(person.identifier)
  })

  longTest('passport-openidconnect', async () => {
    const { Strategy } = await load('passport-openidconnect')
    const { person, browser } = await signedInBrowser(service)
    const options = {
      ...{ issuer: ISSUER, clientID: 'passport', clientSecret: SECRET },
      authorizationURL: `${ISSUER}/authorize`,
      tokenURL: `${service.url}/oauth2/token`,
      userInfoURL: `${service.url}/oauth2/userinfo`,
      callbackURL: `${site('passport')}/callback`,
      scope: 'profile email',
    }
    const session = {}
    const authenticate = (query: Record<string, string>) =>
      new Promise<string>((resolve, reject) => {
        const verify = (
          _: string,
          { emails }: { emails: { value: string }[] },
          done: (error: null, user: string) => void,
        ) => done(null, emails[0]?.value ?? '')
        const strategy = Object.assign(new Strategy(options, verify), {
          ...{ redirect: resolve, success: resolve, error: reject },
          fail: (info: unknown) => reject(new Error(JSON.stringify(info))),
        })
        strategy.authenticate({ session, query, url: '/' }, {})
      })
    const back = await follow(browser, await authenticate({}))
    expect(await authenticate(Object.fromEntries(back.searchParams))).toBe(person.identifier)
  })

  longTest('express-openid-connect, which is told when the session ends', async () => {
    const { default: express } = await load('express')
    const { auth } = await load('express-openid-connect')
    const { person, browser } = await signedInBrowser(service)
    const kept = new Map<string, unknown>()
    const store = {
      get: (id: string, done: (error: null, value: unknown) => void) => done(null, kept.get(id)),
      set: (id: string, value: unknown, done?: (error: null) => void) => {
        kept.set(id, value)
        done?.(null)
      },
      destroy: (id: string, done?: (error: null) => void) => {
        kept.delete(id)
        done?.(null)
      },
    }
    const application = express()
    application.use(
      auth({
        ...{ issuerBaseURL: ISSUER, baseURL: site('express'), clientID: 'express', clientSecret: SECRET },
        ...{ secret: 'only for this test', authRequired: false, customFetch: asServed },
        authorizationParams: { response_type: 'code', scope: 'openid profile email' },
        backchannelLogout: { store },
      }),
    )
    application.get(
      '/',
      ({ oidc }: { oidc?: { user?: { email: string } } }, response: { json(body: object): void }) =>
        response.json({ email: oidc?.user?.email ?? null }),
    )
    const server = createServer(application)
    await new Promise<void>((resolve) => server.listen(expressPort, '127.0.0.1', resolve))
    const jar = cookieJar()
    const call = async (path: string) =>
      jar.take(
        await fetch(`http://127.0.0.1:${expressPort}${path}`, { headers: jar.headers(), redirect: 'manual' }),
      )
    const email = async () => ((await (await call('/')).json()) as { email: string | null }).email
    try {
      const back = await follow(browser, (await call('/login')).headers.get('location')!)
      await call(`/callback${back.search}`)
      expect(await email()).toBe(person.identifier)
      await browser.post('/sign-out', {})
      await waitFor(async () => (await email()) === null, { what: 'the end of its session' })
    } finally {
      server.close()
    }
  })
})
