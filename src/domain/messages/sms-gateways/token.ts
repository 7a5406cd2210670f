/** OAuth 2 client credentials of a gateway (RFC 6749, 4.4): one token for all messages, kept until a minute before its end. */
import type { Clock } from '../../../platform/clock.ts'
import type { OAuthConfig } from '../../../platform/config/types.ts'
import { resolvedFetch } from '../../../platform/resolved-fetch.ts'
import { together } from '../../../platform/waiting.ts'
import type { Trace } from '../senders/sender.ts'
import { readReply } from './reply.ts'
import { basic } from './request.ts'

/** Used if the answer names no expiry. */
const DEFAULT_LIFETIME_SECONDS = 300
const MARGIN_MS = 60_000

export class TokenRefused extends Error {
  readonly code: string
  /** The words of the server that gives the tokens. */
  readonly words: string
  constructor(status: number, words: string) {
    super('the token could not be fetched')
    this.code = `oauth_${status}`
    this.words = words
  }
}

export type TokenSource = ReturnType<typeof createTokenSource>

export function createTokenSource(oauth: OAuthConfig, clock: Clock, trace?: Trace) {
  let token: { value: string; endsAtMs: number } | null = null

  const fetchToken = together(async (signal: AbortSignal): Promise<string> => {
    trace?.('token', `asked at ${new URL(oauth.token_url).origin}, credentials as ${oauth.auth ?? 'basic'}`)
    const response = await resolvedFetch(oauth.token_url, {
      ...tokenRequest(oauth),
      method: 'POST',
      redirect: 'manual',
      signal,
    })
    const reply = await readReply(response)
    const { access_token: value, expires_in: expiresIn } = objectOf(reply)
    // A reply with a token is not repeated: it may be a good one.
    if (!response.ok || typeof value !== 'string' || !/^[!-~]+$/.test(value))
      throw new TokenRefused(response.status, value === undefined ? reply : '')
    const seconds = Number(expiresIn) > 0 ? Number(expiresIn) : DEFAULT_LIFETIME_SECONDS
    trace?.('token', `${response.status}, for ${seconds} s`)
    token = { value, endsAtMs: clock.now().getTime() + seconds * 1000 - MARGIN_MS }
    return value
  })

  return {
    /** Throws where the token cannot be had. */
    async get(signal: AbortSignal): Promise<string> {
      if (token && clock.now().getTime() < token.endsAtMs) return token.value
      return fetchToken(signal)
    },
    /** The gateway refused it: the next message fetches another one. */
    forget(refused: string): void {
      if (token?.value === refused) token = null
    },
  }
}

/** It returns an empty object for anything else. */
function objectOf(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) }
  } catch {
    return {}
  }
}

/** RFC 6749, 2.3.1 */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

function tokenRequest({ client_id, client_secret, scope, auth }: OAuthConfig) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === null ? {} : { scope }) })
  const headers = new Headers({
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  })
  if (auth === 'body') {
    form.set('client_id', client_id)
    form.set('client_secret', client_secret)
  } else if (auth === 'basic-plain') headers.set('authorization', basic(client_id, client_secret))
  else headers.set('authorization', basic(formEncoded(client_id), formEncoded(client_secret)))
  return { headers, body: form.toString() }
}
