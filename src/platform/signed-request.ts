/**
 * A signed request to a program of the team (https://www.standardwebhooks.com, 1.0.0): on a connection of its own, since a
 * kept one that died unnoticed costs a whole timeout. No redirect is followed.
 */
import { createHmac } from 'node:crypto'
import { isTlsFailure } from './failure.ts'
import { resolvedFetch } from './resolved-fetch.ts'

export interface SignedCall {
  url: string
  secret: string
  previousSecrets: readonly string[]
}

export interface SignedMessage {
  /** The same at each attempt: receivers tell by it what they had before. */
  id: string
  body: string
  timeoutMs: number
  signal: AbortSignal
}

/** `reason`: `timeout`, `connection`, `tls`, `redirect` or `http_503`. */
export type SignedOutcome<Answer> =
  | { accepted: true; status: number; answer: Answer }
  | { accepted: false; reason: string; retryAfterSeconds: number | null; answer: Answer | null }

const PREFIX = 'whsec_'

export function signaturesOf({ secret, previousSecrets }: SignedCall, content: string): string {
  const signatureBy = (one: string) => {
    const key = Buffer.from(one.slice(PREFIX.length), 'base64')
    return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
  }
  return [secret, ...previousSecrets].map(signatureBy).join(' ')
}

/**
 * Never throws. `read` may read the answer, within the same time; without it the connection ends with the head of the
 * answer, however long the rest would be.
 */
export async function sendSigned<Answer = null>(
  call: SignedCall,
  { id, body, timeoutMs, signal }: SignedMessage,
  read: (response: Response) => Promise<Answer> = async () => null as Answer,
): Promise<SignedOutcome<Answer>> {
  const exchange = new AbortController()
  const end = () => exchange.abort()
  const timer = setTimeout(end, timeoutMs)
  signal.addEventListener('abort', end, { once: true })
  if (signal.aborted) end()
  // Receivers compare it with their own clock, by which they refuse what somebody sends again.
  const timestamp = String(Math.floor(Date.now() / 1000))
  try {
    const response = await resolvedFetch(call.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'poterne',
        // Nobody reads much of the answer, and a small one could unpack to a large one.
        'accept-encoding': 'identity',
        connection: 'close',
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signaturesOf(call, `${id}.${timestamp}.${body}`),
      },
      body,
      keepalive: false,
      decompress: false,
      redirect: 'manual',
      signal: exchange.signal,
    })
    const { status, headers } = response
    const answer = await read(response)
    if (status >= 200 && status < 300) return { accepted: true, status, answer }
    const reason = status >= 300 && status < 400 ? 'redirect' : `http_${status}`
    return { accepted: false, reason, retryAfterSeconds: retryAfterOf(headers.get('retry-after')), answer }
  } catch (error) {
    const reason = exchange.signal.aborted ? 'timeout' : isTlsFailure(error) ? 'tls' : 'connection'
    return { accepted: false, reason, retryAfterSeconds: null, answer: null }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    // Whatever is left of the answer is not wanted.
    exchange.abort()
  }
}

const MOST_SECONDS = 86_400

/** Whole seconds to a day; null for anything else. */
function retryAfterOf(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Math.min(Number(text), MOST_SECONDS) : null
}
