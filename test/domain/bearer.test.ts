/** Every route that needs an access token, as the published document names them, refuses whatever is not one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { decodeJwt, importJWK, type JWK } from 'jose'
import { statement } from '../../src/platform/postgres/database.ts'
import { createServerSecret } from '../../src/platform/secret.ts'
import { newEmail } from '../helpers/api-client.ts'
import { lockAccount } from '../helpers/database.ts'
import { createForger, type Forger } from '../helpers/forged-tokens.ts'
import { codeFor, entry, redeemBySecret, signedInBrowser } from '../helpers/hand-over.ts'
import { pageSettings } from '../helpers/page-browser.ts'
import { openToldApplication } from '../helpers/told-application.ts'
import { useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

interface Route {
  method: string
  path: string
}

const told = openToldApplication()
afterAll(told.close)
const service = useService()
/** The same routes beside the pages, which hand over to applications. */
const withPages = useService({
  settings: {
    ...pageSettings,
    pages: {
      enabled: true,
      applications: [
        entry('grafana', { backchannel_logout_uri: told.address }),
        entry('team', { own: true, groups: [] }),
      ],
    },
  },
})
let routes: Route[]
let forger: Forger

beforeAll(async () => {
  const { paths } = (await service.call('GET', '/swagger/json')).body
  routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations as Record<string, { security?: object[] }>)
      .filter(([, { security = [] }]) => security.length > 0 && security.every((way) => 'accessToken' in way))
      .map(([method]) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, 'x') })),
  )
  forger = await createServiceForger()
})

/** Signs with the service's own key, read from the database under the server secret that the test gave it. */
async function createServiceForger() {
  const read = statement<Record<string, never>, { kid: string; publicJwk: JWK; sealed: Uint8Array }>(
    sql`select kid, public_jwk, sealed_private_jwk as sealed from signing_keys`,
  )
  const { kid, publicJwk, sealed } = (await service.inside.database.first(read, {}))!
  const secret = createServerSecret(Buffer.from(String(service.storage.server!.secret), 'hex'))
  const privateKey = await importJWK(JSON.parse(secret.open('signing key', sealed)), 'ES256')
  const { bearer } = await service.signedIn()
  const { sub, sid, iss, aud } = decodeJwt(bearer)
  return createForger({
    issuer: iss!,
    audience: aud as string,
    kid,
    privateKey: privateKey as CryptoKey,
    publicJwk,
    subject: { sub, sid },
    now: service.clock.now,
  })
}

const call = ({ method, path }: Route, authorization?: string, one = service) =>
  one.call(method, path, method === 'GET' ? undefined : {}, {
    ...(authorization !== undefined && { headers: { authorization } }),
  })

/** Returns the answer of every one of them to this header; one for all of them, if they agree. */
async function answersTo(authorization?: string, one = service) {
  const answers = await Promise.all(
    routes.map(async (route) => {
      const { status, body, headers } = await call(route, authorization, one)
      return `${status} ${body?.code} ${headers.get('www-authenticate')}`
    }),
  )
  return [...new Set(answers)]
}

const refused = ['401 invalid_token Bearer error="invalid_token"']
const freshToken = async () => {
  const person = await service.signUp(newEmail())
  return { person, token: (await service.logIn(person)).access_token as string }
}

describe('the routes that need an access token', () => {
  test('are all but the ones somebody uses who has none', async () => {
    const { paths } = (await service.call('GET', '/swagger/json')).body
    const all = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations as object).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const closed = routes.map(({ method, path }) => `${method} ${path}`)
    const open = all.filter(
      (route) =>
        !closed.includes(route.replaceAll(/\{\w+\}/g, 'x')) &&
        // It takes a token of administration.
        route !== 'GET /api/v1/auth/sessions/ended',
    )
    for (const route of open) {
      const [method, path] = route.split(' ') as [string, string]
      const { body } = await call({ method, path: path.replaceAll(/\{\w+\}/g, 'x') })
      expect([route, body?.code === 'invalid_token']).toEqual([route, false])
    }
    expect(routes.length).toBeGreaterThan(4)
  })

  test('refuse a request without one, before they look at its body', async () => {
    expect(await answersTo()).toEqual(refused)
    for (const header of [
      '',
      'Bearer',
      'Bearer ',
      'Basic YTpi',
      'Token x',
      'Bearer x y',
      'Bearer x, Bearer y',
    ]) {
      expect([header, ...(await answersTo(header))]).toEqual([header, ...refused])
    }
    const { token } = await freshToken()
    for (const header of [token, `Bearer${token}`, `Bearer ${token} ${token}`, `Basic ${token}`]) {
      expect(await answersTo(header)).toEqual(refused)
    }
  })

  test('take it from nowhere but the Authorization header, whose scheme may be in any case', async () => {
    const { token } = await freshToken()
    const path = `/api/v1/auth/me?access_token=${token}`
    expect((await service.call('GET', path)).status).toBe(401)
    expect(
      (await service.call('GET', path, undefined, { headers: { cookie: `access_token=${token}` } })).status,
    ).toBe(401)
    expect((await call({ method: 'GET', path: '/api/v1/auth/me' }, `bEARER  ${token}`)).status).toBe(200)
  })

  test('refuse every forged one alike, while the true one it is made from is accepted', async () => {
    for (const [name, make] of forger.forgeries) {
      const token = await make()
      // Longer headers do not get through HTTP.
      if (token.length > 8192) continue
      expect([name, ...(await answersTo(`Bearer ${token}`))]).toEqual([name, ...refused])
    }
    expect((await service.get('me', { bearer: await forger.forge({}) })).status).toBe(200)
  }, 60_000)

  test('refuse whatever else an application gets', async () => {
    const { browser } = await signedInBrowser(withPages)
    const scope = { scope: 'openid offline_access' }
    const team = (await redeemBySecret(withPages, 'team', await codeFor(browser, 'team', scope))).body
    const other = (await redeemBySecret(withPages, 'grafana', await codeFor(browser, 'grafana', scope))).body
    const code = await codeFor(browser, 'grafana')
    const tried = [other.access_token, other.refresh_token, other.id_token, team.refresh_token, team.id_token]
    for (const token of [...tried, code, ...browser.cookies.values()])
      expect(await answersTo(`Bearer ${token}`, withPages)).toEqual(refused)
    expect((await withPages.get('me', { bearer: team.access_token })).status).toBe(200)
    await browser.post('/sign-out', {})
    await waitFor(() => told.received.length > 0, { what: 'the application to be told' })
    expect(await answersTo(`Bearer ${told.received[0]!.token}`, withPages)).toEqual(refused)
  })

  test('say of an expired one that it is', async () => {
    const expired = await forger.forge({}, { exp: 1 })
    expect(await answersTo(`Bearer ${expired}`)).toEqual(['401 token_expired Bearer error="invalid_token"'])
  })

  test('refuse one of a session that is over, or of a locked or erased account, at once', async () => {
    const { token: loggedOut } = await freshToken()
    await service.post('logout', {}, { bearer: loggedOut })
    const { person, token: locked } = await freshToken()
    await lockAccount(service, person.identifier, service.clock.now())
    const { person: gone, token: erased } = await freshToken()
    await service.call('DELETE', '/api/v1/auth/me', { password: gone.password }, { bearer: erased })
    for (const token of [loggedOut, locked, erased]) {
      expect(await answersTo(`Bearer ${token}`)).toEqual(refused)
    }
  })

  test('refuse one whose session is another account’s', async () => {
    const [one, other] = [await freshToken(), await freshToken()]
    const crossed = await forger.forge({}, { sub: decodeJwt(one.token).sub, sid: decodeJwt(other.token).sid })
    expect(await answersTo(`Bearer ${crossed}`)).toEqual(refused)
  })
})
