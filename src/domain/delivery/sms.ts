/**
 * SMS over the HTTP gateways of the configuration, in their order, the next one when one fails. Promises: values are
 * encoded by the format, never pasted; no redirect is followed; a gateway has its timeout and 64 KiB for a reply. The
 * details it gives are gateway names and cause codes.
 */
import type { GatewayConfig } from '../../platform/config/types.ts'
import { cleanWords } from './clean-words.ts'
import type { MessageSender, Refusal, RenderedMessage, SendOutcome } from './message.ts'

const REPLY_BYTES = 65_536

export function createSmsSender(gateways: GatewayConfig[]): MessageSender {
  return {
    async send(message) {
      if (!/^\+[1-9][0-9]{3,14}$/.test(message.to)) return { outcome: 'refused', detail: 'sms_number' }
      const refusals: Refusal[] = []
      for (const gateway of gateways.filter(({ prefixes }) => covers(prefixes, message.to))) {
        const { outcome, detail, reason } = await ask(gateway, message)
        if (outcome === 'sent') return { outcome, detail: gateway.name, gateway: gateway.name, refusals }
        refusals.push({ gateway: gateway.name, outcome, detail, ...(reason ? { reason } : {}) })
      }
      return { ...together(refusals), refusals }
    },
    async close() {},
  }
}

export function covers(prefixes: string[], number: string): boolean {
  return prefixes.length === 0 || prefixes.some((prefix) => number.startsWith(prefix))
}

async function ask(gateway: GatewayConfig, message: RenderedMessage): Promise<SendOutcome> {
  const exchange = new AbortController()
  const timer = setTimeout(() => exchange.abort(), gateway.timeoutMs)
  try {
    const { url, ...request } = requestOf(gateway, message)
    const response = await fetch(url, { ...request, redirect: 'manual', signal: exchange.signal })
    // The status is the verdict: a gateway that took the message must not make it go out by another one as well.
    const reply = await readReply(response).catch(() => '')
    return { ...verdict(response.status), reason: cleanWords(reply, message) }
  } catch (error) {
    const detail = exchange.signal.aborted ? 'timeout' : connectionCause(error)
    const code = (error as { code?: unknown } | null)?.code
    return { outcome: 'failed', detail, ...(typeof code === 'string' ? { reason: code } : {}) }
  } finally {
    clearTimeout(timer)
    // Whatever is left of the reply is not wanted.
    exchange.abort()
  }
}

/** Final only where every gateway refused. */
function together(refusals: Refusal[]): Pick<SendOutcome, 'outcome' | 'detail'> {
  const isFailure = ({ outcome }: Refusal) => outcome === 'failed'
  const inOrder = [...refusals.filter((each) => !isFailure(each)), ...refusals.filter(isFailure)]
  const detail = inOrder.map(({ gateway, detail }) => `${gateway}:${detail}`).join(',')
  return { outcome: refusals.some(isFailure) ? 'failed' : 'refused', detail: detail || 'no_gateway' }
}

/** Tried again: an expired token (as a mail server that refuses a password is), "too slow" and "too many". */
const NOT_FINAL = [401, 403, 408, 429]

/** Other 4xx are final. */
function verdict(status: number): SendOutcome {
  if (status >= 200 && status < 300) return { outcome: 'sent', detail: String(status) }
  const final = status >= 400 && status < 500 && !NOT_FINAL.includes(status)
  return { outcome: final ? 'refused' : 'failed', detail: String(status) }
}

function connectionCause(error: unknown): string {
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  return /CERT|TLS|SSL|SELF_SIGNED|ISSUER|VERIFY/.test(code) ? 'tls' : 'connection'
}

/** A reply read to its end leaves the connection fit for the next message. */
async function readReply(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  while (reader && length <= REPLY_BYTES) {
    const { done, value } = await reader.read()
    if (done) return text(chunks)
    chunks.push(value)
    length += value.byteLength
  }
  await reader?.cancel()
  return text(chunks)
}

const text = (chunks: Uint8Array[]) => Buffer.concat(chunks).subarray(0, REPLY_BYTES).toString('utf8')

interface GatewayRequest {
  url: URL
  method: string
  headers: Headers
  body?: string
}

function requestOf(gateway: GatewayConfig, message: RenderedMessage): GatewayRequest {
  const { method, format } = gateway
  const url = new URL(gateway.url)
  const headers = new Headers({ 'accept-encoding': 'identity', 'user-agent': 'poterne', ...gateway.headers })
  const fields = Object.entries(gateway.body).map(([name, value]) => [name, fill(value, message)] as const)
  if (format === 'query') {
    for (const [name, value] of fields) url.searchParams.append(name, value)
    return { url, method, headers }
  }
  const [type, body] =
    format === 'json'
      ? ['application/json', JSON.stringify(Object.fromEntries(fields))]
      : ['application/x-www-form-urlencoded', new URLSearchParams(fields.map(([...pair]) => pair)).toString()]
  if (!headers.has('content-type')) headers.set('content-type', type)
  return { url, method, headers, body }
}

/** In one pass: what a placeholder brings in is not looked at again. */
function fill(value: string, { to, text, code }: RenderedMessage): string {
  const values = { to, text, code: code ?? '' }
  return value.replace(/\{(to|text|code)\}/g, (_, name: keyof typeof values) => values[name])
}
