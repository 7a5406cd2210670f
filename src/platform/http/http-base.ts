/**
 * What every answer has in common: headers, request id, language, the error shape, the body rules and the log line.
 * One plugin, used first by the app and by every routes file (for the type of `client`). Elysia reads hooks by their
 * source text: they must destructure their context in the parameter list.
 */
import { Elysia } from 'elysia'
import { AppError } from '../../errors.ts'
import type { Language } from '../../texts/languages.ts'
import { pickLanguage } from '../../texts/languages.ts'
import { createMethodFinder, pathOf, type RoutePattern } from './allowed-methods.ts'
import { bucketAddress, createAddressFinder } from './client-address.ts'
import { createCors } from './cors.ts'
import { errorAnswer } from './error-answer.ts'
import { describeFailure, type Failure } from './failure.ts'
import type { Logger } from './logging.ts'
import {
  BODY_DEADLINE_MS,
  FORM_ROUTES,
  isUnbounded,
  parseForm,
  parseJsonObject,
  readBody,
} from './request-body.ts'
import { findUnstorableText } from './unstorable-text.ts'

/** Who asks, for handlers: `({ body, client }) => service.register(body, client)`. */
export interface Client {
  address: string
  /** What per-address limits count: the address, or an IPv6 client's /64. */
  addressBucket: string
  language: Language
  requestId: string
}

export interface HttpBaseOptions {
  /** Where Accept-Language names none we have. */
  language: Language
  trustedProxies: string[]
  corsOrigins: string[]
  logger: Logger
  /** How long a body may take to arrive; 15 s where absent. */
  bodyDeadlineMs?: number
}

export type HttpBase = ReturnType<typeof createHttpBase>

/** What Elysia keeps for its own plugins: the routes and the server of the app that uses this one. */
interface Host {
  getGlobalRoutes(): readonly RoutePattern[]
  getServer(): { requestIP(request: Request): { address: string } | null } | null
}

/** One request, from its first byte to its log line. */
interface RequestState {
  client: Client
  startedAt: number
  /** The pattern of the route; absent where none matched. */
  route?: string
  bodyComplete: boolean
  failure?: Failure
  /** The answer to a failure, as it goes out: Elysia would make another of it, by way of a stream. */
  refusal?: Response
}

/**
 * What the app that uses the httpBase is created with. The size limit is request-body.ts's: Bun's own would answer
 * with an empty body, and Bun does not gather a body nobody reads.
 */
export const appSettings = {
  handler: { standardHostname: false },
  serve: { maxRequestBodySize: Number.MAX_SAFE_INTEGER, reusePort: false, development: false },
} as const

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/**
 * Every answer carries X-Request-Id (ours; an incoming one is ignored), Cache-Control: no-store unless the route set
 * its own, X-Content-Type-Options and Content-Language. Everything thrown becomes the error body. Use it in one app
 * only: it asks the app that used it last for its routes and its server.
 */
export function createHttpBase({
  language,
  trustedProxies,
  corsOrigins,
  logger,
  bodyDeadlineMs = BODY_DEADLINE_MS,
}: HttpBaseOptions) {
  const exchanges = new WeakMap<Request, RequestState>()
  const plugin = new Elysia({ name: 'httpBase' })
  const host = plugin as unknown as Host
  const cors = createCors(corsOrigins)
  const findMethods = createMethodFinder(() => host.getGlobalRoutes())
  const findAddress = createAddressFinder({
    trustedProxies,
    onUntrustedProxy: (peer) =>
      logger.warn(
        { peer, key: 'server.trusted_proxies' },
        'X-Forwarded-For came from a peer that is not trusted and is ignored: list it in server.trusted_proxies',
      ),
  })

  function openExchange(request: Request): RequestState {
    const peer = host.getServer()?.requestIP(request)?.address
    const address = findAddress(peer, request.headers.get('x-forwarded-for'))
    const exchange: RequestState = {
      client: {
        address,
        addressBucket: bucketAddress(address),
        language: pickLanguage(request.headers.get('accept-language'), language),
        requestId: crypto.randomUUID(),
      },
      startedAt: performance.now(),
      bodyComplete: false,
    }
    exchanges.set(request, exchange)
    return exchange
  }

  function exchangeOf(request: Request): RequestState {
    return exchanges.get(request) ?? openExchange(request)
  }

  function fail(request: Request, thrown: unknown): Response {
    const exchange = exchangeOf(request)
    const failure = describeFailure(thrown)
    const methods = failure.errorCode === 'route_not_found' ? findMethods(pathOf(request.url)) : []
    if (methods.length > 0 && !methods.includes(request.method)) failure.errorCode = 'method_not_allowed'
    exchange.failure = failure
    const answer = errorAnswer(failure, exchange.client.language, exchange.client.requestId)
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
      const handled = request.method === 'OPTIONS' ? answerOptions(request) : await handle(request)
      response = exchange.refusal ?? (handled as Response)
      // An error that went past onError (a returned status(), Elysia's own texts) has no shape.
      if (response.status >= 400 && !exchange.failure) throw new Error('An error was returned, not thrown')
    } catch (error) {
      response = fail(request, error)
    }
    finish(request, exchange, response)
    return response
  }

  function finish(request: Request, exchange: RequestState, { headers, status }: Response): void {
    const { client, failure } = exchange
    headers.set('x-request-id', client.requestId)
    headers.set('x-content-type-options', 'nosniff')
    headers.set('content-language', client.language)
    if (!headers.has('cache-control')) headers.set('cache-control', 'no-store')
    cors.apply(request, headers)
    // A body nobody will read to its end: the next request on this connection would wait behind it.
    const interrupted = request.bodyUsed || isUnbounded(request.headers)
    if (interrupted && !exchange.bodyComplete) headers.set('connection', 'close')
    logger[status === 503 ? 'warn' : status >= 500 ? 'error' : 'info']({
      request_id: client.requestId,
      method: KNOWN_METHODS.has(request.method) ? request.method : 'other',
      route: exchange.route ?? null,
      status,
      duration_ms: Math.round((performance.now() - exchange.startedAt) * 10) / 10,
      address: client.address,
      code: failure?.errorCode,
      error: failure?.errorName,
      cause: failure?.cause,
    })
  }

  return plugin
    .wrap((handle) => (request: Request) => answer(request, handle as (request: Request) => unknown))
    .onParse({ as: 'global' }, async ({ request, route }) => {
      const type = FORM_ROUTES.has(route) ? 'form' : 'json'
      const bytes = await readBody(request, bodyDeadlineMs, type)
      exchangeOf(request).bodyComplete = true
      return type === 'form' ? parseForm(bytes) : parseJsonObject(bytes)
    })
    .derive({ as: 'global' }, ({ request, route }) => {
      const exchange = exchangeOf(request)
      exchange.route = route
      return { client: exchange.client }
    })
    .onBeforeHandle({ as: 'global' }, ({ body, params, query }) => {
      const fields = [
        ...findUnstorableText(body),
        ...findUnstorableText(params),
        ...findUnstorableText(query),
      ]
      if (fields.length > 0) throw new AppError('validation_failed', { fields })
    })
    .onError({ as: 'global' }, ({ request, error, route }) => {
      const exchange = exchangeOf(request)
      if (route) exchange.route = route
      exchange.refusal = fail(request, error)
      return ''
    })
}
