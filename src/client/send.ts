/** One request to the service, and its answer: an object, or a PoterneError. */
import { type Facts, isProblem, PoterneError } from './error.ts'

export type Answer = Record<string, unknown>
export type Fetch = (address: string, init: RequestInit) => Promise<Response>

export interface Sent {
  body?: string | object | undefined
  /** The access token. */
  token?: string | undefined
  headers?: Record<string, string>
}

/** Between a first and a second try, and between that one and a third. */
const PAUSES = [1, 3]
const LONGEST_PAUSE = 10

const sleep = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1000))

export const withoutSlash = (address: string): string =>
  address.endsWith('/') ? address.slice(0, -1) : address

export const API = '/api/v1/auth/'

export type Send = ReturnType<typeof createSend>

export function createSend(url: string, language: string | undefined, fetch: Fetch) {
  return async function send(
    method: string,
    path: string,
    { body, token, headers }: Sent = {},
  ): Promise<Answer> {
    const isForm = typeof body === 'string'
    const init: RequestInit = {
      method,
      headers: {
        ...(language && { 'accept-language': language }),
        ...(body && {
          'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json',
        }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    }
    let status = 0
    let answer: Answer | null = null
    let wait: number | null = null
    try {
      const response = await fetch(url + path, init)
      status = response.status
      wait = Number(response.headers?.get('retry-after')) || null
      answer = (await response.json()) as Answer
    } catch {
      // What fetch throws differs from engine to engine, and an answer that is no JSON is none of the service's.
    }
    if (answer?.status === status && status < 400) return answer
    throw errorOf(status, answer, wait)
  }
}

/** What a proxy answers may say how long to wait, too. */
function errorOf(status: number, answer: Answer | null, wait: number | null): PoterneError {
  const { code, message, errors, retry_after, request_id, ...details } = answer ?? {}
  const retryAfterSeconds = (retry_after as number | undefined) ?? wait
  if (typeof code !== 'string') return new PoterneError('network', { status, retryAfterSeconds })
  const facts = { status, retryAfterSeconds, details, message, fields: errors, requestId: request_id }
  return new PoterneError(code, facts as Facts)
}

/** For what may be done twice: reading, and refreshing, whose answer is the same for a while. */
export async function sendAgain<T>(work: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES) {
    try {
      return await work()
    } catch (error) {
      if (!isProblem(error) || !(error.code === 'network' || error.status >= 500)) throw error
      await sleep(Math.min(error.retryAfterSeconds ?? pause, LONGEST_PAUSE))
    }
  }
  return work()
}
