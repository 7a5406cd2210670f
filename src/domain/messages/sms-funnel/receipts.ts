/**
 * The receipts of gateways: what they say of an SMS after they took it. Authenticated, idempotent; ids that nobody
 * knows change nothing.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { Config, ReceiptsConfig } from '../../../platform/config/types.ts'
import { AppError } from '../../../texts/errors.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import { at, valueAt } from '../sms-gateways/verdict.ts'
import type { Funnel } from './funnel.ts'
import type { Receipt, SmsFunnelStore } from './store.ts'

interface ReceiptRequest {
  /** Path and query, as they came. */
  target: string
  headers: Record<string, string | undefined>
  query: Record<string, string | undefined>
  /** JSON, or the fields of a form; an empty table without a body. */
  body: unknown
}

interface Options {
  store: SmsFunnelStore
  funnel: Pick<Funnel, 'count'>
  limits: Pick<LimitService, 'charge' | 'counters'>
  clock: Clock
  config: Pick<Config, 'sms' | 'server'>
}

/** Entries of one request; 16 KiB hold no more that mean anything. */
const LONGEST_ID = 200

export type ReceiptService = ReturnType<typeof createReceiptService>

export function createReceiptService({ store, funnel, limits, clock, config }: Options) {
  const { baseUrl } = config.server

  async function refuse(addressBucket: string): Promise<never> {
    await limits.charge(limits.counters.refusedReceipts(addressBucket))
    throw new AppError('invalid_token', { cause: 'receipt_secret' })
  }

  return {
    async take(
      name: string,
      request: ReceiptRequest,
      { addressBucket }: { addressBucket: string },
    ): Promise<void> {
      const receipts = config.sms.gateways.find((gateway) => gateway.name === name)?.receipts
      if (!receipts) throw new AppError('route_not_found')
      if (!isAuthentic(receipts, request, baseUrl)) return refuse(addressBucket)
      for (const { id, receipt } of receiptsIn(receipts, request)) {
        const changed = await store.putReceipt(name, id, receipt, clock.now())
        if (changed) funnel.count(receipt, changed.destination, name)
      }
    },
  }
}

function receiptsIn(receipts: ReceiptsConfig, { body, query }: ReceiptRequest) {
  const whole = typeof body === 'object' && body !== null && Object.keys(body).length > 0 ? body : query
  const listed = receipts.items === null ? whole : at(whole, receipts.items)
  const entries = Array.isArray(listed) ? listed : [listed]
  return entries.flatMap((entry) => {
    const id = valueAt(entry, receipts.message_id)
    const status = valueAt(entry, receipts.status)
    const receipt = status === undefined ? null : receiptOf(receipts, status)
    return id === undefined || id === '' || id.length > LONGEST_ID || receipt === null
      ? []
      : [{ id, receipt }]
  })
}

/** Other words ("sent", "queued") say nothing yet. */
function receiptOf({ delivered, failed }: ReceiptsConfig, status: string): Receipt | null {
  if (delivered.includes(status)) return 'delivered'
  return failed.includes(status) ? 'failed' : null
}

function isAuthentic(receipts: ReceiptsConfig, request: ReceiptRequest, baseUrl: string): boolean {
  const { secret, signature } = receipts
  if (signature === 'twilio') return isSignedByTwilio(secret, request, baseUrl)
  const { headers, query } = request
  const [, scheme = '', credentials = ''] = /^(\w+) +(\S+) *$/.exec(headers.authorization ?? '') ?? []
  const shown = [
    scheme.toLowerCase() === 'bearer' ? credentials : undefined,
    scheme.toLowerCase() === 'basic' ? passwordOf(credentials) : undefined,
    headers['x-poterne-secret'],
    query.key,
  ]
  return shown.some((each) => each !== undefined && isSame(each, secret))
}

const passwordOf = (credentials: string) => {
  const text = Buffer.from(credentials, 'base64').toString('utf8')
  return text.slice(text.indexOf(':') + 1)
}

/** In the same time, whatever is shown. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/** The whole address and, of a form, its fields in the order of their names, under HMAC-SHA1 with the auth token. */
function isSignedByTwilio(secret: string, { target, headers, body }: ReceiptRequest, baseUrl: string) {
  const fields = Object.entries((body ?? {}) as Record<string, unknown>)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => name + String(value))
  const signed = new URL(baseUrl).origin + target + fields.join('')
  const expected = createHmac('sha1', secret).update(signed).digest('base64')
  return isSame(headers['x-twilio-signature'] ?? '', expected)
}
