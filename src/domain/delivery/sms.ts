/**
 * SMS over the HTTP gateways of the configuration, in their order, the next one when one fails. Promises: values are
 * encoded by the format, never pasted; no redirect is followed; a gateway has its timeout and 64 KiB for a reply. The
 * details it gives are gateway names and cause codes.
 */
import type { GatewayConfig } from '../../platform/config/types.ts'
import type { MessageSender, RenderedMessage, SendOutcome } from './message.ts'

const REPLY_BYTES = 65_536

export function createSmsSender(gateways: GatewayConfig[]): MessageSender {
  return {
    async send(message) {
      if (!/^\+[1-9][0-9]{3,14}$/.test(message.to)) return { outcome: 'refused', detail: 'sms_number' }
      const refusals: string[] = []
      const failures: string[] = []
      for (const gateway of gateways.filter(({ prefixes }) => covers(prefixes, message.to))) {
        const { outcome, detail } = await ask(gateway, message)
        if (outcome === 'sent') return { outcome, detail: gateway.name }
        const list = outcome === 'refused' ? refusals : failures
        list.push(`${gateway.name}:${detail}`)
      }
      if (failures.length > 0) return { outcome: 'failed', detail: [...refusals, ...failures].join(',') }
      return { outcome: 'refused', detail: refusals.join(',') || 'no_gateway' }
    },
    async close() {},
  }
}

function covers(prefixes: string[], number: string): boolean {
  return prefixes.length === 0 || prefixes.some((prefix) => number.startsWith(prefix))
}

async function ask(gateway: GatewayConfig, message: RenderedMessage): Promise<SendOutcome> {
  const exchange = new AbortController()
  const timer = setTimeout(() => exchange.abort(), gateway.timeoutMs)
  try {
    const { url, ...request } = requestOf(gateway, message)
    const response = await fetch(url, { ...request, redirect: 'manual', signal: exchange.signal })
    // The status is the verdict: a gateway that took the message must not make it go out by another one as well.
    await drain(response).catch(() => {})
    return verdict(response.status)
  } catch (error) {
    return { outcome: 'failed', detail: exchange.signal.aborted ? 'timeout' : connectionCause(error) }
  } finally {
    clearTimeout(timer)
    // Whatever is left of the reply is not wanted.
    exchange.abort()
  }
}

/** 4xx is final, except "too slow" and "too many". */
function verdict(status: number): SendOutcome {
  if (status >= 200 && status < 300) return { outcome: 'sent', detail: String(status) }
  const final = status >= 400 && status < 500 && status !== 408 && status !== 429
  return { outcome: final ? 'refused' : 'failed', detail: String(status) }
}

function connectionCause(error: unknown): string {
  const code = String((error as { code?: unknown } | null)?.code ?? '')
  return /CERT|TLS|SSL|SELF_SIGNED|ISSUER|VERIFY/.test(code) ? 'tls' : 'connection'
}

/** A reply read to its end leaves the connection fit for the next message. */
async function drain(response: Response): Promise<void> {
  const reader = response.body?.getReader()
  if (!reader) return
  let read = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    read += value.byteLength
    if (read > REPLY_BYTES) return reader.cancel()
  }
}

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
