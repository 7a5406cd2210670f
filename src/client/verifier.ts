/** Verifies access tokens where your own services receive them, without asking poterne for each. */
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { followEnded } from './ended.ts'
import { PoterneError } from './error.ts'
import { withoutSlash } from './send.ts'

export interface VerifierOptions {
  /** `https://auth.example.com`: `server.base_url` of the service. */
  url: string
  issuer?: string
  audience?: string
  /** A token of administration with the scope `sessions:watch`: sessions that ended are then refused within a second. */
  feedToken?: string | undefined
  /** Seconds without an answer of the feed. */
  staleAfter?: number
  /** `accept`: as without a feed. `refuse`: 503. */
  whenStale?: 'accept' | 'refuse'
  /** Told once where the feed does not answer. */
  onProblem?: (problem: PoterneError) => void
}

export interface Verified {
  /** The account's uuid. */
  sub: string
  /** The session. */
  sid: string
  claims: JWTPayload
}

type Headers = { get(name: string): string | null } | Record<string, string | string[] | undefined>

/** A `Request`, anything that has its headers, or the token itself; nothing where a cookie or a field is missing. */
export type Received = string | { headers: Headers } | null | undefined

export interface Verifier {
  /** Throws PoterneError: 401 `token_expired` or `invalid_token`; 503 `unavailable` where no keys can be had. */
  verify(received: Received): Promise<Verified>
  close(): void
}

const KEYS_KEPT_MS = 300_000
const KEYS_AGAIN_MS = 10_000

export function createVerifier(options: VerifierOptions): Verifier {
  const url = withoutSlash(options.url)
  const {
    issuer = url,
    audience = url,
    feedToken,
    staleAfter = 60,
    whenStale = 'accept',
    onProblem,
  } = options
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`), {
    cacheMaxAge: KEYS_KEPT_MS,
    cooldownDuration: KEYS_AGAIN_MS,
  })
  const ended = feedToken ? followEnded(url, feedToken, staleAfter) : null
  const expected = {
    algorithms: ['ES256'],
    typ: 'at+jwt',
    issuer,
    audience,
    requiredClaims: ['exp', 'sub', 'sid'],
    clockTolerance: 5,
  }
  let isTold = false

  function stale(): void {
    const problem = new PoterneError('unavailable', {
      status: 503,
      message: 'no answer about ended sessions',
    })
    if (!isTold) onProblem?.(problem)
    isTold = true
    if (whenStale === 'refuse') throw problem
  }

  async function verify(received: Received): Promise<Verified> {
    const token = tokenOf(received)
    const { payload, protectedHeader } = await jwtVerify(token, keys, expected).catch(refuse)
    const { sub, sid, iat = 0 } = payload
    if (typeof sub !== 'string' || typeof sid !== 'string') throw refusal('invalid_token')
    if (ended) {
      await ended.ready
      const isEnded = ended.refuses({ sub, sid, iat, kid: protectedHeader.kid })
      if (isEnded === true) throw refusal('invalid_token')
      if (isEnded === 'unknown') stale()
    }
    return { sub, sid, claims: payload }
  }

  return { verify, close: () => ended?.close() }
}

function tokenOf(received: Received): string {
  if (typeof received === 'string') return received
  const headers = received?.headers ?? {}
  const value =
    typeof headers.get === 'function'
      ? headers.get('authorization')
      : Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1]
  const [, token] = /^Bearer +(\S+)$/i.exec(String(value ?? '')) ?? []
  if (token === undefined) throw refusal('invalid_token')
  return token
}

const refusal = (code: string) => new PoterneError(code, { status: 401 })

function refuse(error: unknown): never {
  if (error instanceof errors.JWTExpired) throw refusal('token_expired')
  const isToken =
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys
  throw isToken ? refusal('invalid_token') : new PoterneError('unavailable', { status: 503 })
}
