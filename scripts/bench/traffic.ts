/** The requests of each operation, for loads. */
import { emailOf, PASSWORD } from './accounts.ts'
import type { PlainRequest, Traffic } from './load.ts'

const api = '/api/v1/auth'

export const post = (operation: string, body: unknown): PlainRequest => ({
  method: 'POST',
  path: `${api}/${operation}`,
  body,
})

const series = <T>(count: number, make: (number: number) => T, first = 1): T[] =>
  Array.from({ length: count }, (_, index) => make(first + index))

const requests = (list: PlainRequest[], cyclic: boolean): Traffic => ({
  kind: 'requests',
  requests: list,
  cyclic,
})

/** Each of the accounts in turn. */
export const logins = (accounts: number): Traffic =>
  requests(
    series(accounts, (n) => post('login', { identifier: emailOf(n), password: PASSWORD })),
    true,
  )

/** A login that fails, with all the work: see `Load.lastly`. */
export const strangersLogin = post('login', { identifier: 'nobody@bench.example', password: PASSWORD })

/** Better Auth's form of the same requests. */
export const betterAuthLogins = (accounts: number): Traffic =>
  requests(
    series(accounts, (n) => ({
      method: 'POST' as const,
      path: '/api/auth/sign-in/email',
      body: { email: emailOf(n), password: PASSWORD },
    })),
    true,
  )

/** Nobody registers twice: `first` moves on from round to round. */
export const registrations = (count: number, first: number): Traffic =>
  requests(
    series(
      count,
      (n) =>
        post('register', {
          email: `new-${n}@bench.example`,
          password: PASSWORD,
          password_confirmation: PASSWORD,
        }),
      first,
    ),
    false,
  )

export const confirmations = (waiting: { identifier: string; otp: string }[]): Traffic =>
  requests(
    waiting.map((one) => post('verify-account', one)),
    false,
  )

/** One each: a second code for the same account would replace the first. */
export const codeRequests = (count: number, first: number): Traffic =>
  requests(
    series(count, (n) => post('2fa/request-otp', { identifier: emailOf(n) }), first),
    false,
  )

export const reads = (path: string, headers: Record<string, string>[]): Traffic =>
  requests(
    headers.map((one) => ({ method: 'GET' as const, path, headers: one })),
    true,
  )

export const ownAccount = (accessTokens: string[]): Traffic =>
  reads(
    `${api}/me`,
    accessTokens.map((token) => ({ authorization: `Bearer ${token}` })),
  )

export const refreshes = (refreshTokens: string[]): Traffic => ({
  kind: 'refresh',
  path: `${api}/refresh`,
  tokens: refreshTokens,
})

export interface Tokens {
  access_token: string
  refresh_token: string
}

/** So many sessions, of the first accounts. */
export async function openSessions(url: string, count: number): Promise<Tokens[]> {
  const tokens: Tokens[] = []
  for (let n = 1; n <= count; n++) {
    const answer = await fetch(`${url}${api}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identifier: emailOf(n), password: PASSWORD }),
    })
    if (answer.status !== 200) throw new Error(`login answered ${answer.status}`)
    tokens.push((await answer.json()) as Tokens)
  }
  return tokens
}

/** Better Auth's reading of sessions, of the first accounts, by cookie. */
export async function betterAuthSessionReads(url: string, count: number): Promise<Traffic> {
  const cookies: Record<string, string>[] = []
  for (let n = 1; n <= count; n++) {
    const answer = await fetch(`${url}/api/auth/sign-in/email`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: emailOf(n), password: PASSWORD }),
    })
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0]
    if (cookie === undefined) throw new Error(`Better Auth: sign-in answered ${answer.status}`)
    cookies.push({ cookie })
  }
  return reads('/api/auth/get-session', cookies)
}
