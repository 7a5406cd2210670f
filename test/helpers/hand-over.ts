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
