/**
 * SMS over the HTTP gateways of the configuration, in their order; the next one when one fails or refuses. No redirect
 * is followed; a gateway has its timeout, and 64 KiB for a reply. The details given are gateway names and cause codes.
 */
import { type Clock, systemClock } from '../../../platform/clock.ts'
import { secretsOfGateway } from '../../../platform/config/secrets.ts'
import type { GatewayConfig } from '../../../platform/config/types.ts'
import { isTlsFailure } from '../../../platform/failure.ts'
import { createRedactor, type Redact } from '../../../platform/redact.ts'
import { resolvedFetch } from '../../../platform/resolved-fetch.ts'
import { takesSms } from '../../foundation/identifiers/phone.ts'
import { type Breaker, createBreaker } from '../senders/breaker.ts'
import { cleanWords } from '../senders/clean-words.ts'
import { askInTurn, refusalsIn } from '../senders/in-turn.ts'
import type { MessageSender, Refusal, RenderedMessage, SendOutcome, Trace } from '../senders/sender.ts'
import { readReply } from './reply.ts'
import { requestOf } from './request.ts'
import { createTokenSource, TokenRefused, type TokenSource } from './token.ts'
import { type ReplyVerdict, verdictOfReply } from './verdict.ts'

export interface SmsSenderOptions {
  clock?: Clock
  breaker?: Breaker
}

export function createSmsSender(gateways: GatewayConfig[], options: SmsSenderOptions = {}): MessageSender {
  const { clock = systemClock } = options
  const breaker = options.breaker ?? createBreaker(clock)
  const askers = new Map(gateways.map((gateway) => [gateway.name, createGateway(gateway, clock)]))
  return {
    async send(message) {
      if (!/^\+[1-9][0-9]{3,14}$/.test(message.to)) return { outcome: 'refused', detail: 'sms_number' }
      const order = breaker.order(gateways.filter((gateway) => covers(gateway, message.to)))
      const asked = await askInTurn(order, async ({ name }) => {
        const answer = await askers.get(name)!(message)
        const { outcome, reason } = answer
        breaker.note(name, outcome === 'sent' || (outcome === 'refused' && !namesAccount(reason)))
        return answer
      })
      const refusals = refusalsIn(asked)
      const last = asked.at(-1)
      if (last?.result.outcome !== 'sent') return { ...together(refusals), refusals }
      const { name, result } = last
      const { outcome, providerId } = result
      return { outcome, detail: name, gateway: name, ...(providerId ? { providerId } : {}), refusals }
    },
    async close() {},
  }
}

export function covers({ prefixes, channel }: GatewayConfig, number: string): boolean {
  if (prefixes.length > 0 && !prefixes.some((prefix) => number.startsWith(prefix))) return false
  return channel === 'voice' || takesSms(number)
}

/** Unknown where one may have taken it; else final only where every gateway refused. */
function together(refusals: Refusal[]): Pick<SendOutcome, 'outcome' | 'detail'> {
  const isFailure = ({ outcome }: Refusal) => outcome !== 'refused'
  const inOrder = [...refusals.filter((each) => !isFailure(each)), ...refusals.filter(isFailure)]
  const detail = inOrder.map(({ gateway, detail }) => `${gateway}:${detail}`).join(',')
  const worst = (['unknown', 'failed'] as const).find((one) =>
    refusals.some(({ outcome }) => outcome === one),
  )
  return { outcome: worst ?? 'refused', detail: detail || 'no_gateway' }
}

const ACCOUNT_WORDS =
  /credential|authenti|authori[sz]|api.?key|api.?secret|password|token|forbidden|denied|balance|credit|quota|suspended/i
const NUMBER_WORDS = /number|recipient|destination|msisdn|phone|subscriber/i

/** The words of the gateway refuse the account, and not this number: the next message would fare no better. */
const namesAccount = (words = ''): boolean => ACCOUNT_WORDS.test(words) && !NUMBER_WORDS.test(words)

type Answer = ReplyVerdict & { reason?: string }

/** Asks one gateway, with its OAuth token if it has one. Never throws. */
export function createGateway(
  gateway: GatewayConfig,
  clock: Clock,
  trace?: Trace,
): (message: RenderedMessage) => Promise<Answer> {
  const tokens = gateway.oauth && createTokenSource(gateway.oauth, clock, trace)
  const secrets = secretsOfGateway(gateway)
  const redact = createRedactor(secrets)
  const redactWith = (bearer: string | null) =>
    bearer === null ? redact : createRedactor([...secrets, bearer])
  return async (message) => {
    const exchange = new AbortController()
    const timer = setTimeout(() => exchange.abort(), gateway.timeoutMs)
    let isWritten = false
    const onWritten = () => {
      isWritten = true
    }
    const options = { tokens, redactWith, onWritten, signal: exchange.signal, ...(trace ? { trace } : {}) }
    try {
      const answer = await ask(gateway, message, options)
      // A token may end before its time: one more try with a fresh one.
      const isTokenRefused = tokens !== null && answer.detail === '401'
      isWritten = false
      return isTokenRefused ? await ask(gateway, message, options) : answer
    } catch (error) {
      const failure = failureOf(error, isWritten, exchange.signal.aborted)
      const reason = reasonOf(error, message, redact)
      trace?.(error instanceof TokenRefused ? 'token' : 'failed', `${failure.detail} ${reason}`)
      return { ...failure, ...(reason === '' ? {} : { reason }) }
    } finally {
      clearTimeout(timer)
      // Whatever is left of the reply is not wanted.
      exchange.abort()
    }
  }
}

function failureOf(error: unknown, isWritten: boolean, isLate: boolean): Answer {
  const mayBeTaken = isWritten && !isNeverConnected(error)
  const cause = mayBeTaken ? 'broken' : connectionCause(error)
  return { outcome: 'failed', detail: isLate ? 'timeout' : cause, mayBeTaken }
}

function reasonOf(error: unknown, message: RenderedMessage, redact: Redact): string {
  const code = (error as { code?: unknown } | null)?.code
  const words = error instanceof TokenRefused ? cleanWords(error.words, message, redact) : ''
  return `${typeof code === 'string' ? code : ''} ${words}`.trim()
}

interface Asking {
  tokens: TokenSource | null
  redactWith(bearer: string | null): Redact
  /** The request may have reached the gateway. */
  onWritten(): void
  signal: AbortSignal
  trace?: Trace
}

async function ask(
  gateway: GatewayConfig,
  message: RenderedMessage,
  { tokens, redactWith, onWritten, signal, trace }: Asking,
): Promise<Answer> {
  const bearer = tokens && (await tokens.get(signal))
  const { url, ...request } = requestOf(gateway, message, bearer)
  trace?.('request', requestLine(gateway, url, request.headers))
  const response = await resolvedFetch(url, { ...watched(request, onWritten), redirect: 'manual', signal })
  const { status, headers } = response
  if (bearer !== null && status === 401) tokens?.forget(bearer)
  // Where the status alone is the verdict, a reply that never ends must not send the message by another gateway too.
  const body = await readReply(response).catch(() => null)
  const redact = redactWith(bearer)
  const reason = cleanWords(body ?? '', message, redact)
  trace?.('reply', `${status} ${reason}`)
  const verdict = verdictOfReply({ status, body, contentType: headers.get('content-type') ?? '' }, gateway)
  const { providerId, ...rest } = verdict
  const isFit = providerId !== undefined && redact(providerId) === providerId
  return { ...rest, ...(isFit ? { providerId } : {}), ...(reason === '' ? {} : { reason }) }
}

type WrittenRequest = ReturnType<typeof requestOf> & { body?: string }

/**
 * The body is asked for once the connection stands and the head is written. A GET has none: of a connection that was made
 * and gave no reply nothing is known.
 */
function watched({ method, headers, body = '' }: Omit<WrittenRequest, 'url'>, onWritten: () => void) {
  if (method === 'GET') {
    onWritten()
    return { method, headers }
  }
  const bytes = Buffer.from(body)
  // Without its length the body would go out in chunks, which not every gateway reads.
  headers.set('content-length', String(bytes.length))
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        onWritten()
        if (bytes.length > 0) controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
  return { method, headers, body: stream }
}

/** The path and the values of the headers are left out: any of them may be a key. */
const requestLine = ({ method }: GatewayConfig, { origin, pathname }: URL, headers: Headers): string =>
  `${method} ${origin}${pathname === '/' ? '/' : '/…'} with ${[...headers.keys()].join(', ')}`

const codeOf = (error: unknown) => String((error as { code?: unknown } | null)?.code ?? '')

function connectionCause(error: unknown): string {
  const code = codeOf(error)
  if (code.startsWith('oauth_')) return 'oauth'
  return isTlsFailure(error) ? 'tls' : 'connection'
}

const isNeverConnected = (error: unknown): boolean =>
  connectionCause(error) === 'tls' || /^(ECONNREFUSED|ENOTFOUND|EAI_)/.test(codeOf(error))
