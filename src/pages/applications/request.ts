/**
 * The request of an application at `/oauth2/authorize`, and its possible errors (RFC 6749, 4.1.1; RFC 7636; RFC 8252).
 */
import { closest } from 'fastest-levenshtein'
import type { ApplicationConfig } from '../../platform/config/types.ts'

export interface AuthorizationRequest {
  application: string
  redirectUri: string
  challenge: string
  state?: string
  prompt?: 'none' | 'login' | 'create'
  loginHint?: string
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

/** The sizes are those that `state` has in an address. A longer one goes back with its error, if that fits into a header. */
export const MAXIMUM_STATE = 1300
const MAXIMUM_RETURNED_STATE = 3000
const CHALLENGE = /^[A-Za-z0-9_-]{43}$/

/** It returns null if the configuration has the application with this address. It may have lost either since the way began. */
export function findUnlisted(
  { application: id, redirectUri }: Pick<AuthorizationRequest, 'application' | 'redirectUri'>,
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
  const wrong = findProblem(query)
  if (wrong !== null) {
    const [error, description] = wrong
    return { kind: 'refused', redirectUri, ...(hasState && { state }), error, description }
  }
  const [loginHint, locales] = [query.get('login_hint'), query.get('ui_locales')]
  const prompt = query.get('prompt') as AuthorizationRequest['prompt'] | null
  return {
    kind: 'valid',
    request: {
      application: clientId,
      redirectUri,
      challenge: query.get('code_challenge') ?? '',
      ...(hasState && { state }),
      ...(prompt && { prompt }),
      ...(loginHint && { loginHint: loginHint.slice(0, 320) }),
      ...(locales && { locales: locales.slice(0, 100) }),
    },
  }
}

/** OAuth's name of the error, and a sentence for the developer. */
function findProblem(query: URLSearchParams): [error: string, description: string] | null {
  const repeated = KNOWN.find((name) => query.getAll(name).length > 1)
  if (repeated) return ['invalid_request', `${repeated} is there more than once`]
  const unstorable = KNOWN.find((name) => hasControls(query.get(name) ?? ''))
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
  if (query.get('response_type') !== 'code')
    return ['unsupported_response_type', 'response_type must be code']
  if ((query.get('scope') ?? '').split(' ').includes('openid')) {
    return ['invalid_scope', 'OpenID Connect is not offered: leave out openid']
  }
  const method = query.get('code_challenge_method')
  if (method !== 'S256') return ['invalid_request', 'code_challenge_method must be S256']
  if (!CHALLENGE.test(query.get('code_challenge') ?? '')) {
    return ['invalid_request', 'code_challenge must be the base64url of a SHA-256']
  }
  const prompt = query.get('prompt')
  if (prompt !== null && !['none', 'login', 'create'].includes(prompt)) {
    return ['invalid_request', 'prompt must be none, login or create']
  }
  return null
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
