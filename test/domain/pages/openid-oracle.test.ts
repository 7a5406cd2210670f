/**
 * The same requests to poterne and to a certified provider (`oidc-provider`): the same success, or the same error. Left out is
 * where poterne says it in other words on purpose: `response_mode`, an application that does not say who it is, a form
 * without the address.
 */

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createServer, type Server } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { freePort } from '../../helpers/free-port.ts'
import { addressOf, basic, entry, openIdAddress, SECRET } from '../../helpers/hand-over.ts'
import { PAGE_HOST, pageSettings } from '../../helpers/page-browser.ts'
import { useService } from '../../helpers/use-service.ts'

const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWBuGJSstw-cM'
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: 'S256' }

const service = useService({
  settings: {
    ...pageSettings,
    pages: {
      enabled: true,
      applications: [entry('grafana'), entry('spa', { secret_sha256: [] })],
    },
  },
})

let oracle = ''
let server: Server

beforeAll(async () => {
  const port = await freePort()
  oracle = `http://127.0.0.1:${port}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const client = (id: string, more: object) => ({
    client_id: id,
    redirect_uris: [addressOf(id)],
    grant_types: ['authorization_code', 'refresh_token'],
    ...more,
  })
  const provider = new Provider(oracle, {
    clients: [
      client('grafana', { client_secret: SECRET }),
      client('spa', { token_endpoint_auth_method: 'none' }),
    ],
    findAccount: async (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
    claims: { openid: ['sub'] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'k' }] },
    cookies: { keys: ['only for tests'] },
    features: { revocation: { enabled: true }, devInteractions: { enabled: false } },
    pkce: {
      required: (_: unknown, { clientAuthMethod }: { clientAuthMethod: string }) =>
        clientAuthMethod === 'none',
    },
  })
  server = createServer(provider.callback())
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
})
afterAll(() => server?.close())

/** `page` where nobody is sent back. */
async function authorizeAt(url: string, query: string): Promise<string> {
  const headers = { host: PAGE_HOST, accept: 'text/html' }
  const answer = await fetch(url, { redirect: 'manual', ...(url.startsWith(oracle) ? {} : { headers }) })
  await answer.text()
  const to = URL.parse(answer.headers.get('location') ?? '')
  const inFragment = new URLSearchParams(to?.hash.slice(1)).get('error')
  return to?.searchParams.get('error') ?? inFragment ?? (to ? `away ${query}` : 'page')
}

describe('at authorize', () => {
  const requests: [id: string, more: Record<string, string>][] = [
    ['grafana', {}],
    ['grafana', PKCE],
    ['spa', {}],
    ['spa', PKCE],
    ['grafana', { ...PKCE, code_challenge_method: 'plain' }],
    ['grafana', { code_challenge: 'short', code_challenge_method: 'S256' }],
    ['grafana', { code_challenge_method: 'S256' }],
    ['grafana', { response_type: 'token' }],
    ['grafana', { response_type: '' }],
    ['grafana', { prompt: 'none login' }],
    ['grafana', { prompt: 'nothing' }],
    ['grafana', { max_age: 'soon' }],
    ['grafana', { max_age: '10' }],
    ['grafana', { request: 'x.y.z' }],
    ['grafana', { request_uri: 'https://grafana.example.com/r' }],
    ['grafana', { registration: '{}' }],
    ['grafana', { scope: 'openid unknown' }],
    ['grafana', { state: '', nonce: '' }],
    ['grafana', { redirect_uri: 'https://evil.example/in' }],
    ['nobody', {}],
  ]

  test.each(requests)('%s with %o', async (id, more) => {
    const address = openIdAddress(id, { scope: 'openid', prompt: 'none', ...more })
    const query = address.slice(address.indexOf('?'))
    const expected = await authorizeAt(`${oracle}/auth${query}`, query)
    expect(await authorizeAt(service.url + address, query)).toBe(expected)
  })
})

describe('at the endpoints for tokens', () => {
  const grant = { grant_type: 'authorization_code', code: 'x', redirect_uri: addressOf('grafana') }
  const forms: [name: string, form: Record<string, string>, headers?: Record<string, string>][] = [
    ['Basic', grant, basic('grafana')],
    ['Basic, percent-encoded', grant, basic('grafana', encodeURIComponent(SECRET).replaceAll('_', '%5F'))],
    ['a wrong secret', grant, basic('grafana', 'x'.repeat(40))],
    ['an unknown application', grant, basic('nobody')],
    ['no grant', {}, basic('grafana')],
    ['another grant', { grant_type: 'password' }, basic('grafana')],
    ['no code', { ...grant, code: '' }, basic('grafana')],
    ['no refresh token', { grant_type: 'refresh_token' }, basic('grafana')],
    ['another refresh token', { grant_type: 'refresh_token', refresh_token: 'x' }, basic('grafana')],
  ]
  const post = async (url: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })
    const text = await answer.text()
    const { error } = text === '' ? { error: undefined } : (JSON.parse(text) as { error?: string })
    return [answer.status, error]
  }

  test.each(forms)('%s', async (_, form, headers) => {
    const expected = await post(`${oracle}/token`, form, headers)
    expect(await post(`${service.url}/oauth2/token`, form, headers)).toEqual(expected)
  })

  test.each([
    ['any token', { token: 'x' }, basic('grafana')],
    ['no token', {}, basic('grafana')],
    ['a wrong secret', { token: 'x' }, basic('grafana', 'x'.repeat(40))],
    ['a hint', { token: 'x', token_type_hint: 'y' }, basic('grafana')],
  ])('revoking %s', async (_, form, headers) => {
    const expected = await post(`${oracle}/token/revocation`, form as Record<string, string>, headers)
    expect(await post(`${service.url}/oauth2/revoke`, form as Record<string, string>, headers)).toEqual(
      expected,
    )
  })
})
