/**
 * A program that is told by webhooks. It verifies each delivery with two libraries of others, keeps it, and answers as it
 * is told to: also late, with half an answer, or not at all.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import type { EventRecord } from '../../src/domain/foundation/events/event-schema.ts'

export interface Delivery {
  id: string
  type: string
  timestamp: string
  data: Omit<EventRecord, 'address' | 'device'> & { account_state?: Record<string, unknown> | null }
  headers: Record<string, string>
  body: string
  receivedAt: number
  accepted: boolean
}

export interface Behaviour {
  status?: number
  delayMs?: number
  headers?: Record<string, string>
  /** Takes the request and says nothing. */
  hangs?: boolean
  /** Breaks the connection without an answer. */
  breaks?: boolean
  /** The body of the answer. */
  body?: string
  /** The head, and then a byte again and again. */
  streams?: boolean
}

export type WebhookReceiver = Awaited<ReturnType<typeof startReceiver>>

export const newHookSecret = () =>
  `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`

/** `answer` decides by what came; default: everything is accepted. */
export async function startReceiver(answer: (delivery: Delivery) => Behaviour = () => ({}), port = 0) {
  const secret = newHookSecret()
  const deliveries: Delivery[] = []
  const problems: string[] = []
  let decide = answer
  let underWay = 0
  let mostUnderWay = 0
  const accountsUnderWay = new Map<string, number>()

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([key, value]) => [key, String(value)]),
    )
    const { type, timestamp, data } = verified(body, headers)
    const delivery: Delivery = {
      ...{ id: headers['webhook-id'] as string, type, timestamp, data, headers, body },
      ...{ receivedAt: Date.now(), accepted: false },
    }
    const account = data.account ?? ''
    const about = (accountsUnderWay.get(account) ?? 0) + 1
    if (about > 1) problems.push(`two requests about "${account}" at once`)
    accountsUnderWay.set(account, about)
    mostUnderWay = Math.max(mostUnderWay, ++underWay)
    const ended = () => {
      underWay--
      accountsUnderWay.set(account, (accountsUnderWay.get(account) ?? 1) - 1)
    }
    response.once('close', ended)
    deliveries.push(delivery)
    const { status = 200, delayMs = 0, headers: answered = {}, ...way } = decide(delivery)
    if (delayMs > 0) await Bun.sleep(delayMs)
    if (way.hangs) return
    if (way.breaks) return void request.socket.destroy()
    delivery.accepted = status >= 200 && status < 300
    // The account is free for its next event once the head of the answer is there.
    accountsUnderWay.set(account, (accountsUnderWay.get(account) ?? 1) - 1)
    response.off('close', ended).once('close', () => underWay--)
    response.writeHead(status, answered)
    if (!way.streams) return void response.end(way.body ?? '{"taken":true}')
    const drip = setInterval(() => response.write('.'), 20)
    response.once('close', () => clearInterval(drip))
  }

  function verified(
    body: string,
    headers: Record<string, string>,
  ): Pick<Delivery, 'type' | 'timestamp' | 'data'> {
    try {
      new StandardWebhook(secret).verify(body, headers)
      new SvixWebhook(secret).verify(body, headers)
    } catch (error) {
      problems.push(`${headers['webhook-id']}: ${(error as Error).message}`)
    }
    return JSON.parse(body)
  }

  const server = createServer((request, response) => {
    take(request, response).catch((error) => problems.push(String(error)))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const { port: listening } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${listening}/hooks`,
    port: listening,
    secret,
    deliveries,
    /** What was wrong: signatures, two requests about one account at once. */
    problems,
    mostUnderWay: () => mostUnderWay,
    behave(next: (delivery: Delivery) => Behaviour): void {
      decide = next
    },
    accepted: () => deliveries.filter(({ accepted }) => accepted),
    of: (type: string) => deliveries.filter((delivery) => delivery.type === type),
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The section of the configuration: `mergeSettings` takes an array of tables as a whole. */
export const webhookSettings = (...webhooks: Record<string, unknown>[]) => ({ webhooks: webhooks as never })
