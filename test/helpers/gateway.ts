/** An HTTP SMS gateway that keeps what it is asked to send, and that can refuse, hesitate, redirect or never end. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { freePort } from './free-port.ts'
import { codeIn } from './inbox.ts'
import { PATIENCE_MS, waitFor } from './wait.ts'

export interface GatewayRequest {
  method: string
  path: string
  /** Lower-case names. */
  headers: Record<string, string>
  /** The body as it was sent, undecoded; empty without a body. */
  raw: string
  /** Decoded by content type: JSON, form, or the query string of a request without a body. */
  fields: Record<string, unknown>
  /** Milliseconds since the epoch. */
  receivedAt: number
  /** The status that was answered. */
  status: number
}

export interface Sms extends GatewayRequest {
  to: string
  text: string
  /** The six digits in the text, if any. */
  code: string | null
}

export interface GatewayBehaviour {
  status?: number
  delayMs?: number
  /** Answers 302 to this address. */
  redirect?: string
  /** The reply, and its content type. */
  body?: string
  contentType?: string
  /** A reply of this many bytes. */
  replyBytes?: number
  /** Sends the head and one byte a second, and does not end. */
  drip?: boolean
  /** Takes the request and breaks the connection without an answer. */
  hangUp?: boolean
}

export interface GatewayOptions {
  behaviour?: GatewayBehaviour
  /** Names of the two fields in what the service sends. */
  fields?: { to: string; text: string }
}

export interface TestGateway {
  /** To be put in `[[sms.gateways]] url`. */
  url: string
  port: number
  requests: GatewayRequest[]
  /** The messages that were answered with 2xx. */
  readonly messages: Sms[]
  /** The first accepted SMS to that number, come already or still to come. */
  waitForSms(to: string, timeoutMs?: number): Promise<Sms>
  waitFor(predicate: (sms: Sms) => boolean, timeoutMs?: number): Promise<Sms>
  behave(behaviour: GatewayBehaviour): void
  /** Refuses connections until `start()`, which takes the same port again. */
  stop(): Promise<void>
  start(): Promise<void>
}

export async function startGateway(options: GatewayOptions = {}): Promise<TestGateway> {
  const { to, text } = options.fields ?? { to: 'to', text: 'text' }
  const requests: GatewayRequest[] = []
  let behaviour = options.behaviour ?? {}
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const now = behaviour
    const status = now.redirect === undefined ? (now.status ?? 200) : 302
    requests.push(await record(incoming, now.hangUp === true ? 0 : status))
    if (now.delayMs !== undefined) await Bun.sleep(now.delayMs)
    // Destroying the answer instead would let Bun send an empty 200.
    if (now.hangUp === true) incoming.socket.destroy()
    else reply(outgoing, status, now)
  }
  const port = await freePort()
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing))
  const start = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', resolve)
    })
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await start()

  const toSms = (request: GatewayRequest): Sms => {
    const written = String(request.fields[text] ?? '')
    const code = codeIn(written)
    return { ...request, to: String(request.fields[to] ?? ''), text: written, code }
  }
  const accepted = () => requests.filter(({ status }) => status >= 200 && status < 300).map(toSms)
  const waitForSms: TestGateway['waitFor'] = (predicate, timeoutMs = PATIENCE_MS) =>
    waitFor(() => accepted().find(predicate), { what: 'an SMS', timeoutMs, intervalMs: 2 })
  return {
    url: `http://127.0.0.1:${port}/send`,
    port,
    requests,
    get messages() {
      return accepted()
    },
    waitFor: waitForSms,
    waitForSms: (number, timeoutMs) => waitForSms((sms) => sms.to === number, timeoutMs),
    behave: (next) => {
      behaviour = next
    },
    stop,
    start,
  }
}

async function record(incoming: IncomingMessage, status: number): Promise<GatewayRequest> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://gateway')
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const raw = Buffer.concat(chunks).toString('utf8')
  return {
    method: incoming.method ?? '',
    path: pathname,
    headers: incoming.headers as Record<string, string>,
    raw,
    fields: decode(raw, incoming.headers['content-type'] ?? '', searchParams),
    receivedAt: Date.now(),
    status,
  }
}

function decode(raw: string, contentType: string, query: URLSearchParams): Record<string, unknown> {
  if (contentType.startsWith('application/json')) return JSON.parse(raw) as Record<string, unknown>
  if (contentType.startsWith('application/x-www-form-urlencoded'))
    return Object.fromEntries(new URLSearchParams(raw))
  return Object.fromEntries(query)
}

function reply(outgoing: ServerResponse, status: number, behaviour: GatewayBehaviour): void {
  outgoing.on('error', () => {})
  if (behaviour.redirect !== undefined) {
    outgoing.writeHead(status, { location: behaviour.redirect }).end()
    return
  }
  outgoing.writeHead(status, { 'content-type': behaviour.contentType ?? 'text/plain' })
  if (behaviour.drip !== true) {
    outgoing.end(behaviour.body ?? 'x'.repeat(behaviour.replyBytes ?? 2))
    return
  }
  outgoing.write('x')
  const timer = setInterval(() => outgoing.write('x'), 1000)
  outgoing.on('close', () => clearInterval(timer))
}
