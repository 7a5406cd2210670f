/**
 * The parts that all requests and answers share: reading the body, request id, language, headers, the error body and
 * the log line. It is one plugin, used first by the app and by every routes file (for the type of `client`). Elysia
 * reads the source text of hooks, so they must destructure their context in the parameter list.
 */
import { Elysia, ValidationError } from 'elysia'
import type { Catalog } from '../../texts/catalog.ts'
import { AppError, type ErrorCode, type FieldError, type PageContent } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import type { Texts } from '../../texts/texts.ts'
import type { Logger } from '../log/logging.ts'
import { currentRequest, type RequestActor, type RequestWork, runAsRequest } from '../request-context.ts'
import { type AddressProbes, PROBE_HEADER } from './address-probes.ts'
import { findMisshapen, findUnknown } from './body-shape.ts'
import { bucketAddress, createAddressFinder, isTrustedPeer } from './client-address.ts'
import { createCors, type PathOrigins, unlistedOrigin } from './cors.ts'
import { errorAnswer } from './error-answer.ts'
import { describeFailure, type Failure } from './failure.ts'
import {
  BODY_DEADLINE_MS,
  isUnbounded,
  LARGE_BODY_BYTES,
  parseAny,
  parseForm,
  parseJsonObject,
  parsePairs,
  readBody,
} from './request-body.ts'
import {
  createMethodFinder,
  createSchemaFinder,
  findRepeated,
  pathOf,
  type RouteWithSchemas,
  traitsOf,
} from './route-traits.ts'
import { findUnstorable, mendDescriptions } from './unstorable.ts'

/** The client of a request, for handlers: `({ body, client }) => service.register(body, client)`. */
export interface Client {
  address: string
  /** The name that limits by address count: the address, or the /64 of an IPv6 client. */
  addressBucket: string
  language: Language
  /** The texts for the client, in that language. */
  texts: Texts
  requestId: string
}

export interface HttpBaseOptions {
  /** The languages of answers. */
  catalog: Catalog
  trustedProxies: string[]
  corsOrigins: string[]
  corsOfPaths?: PathOrigins
  /**
   * The beginning of the paths where fields and parameters that no schema names are refused, and lists read their query:
   * those of administration.
   */
  strictBelow?: string
  /**
   * A window of another site that opened one of these paths loses hold of it, whatever is answered: otherwise it could
   * tell by that whether somebody is signed in.
   */
  isolated?: RegExp
  logger: Logger
  /** Gets what was thrown where the answer is internal_error. Absent: only its name and cause are logged. */
  onInternalError?: (error: unknown) => void
  /** Leads to the name of the service whoever opens a page under another one; null where there is nothing to do. */
  toOwnName?: ((request: Request) => Response | null) | undefined
  /** Error answers have the `cause` that the log has, with --dev. */
  showsCauses?: boolean
  /** The time that a body may take to arrive; the default is 15 s. */
  bodyDeadlineMs?: number
  /** Says to `poterne doctor` how its request arrived. */
  probes?: AddressProbes
  /** Draws the page for a browser that reached none: there is no such address, or its form could not be read. */
  unreachedPage?: (code: ErrorCode, client: Pick<Client, 'language' | 'texts'>) => PageContent
  /** Called after each answer. */
  onAnswer?: (answer: AnsweredRequest) => void
}

export interface AnsweredRequest {
  /** A template; null where no route matched. */
  route: string | null
  /** `other` for a method that does not exist. */
  method: string
  status: number
  durationMs: number
  errorCode: ErrorCode | null
  /** The one word of an error that says why; null where it says none. */
  cause: string | null
  work: RequestWork
}

export type HttpBase = ReturnType<typeof createHttpBase>

/** Internals that Elysia keeps for its own plugins: the routes and the server of the app that uses this plugin. */
interface Host {
  getGlobalRoutes(): readonly RouteWithSchemas[]
  getServer(): { requestIP(request: Request): { address: string } | null } | null
}

/** One request, from its first byte to its log line. */
interface RequestState {
  client: Client
  startedAt: number
  /** The pattern of the route; absent if none matched. */
  route?: string
  bodyComplete: boolean
  /** The body as it was sent. */
  body?: unknown
  work: RequestWork
  actor?: RequestActor | null
  failure?: Failure
  /** The answer to a failure, sent as it is: Elysia would make a copy of it through a stream. */
  refusal?: Response
}

/**
 * These hold for every server. The size of a body is limited in request-body.ts: Bun's own limit would answer with an empty
 * body, and Bun does not buffer a body that nobody reads.
 */
export const serveSettings = {
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  reusePort: false,
  development: false,
} as const

/** The settings of the app that uses the httpBase. */
export const appSettings = { handler: { standardHostname: false }, serve: serveSettings } as const

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Every answer carries X-Request-Id (ours; an incoming one is ignored), Cache-Control: no-store unless the route set
 * its own, X-Content-Type-Options and Content-Language. Everything thrown becomes the error body. Use it in one app
 * only: it takes its routes and its server from the app that used it last.
 */
export function createHttpBase(options: HttpBaseOptions) {
  const { catalog, trustedProxies, corsOrigins, corsOfPaths, strictBelow, logger, onInternalError } = options
  const { toOwnName, showsCauses = false, bodyDeadlineMs = BODY_DEADLINE_MS, probes, unreachedPage } = options
  const exchanges = new WeakMap<Request, RequestState>()
  const plugin = new Elysia({ name: 'httpBase' })
  const host = plugin as unknown as Host
  const cors = createCors(corsOrigins, corsOfPaths)
  const schemasOf = createSchemaFinder(() => host.getGlobalRoutes())
  const traits = ({ method }: Request, route = '') => traitsOf(schemasOf(method, route))
  const findMethods = createMethodFinder(() => host.getGlobalRoutes())
  const findAddress = createAddressFinder({
    trustedProxies,
    onUntrustedProxy: (peer) => logger.warn({ peer, key: 'server.trusted_proxies' }, UNTRUSTED_PROXY),
  })

  function openExchange(request: Request): RequestState {
    const peer = host.getServer()?.requestIP(request)?.address
    const forwardedFor = request.headers.get('x-forwarded-for')
    const address = findAddress(peer, forwardedFor)
    if (probes?.isWaiting)
      probes.note(request.headers.get(PROBE_HEADER), {
        peer: peer ?? null,
        forwardedFor,
        address,
        isTrusted: isTrustedPeer(peer, trustedProxies),
      })
    const language = catalog.pick(request.headers.get('accept-language'))
    const exchange: RequestState = {
      client: {
        address,
        addressBucket: bucketAddress(address),
        language,
        texts: catalog.of(language),
        requestId: crypto.randomUUID(),
      },
      startedAt: performance.now(),
      bodyComplete: false,
      work: { hashed: false, askedStore: false },
    }
    exchanges.set(request, exchange)
    return exchange
  }

  function exchangeOf(request: Request): RequestState {
    return exchanges.get(request) ?? openExchange(request)
  }

  /** The page of administration and its documentation are addresses that people may open with anything. */
  function findForeign({ method, url }: Request, { route = '', body }: RequestState): FieldError[] {
    return strictBelow !== undefined && route.startsWith(strictBelow)
      ? findUnknown(schemasOf(method, route), body, url)
      : []
  }

  function fail(request: Request, thrown: unknown): Response {
    const exchange = exchangeOf(request)
    const failure = describeFailure(thrown)
    // The schema is checked before the rest of the request.
    if (thrown instanceof ValidationError) failure.fields?.push(...findForeign(request, exchange))
    const { answers } = traits(request, exchange.route)
    if (answers === 'oauth') failure.oauthError ??= 'invalid_request'
    const methods = failure.errorCode === 'route_not_found' ? findMethods(pathOf(request.url)) : []
    if (methods.length > 0 && !methods.includes(request.method)) failure.errorCode = 'method_not_allowed'
    if (unreachedPage && asksForPage(request) && (MISSING.has(failure.errorCode) || answers === 'page'))
      failure.page ??= unreachedPage(failure.errorCode, exchange.client)
    exchange.failure = failure
    if (failure.errorCode === 'internal_error') onInternalError?.(thrown)
    const answer = errorAnswer(failure, exchange.client, showsCauses)
    if (failure.errorCode === 'method_not_allowed') answer.headers.set('allow', methods.join(', '))
    return answer
  }

  function answerOptions(request: Request): Response {
    const methods = findMethods(pathOf(request.url))
    if (methods.length === 0) throw new AppError('route_not_found')
    const headers = new Headers({ allow: methods.join(', ') })
    cors.applyPreflight(request, headers, methods)
    return new Response(null, { status: 204, headers })
  }

  async function answer(request: Request, handle: (request: Request) => unknown): Promise<Response> {
    const exchange = openExchange(request)
    let response: Response
    try {
      const handled =
        request.method === 'OPTIONS'
          ? answerOptions(request)
          : await runAsRequest(originOf(exchange), async () => {
              const answered = await handle(request)
              exchange.actor = currentRequest()?.actor ?? null
              return answered
            })
      response = exchange.refusal ?? (handled as Response)
      // An error that bypassed onError (a returned status(), Elysia's own texts) does not have our shape.
      if (response.status >= 400 && !exchange.failure) throw new Error('An error was returned, not thrown')
    } catch (error) {
      response = fail(request, error)
    }
    cors.apply(request, response.headers)
    finish(options, request, exchange, response)
    return response
  }

  return plugin
    .wrap((handle) => (request: Request) => answer(request, handle as (request: Request) => unknown))
    .onParse({ as: 'global' }, async ({ request, route }) => {
      const { takes: type = 'json', takesLarge } = traits(request, route)
      if (type === 'nothing') return null
      const bytes = await readBody(request, bodyDeadlineMs, type, takesLarge && LARGE_BODY_BYTES)
      exchangeOf(request).bodyComplete = true
      if (type === 'any') return parseAny(bytes, request.headers)
      if (type === 'pairs') return parsePairs(bytes)
      return type === 'form' ? parseForm(bytes) : mendDescriptions(parseJsonObject(bytes))
    })
    .derive({ as: 'global' }, ({ request, route, body }) => {
      const exchange = exchangeOf(request)
      exchange.route = route
      exchange.body = body
      // The router tries a path with a parameter where the literal one has no such method: that is a 405.
      if (route.includes(':') && !findMethods(pathOf(request.url)).includes(request.method))
        throw new AppError('route_not_found')
      return { client: exchange.client }
    })
    .onBeforeHandle({ as: 'global' }, ({ body, params, query, route, request }) => {
      if (toOwnName && request.method === 'GET' && traits(request, route).answers === 'page') {
        const elsewhere = toOwnName(request)
        if (elsewhere) return elsewhere
      }
      // A GET without a path parameter reads nothing of the request: there is nothing to refuse.
      const readsNothing =
        traits(request, route).checksOwnFields ||
        (request.method === 'GET' && !route.includes(':') && strictBelow === undefined)
      const fields = readsNothing
        ? []
        : [...findUnstorable(body), ...findUnstorable(params), ...findUnstorable(query)]
      const exchange = exchangeOf(request)
      const schemas = schemasOf(request.method, route)
      fields.push(...findMisshapen(schemas, exchange.body), ...findRepeated(schemas, request.url))
      fields.push(...findForeign(request, exchange))
      if (fields.length > 0) throw new AppError('validation_failed', { fields })
    })
    .onError({ as: 'global' }, ({ request, error, route }) => {
      const exchange = exchangeOf(request)
      if (route) exchange.route = route
      exchange.refusal = fail(request, error)
      return ''
    })
}

/** The headers of every answer, and its line in the log. */
function finish(
  { isolated, onAnswer, logger }: HttpBaseOptions,
  request: Request,
  exchange: RequestState,
  { headers, status }: Response,
): void {
  const { client, failure } = exchange
  headers.set('x-request-id', client.requestId)
  headers.set('x-content-type-options', 'nosniff')
  if (!headers.has('content-language')) headers.set('content-language', client.language)
  if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
  if (isolated?.test(pathOf(request.url))) headers.set('cross-origin-opener-policy', 'same-origin')
  // Nobody will read this body to its end, and the next request on the connection would wait behind it.
  const interrupted = request.bodyUsed || isUnbounded(request.headers)
  if (interrupted && !exchange.bodyComplete) headers.set('connection', 'close')
  const durationMs = performance.now() - exchange.startedAt
  const method = KNOWN_METHODS.has(request.method) ? request.method : 'other'
  const route = exchange.route ?? null
  const errorCode = failure?.errorCode ?? null
  const cause = failure?.cause ?? null
  const unlisted = unlistedOrigin(request, headers)
  onAnswer?.({ route, method, status, durationMs, errorCode, cause, work: exchange.work })
  logger[levelOf(route, status)]({
    request_id: client.requestId,
    method,
    route,
    ...(errorCode === 'route_not_found' && { path: shownPath(request.url) }),
    ...(unlisted !== null && { unlisted_origin: unlisted }),
    status,
    duration_ms: Math.round(durationMs * 10) / 10,
    address: client.address,
    ...callerOf(exchange),
    code: failure?.errorCode,
    error: failure?.errorName,
    cause: failure?.cause,
    statement: failure?.statement,
  })
}

/**
 * The path that was not found, for the log. What is as long as a token may be one, six digits may be a code or belong to a
 * number, and an address is somebody's.
 */
const shownPath = (url: string) =>
  pathOf(url)
    .replace(/[^/]{25,}|[^/]*(?:@|%40)[^/]*|\d{6,}/gi, '…')
    .slice(0, 120)

const UNTRUSTED_PROXY =
  'X-Forwarded-For came from a peer that is not trusted and is ignored: list it in server.trusted_proxies'

const MISSING = new Set<ErrorCode>(['route_not_found', 'method_not_allowed'])

/** The interface answers in JSON, also to a browser. */
const asksForPage = ({ url, headers }: Request) =>
  !pathOf(url).startsWith('/api/') && (headers.get('accept') ?? '').includes('text/html')

/** Load balancers ask every second or so: what they were told matters only where it was a refusal. */
const PROBES = new Set<string | null>(['/healthz', '/readyz'])

function levelOf(route: string | null, status: number): 'debug' | 'info' | 'warn' | 'error' {
  if (status >= 500) return status === 503 ? 'warn' : 'error'
  return PROBES.has(route) ? 'debug' : 'info'
}

/** Names the caller of administration. An account's own requests name nobody. */
const callerOf = ({ actor }: RequestState) =>
  actor && actor.type !== 'account' ? { caller: `${actor.type} ${actor.id ?? 'unknown'}` } : {}

const originOf = ({ client: { requestId, address, addressBucket }, work }: RequestState) => ({
  requestId,
  address,
  addressBucket,
  work,
})
