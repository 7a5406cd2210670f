/**
 * The request of an application at `/oauth2/authorize`, and its possible errors (RFC 6749, 4.1.1; RFC 7636; RFC 8252).
 */
import { closest } from 'fastest-levenshtein'
import { isForOpenId, isPublic } from '../../platform/config/applications.ts'
import type { ApplicationConfig } from '../../platform/config/types.ts'
import type { Flow } from '../visits/flow.ts'
import { grantedOf } from './claims.ts'

/** The part of a request that a flow carries until the code is made. */
export type HandOver = NonNullable<Flow['handOver']>

export const PROMPTS = ['none', 'login', 'create', 'consent', 'select_account'] as const
type Prompt = (typeof PROMPTS)[number]

export interface AuthorizationRequest {
  handOver: HandOver
  prompts: readonly Prompt[]
  loginHint?: string
  /** An ID token. */
  idTokenHint?: string
  maxAgeSeconds?: number
  locales?: string
}

type ReadRequest =
  | { kind: 'valid'; request: AuthorizationRequest }
  /** The browser goes back with an error. */
  | { kind: 'refused'; redirectUri: string; state?: string; error: string; description: string }
  | Unknown

/** A page: nobody may be sent to an address that is not known. `nearest`: for the log. */
export interface Unknown {
  kind: 'unknown'
  what: 'application' | 'redirect_uri'
  nearest: string | null
}

const KNOWN = [
  'response_type',
  'client_id',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
  'prompt',
  'login_hint',
  'ui_locales',
  'scope',
  'response_mode',
  'request',
  'request_uri',
] as const

/** Those that only applications for OpenID ask for. */
const KNOWN_FOR_OPENID = ['nonce', 'max_age', 'id_token_hint', 'registration'] as const

/** The sizes are those that `state` has in an address. A longer one goes back with its error, if that fits into a header. */
export const MAXIMUM_STATE = 1300
const MAXIMUM_RETURNED_STATE = 3000
const MAXIMUM_NONCE = 200
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** It returns null if the configuration has the application with this address. It may have lost either since the way began. */
export function findUnlisted(
  { application: id, redirectUri }: Pick<HandOver, 'application' | 'redirectUri'>,
  applications: readonly ApplicationConfig[],
): Unknown | null {
  const application = applications.find((one) => one.id === id)
  if (!application) {
    const ids = applications.map((one) => one.id)
    return { kind: 'unknown', what: 'application', nearest: ids.length > 0 ? closest(id, ids) : null }
  }
  const { redirectUris } = application
  if (redirectUris.some((uri) => isSameRedirect(uri, redirectUri))) return null
  const nearest = redirectUris.length > 0 ? closest(redirectUri, redirectUris) : null
  return { kind: 'unknown', what: 'redirect_uri', nearest }
}

export function readAuthorization(
  asked: URLSearchParams,
  applications: readonly ApplicationConfig[],
): ReadRequest {
  const query = withoutEmpty(asked)
  const clientId = query.get('client_id') ?? ''
  const redirectUri = query.get('redirect_uri') ?? ''
  const unknown = findUnlisted({ application: clientId, redirectUri }, applications)
  if (unknown) return unknown
  if (differs(query, 'client_id')) return { kind: 'unknown', what: 'application', nearest: clientId }
  if (differs(query, 'redirect_uri')) return { kind: 'unknown', what: 'redirect_uri', nearest: redirectUri }
  const state = query.get('state') ?? undefined
  const hasState =
    state !== undefined && !hasControls(state) && sizeInAddress(state) <= MAXIMUM_RETURNED_STATE
  const application = applications.find((one) => one.id === clientId)!
  const wrong = findProblem(query, application)
  if (wrong !== null) {
    const [error, description] = wrong
    return { kind: 'refused', redirectUri, ...(hasState && { state }), error, description }
  }
  const handOver = {
    application: clientId,
    redirectUri,
    challenge: query.get('code_challenge') ?? '',
    ...(hasState && { state }),
    ...(isForOpenId(application) && bindingsOf(query)),
  }
  return { kind: 'valid', request: { handOver, ...wishesOf(query, application) } }
}

/** What is bound to the code, beside the address and the challenge. */
function bindingsOf(query: URLSearchParams): Pick<HandOver, 'nonce' | 'scope'> {
  const nonce = query.get('nonce')
  const scope = grantedOf(query.get('scope') ?? '')
  return { ...(nonce !== null && { nonce }), ...(scope !== undefined && { scope }) }
}

/** Who is to sign in, and how. */
function wishesOf(
  query: URLSearchParams,
  application: ApplicationConfig,
): Omit<AuthorizationRequest, 'handOver'> {
  const [loginHint, locales] = [query.get('login_hint'), query.get('ui_locales')]
  const [maxAge, idTokenHint] = isForOpenId(application)
    ? [query.get('max_age'), query.get('id_token_hint')]
    : [null, null]
  return {
    prompts: promptsOf(query) as Prompt[],
    ...(loginHint && { loginHint: loginHint.slice(0, 320) }),
    ...(locales && { locales: locales.slice(0, 100) }),
    ...(maxAge && { maxAgeSeconds: Number(maxAge) }),
    ...(idTokenHint && { idTokenHint }),
  }
}

const promptsOf = (query: URLSearchParams) =>
  (query.get('prompt') ?? '').split(' ').filter((name) => name !== '')

/** OAuth's name of the error, and a sentence for the developer. */
type Problem = [error: string, description: string]

function findProblem(query: URLSearchParams, application: ApplicationConfig): Problem | null {
  const known = isForOpenId(application) ? [...KNOWN, ...KNOWN_FOR_OPENID] : KNOWN
  const repeated = known.find((name) => query.getAll(name).length > 1)
  if (repeated) return ['invalid_request', `${repeated} is there more than once`]
  const unstorable = known.find((name) => hasControls(query.get(name) ?? ''))
  if (unstorable) return ['invalid_request', `${unstorable} holds characters that are not allowed`]
  const state = query.get('state') ?? ''
  if (sizeInAddress(state) > MAXIMUM_STATE) {
    return ['invalid_request', `state has more than ${MAXIMUM_STATE} bytes as it stands in an address`]
  }
  if (query.has('request')) return ['request_not_supported', 'leave out request']
  if (query.has('request_uri')) return ['request_uri_not_supported', 'leave out request_uri']
  const responseMode = query.get('response_mode')
  if (responseMode !== null && responseMode !== 'query')
    return ['invalid_request', 'response_mode must be query']
  if (query.get('response_type') !== 'code') {
    const isMissing = !query.has('response_type') && isForOpenId(application)
    return [isMissing ? 'invalid_request' : 'unsupported_response_type', 'response_type must be code']
  }
  return isForOpenId(application)
    ? findOpenIdProblem(query, application)
    : (findProblemWithoutOpenId(query) ??
        findChallengeProblem(query, true) ??
        findPromptProblem(query, ['none', 'login', 'create'], 1))
}

function findProblemWithoutOpenId(query: URLSearchParams): Problem | null {
  return (query.get('scope') ?? '').split(' ').includes('openid')
    ? [
        'invalid_scope',
        'this application is not for OpenID Connect: leave out openid, or state own in its entry',
      ]
    : null
}

function findOpenIdProblem(query: URLSearchParams, application: ApplicationConfig): Problem | null {
  if (query.has('registration')) return ['registration_not_supported', 'leave out registration']
  if (Buffer.byteLength(query.get('nonce') ?? '') > MAXIMUM_NONCE)
    return ['invalid_request', `nonce has more than ${MAXIMUM_NONCE} bytes`]
  if (/\D/.test(query.get('max_age') ?? ''))
    return ['invalid_request', 'max_age must be a whole number of seconds']
  return (
    findChallengeProblem(query, isPublic(application)) ?? findPromptProblem(query, PROMPTS, PROMPTS.length)
  )
}

/** Without a secret nothing else shows that whoever redeems the code asked for it. */
function findChallengeProblem(query: URLSearchParams, isRequired: boolean): Problem | null {
  const [challenge, method] = [query.get('code_challenge'), query.get('code_challenge_method')]
  if (!isRequired && challenge === null && method === null) return null
  if (method !== 'S256') return ['invalid_request', 'code_challenge_method must be S256']
  return CHALLENGE.test(challenge ?? '')
    ? null
    : ['invalid_request', 'code_challenge must be the base64url of a SHA-256']
}

function findPromptProblem(query: URLSearchParams, allowed: readonly string[], most: number): Problem | null {
  const prompts = most === 1 ? [query.get('prompt')].filter((one) => one !== null) : promptsOf(query)
  const words = `${allowed.slice(0, -1).join(', ')} or ${allowed.at(-1)}`
  if (!prompts.every((name) => allowed.includes(name))) return ['invalid_request', `prompt must be ${words}`]
  return prompts.includes('none') && new Set(prompts).size > 1
    ? ['invalid_request', 'prompt=none stands alone']
    : null
}

/** Nobody can say which of two different values is meant. The same value twice goes back as an error. */
const differs = (query: URLSearchParams, name: string) => new Set(query.getAll(name)).size > 1

/** A parameter without a value is as good as none (RFC 6749, 3.1); only `state` comes back as it was. */
const withoutEmpty = (query: URLSearchParams) =>
  new URLSearchParams([...query].filter(([name, value]) => value !== '' || name === 'state'))

/** A text that is well formed, as every value of a query is. */
const sizeInAddress = (text: string) => encodeURIComponent(text).length

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const hasControls = (text: string) => /[\u0000-\u001f\u007f]/.test(text) || !text.isWellFormed()

/** The `state` of a way back without an error; undefined for one that is too long, or that no flow can hold. */
export const stateToReturn = (query: URLSearchParams): string | undefined => {
  const [state, ...others] = query.getAll('state')
  const fits = state !== undefined && !hasControls(state) && sizeInAddress(state) <= MAXIMUM_STATE
  return fits && others.length === 0 ? state : undefined
}

const LOOPBACK_PORT = /^(http:\/\/(?:127\.0\.0\.1|\[::1\])):\d{1,5}(?=[/?]|$)/

/**
 * Equal texts; on loopback addresses any port (RFC 8252, 7.3). A parser would also take line breaks, `127.1` and the full stops
 * of other scripts for the same address, and no header takes those.
 */
export function isSameRedirect(allowed: string, asked: string): boolean {
  const withoutPort = (uri: string) => uri.replace(LOOPBACK_PORT, '$1')
  return URL.canParse(asked) && withoutPort(asked) === withoutPort(allowed)
}

/** An address of `sign_out_uris`, to which a `state` may have been appended, with a sign before it or without. */
export const isAfterSignOut = (address: string, applications: readonly ApplicationConfig[]): boolean =>
  [/$/, /[?&]state=[^?&#]*$/, /(?<=[?&])state=[^?&#]*$/].some((end) =>
    applications.some(({ signOutUris }) =>
      signOutUris.some((uri) => isSameRedirect(uri, address.replace(end, ''))),
    ),
  )

/** An https address leads to one place only. Somebody else may listen on loopback or own a scheme (RFC 8252, 8.6). */
export const needsConsent = (redirectUri: string): boolean => !redirectUri.startsWith('https:')
