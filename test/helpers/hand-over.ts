/** The hand-over as a client of OAuth makes it: the application `web`, with a browser that needs no script. */
import { createHash, randomBytes } from 'node:crypto'
import { type Answer, newEmail } from './api-client.ts'
import { openBrowser, type PageBrowser } from './page-browser.ts'
import type { TestService } from './service.ts'

export const REDIRECT = 'https://app.example.com/signed-in'

export const newVerifier = () => randomBytes(32).toString('base64url')

export function authorizeAddress(verifier: string, more: Record<string, string> = {}): string {
  const query = {
    response_type: 'code',
    client_id: 'web',
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'abc',
    ...more,
  }
  return `/oauth2/authorize?${new URLSearchParams(query)}`
}

export async function token(
  service: Pick<TestService, 'url'>,
  form: Record<string, string> | [name: string, value: string][],
  headers: Record<string, string> = {},
) {
  const answer = await fetch(`${service.url}/oauth2/token`, {
    method: 'POST',
    headers,
    body: new URLSearchParams(form),
  })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] }
}

export const redeem = (service: Pick<TestService, 'url'>, code: string, code_verifier: string, more = {}) =>
  token(service, {
    grant_type: 'authorization_code',
    code,
    client_id: 'web',
    redirect_uri: REDIRECT,
    code_verifier,
    ...more,
  })

export const parametersOf = (browser: PageBrowser) => new URL(browser.left ?? 'none:').searchParams

export async function signedInBrowser(service: TestService, email = newEmail()) {
  const person = await service.signUp(email)
  const browser = await openBrowser(service.url).open('/sign-in')
  await browser.press('Sign in', { identifier: person.identifier, password: person.password })
  return { person, browser }
}

export async function newCode(browser: PageBrowser, more = {}) {
  const verifier = newVerifier()
  browser.left = null
  await browser.open(authorizeAddress(verifier, more))
  return { verifier, code: parametersOf(browser).get('code') ?? '' }
}

/** Secrets have this form; the digest stands in the configuration. */
export const SECRET = 'pot_app_a-secret-of-an-application_~.'
export const SECRET_SHA256 = createHash('sha256').update(SECRET).digest('hex')
export const basic = (id: string, secret = SECRET) => ({ authorization: `Basic ${btoa(`${id}:${secret}`)}` })

/** An application for OpenID, with a secret unless the entry says otherwise. */
export const entry = (id: string, more: Record<string, unknown> = {}) => ({
  id,
  name: id[0]!.toUpperCase() + id.slice(1),
  redirect_uris: [addressOf(id)],
  sign_out_uris: [`https://${id}.example.com/`],
  own: false,
  secret_sha256: [SECRET_SHA256],
  groups: ['*'],
  ...more,
})

export const addressOf = (id: string) => `https://${id}.example.com/in`

/** The address at which an application for OpenID sends a browser; without a secret it needs a verifier. */
export function openIdAddress(id: string, more: Record<string, string> = {}, verifier?: string): string {
  const query = {
    response_type: 'code',
    client_id: id,
    redirect_uri: addressOf(id),
    ...(verifier && {
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
    ...more,
  }
  return `/oauth2/authorize?${new URLSearchParams(query)}`
}

/** The code that a browser that is signed in brings to an application; empty if it brings none. */
export async function codeFor(
  browser: PageBrowser,
  id: string,
  more: Record<string, string> = {},
  verifier?: string,
): Promise<string> {
  browser.left = null
  await browser.open(openIdAddress(id, more, verifier))
  return parametersOf(browser).get('code') ?? ''
}

export const redeemBySecret = (service: Pick<TestService, 'url'>, id: string, code: string, more = {}) =>
  token(service, { grant_type: 'authorization_code', code, redirect_uri: addressOf(id), ...more }, basic(id))

export const refreshBySecret = (service: Pick<TestService, 'url'>, id: string, refresh_token: string) =>
  token(service, { grant_type: 'refresh_token', refresh_token }, basic(id))

export async function userinfo(service: Pick<TestService, 'url'>, access_token: string, method = 'GET') {
  const headers = { authorization: `Bearer ${access_token}` }
  const answer = await fetch(`${service.url}/oauth2/userinfo`, { method, headers })
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Answer['body'] }
}
