/** The requests of each operation, for loads. */
import { createApiClient, PASSWORD, registration } from '../../test/helpers/api-client.ts'
import { emailOf } from './accounts.ts'

export interface PlainRequest {
  method: 'GET' | 'POST'
  path: string
  body?: unknown
  headers?: Record<string, string>
}

/** The requests of a load, dealt out in turn over all connections. */
export interface Traffic {
  requests: PlainRequest[]
  /** The load ends with them; otherwise they come again and again. */
  once?: true
  /** Each connection trades its own refresh token, in the place of the first one, for the next one. */
  tokens?: string[]
  /** Of the answers: 200 if not given, null where several are expected. */
  status?: number | null
  /**
   * It is sent when the load has ended, until it is not refused. Nothing of this load is left then in the queue of hashes
   * to disturb the next one.
   */
  lastly?: PlainRequest
}

const api = '/api/v1/auth'

export const post = (operation: string, body: unknown): PlainRequest => ({
  method: 'POST',
  path: `${api}/${operation}`,
  body,
})

/** For calls one by one. Nobody reads messages with it. */
export const apiOf = (url: string) => createApiClient(url, undefined as never)

export const login = (number: number) => ({ identifier: emailOf(number), password: PASSWORD })

/** A login that fails, with all the work. */
const lastly = post('login', { identifier: 'nobody@bench.example', password: PASSWORD })

const series = <T>(count: number, make: (number: number) => T, first = 1): T[] =>
  Array.from({ length: count }, (_, index) => make(first + index))

/** Each of these accounts in turn. */
export const loginsOf = (numbers: number[]): Traffic => ({
  requests: numbers.map((number) => post('login', login(number))),
  lastly,
})
export const logins = (accounts: number): Traffic => loginsOf(series(accounts, Number))

/** Nobody registers twice: `first` moves on from round to round. */
export const registrations = (count: number, first: number): Traffic => ({
  requests: series(count, (n) => post('register', registration(`new-${n}@bench.example`)), first),
  ...{ once: true, status: 201, lastly },
})

/** One each: a second code for the same account would replace the first. */
export const codeRequests = (count: number, first: number): Traffic => ({
  requests: series(count, (n) => post('2fa/request-otp', { identifier: emailOf(n) }), first),
  ...{ once: true, status: 201 },
})

export const reads = (path: string, accessTokens: string[]): Traffic => ({
  requests: accessTokens.map((token) => {
    return { method: 'GET', path, headers: { authorization: `Bearer ${token}` } }
  }),
})

/** So many sessions, of the first accounts. */
async function openSessions(url: string, count: number) {
  const sessions: { access_token: string; refresh_token: string }[] = []
  for (let n = 1; n <= count; n++) sessions.push(await apiOf(url).logIn(login(n)))
  return sessions
}

/** Reads of the own account in so many sessions, which are opened for it. */
export async function ownAccount(url: string, sessions: number): Promise<Traffic> {
  const tokens = (await openSessions(url, sessions)).map(({ access_token }) => access_token)
  return reads(`${api}/me`, tokens)
}

/** Refreshes of so many sessions, opened for each load: the tokens of a connection that was cut are lost with it. */
export async function refreshes(url: string, sessions: number): Promise<Traffic> {
  const tokens = (await openSessions(url, sessions)).map(({ refresh_token }) => refresh_token)
  return { requests: [post('refresh', { refresh_token: tokens[0] })], tokens }
}
