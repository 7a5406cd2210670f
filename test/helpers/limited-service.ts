/** The service with limits on, a clock that stands still, and clients at any address (reported by a trusted proxy). */
import type { Answer, CallOptions } from './api-client.ts'
import {
  mergeSettings,
  type ServiceOptions,
  startService,
  type TestClock,
  type TestService,
} from './service.ts'

/** Stands still unless it is advanced, so that a wait can be checked exactly. */
export function createFrozenClock(start = Date.now()): TestClock {
  let ms = start
  return {
    now: () => new Date(ms),
    advance: (by) => {
      ms += by
    },
    standsStill: true,
  }
}

/** Noon (UTC), so that a test which lets hours pass stays within the day of the budgets. */
export const noon = () => createFrozenClock(new Date().setUTCHours(12, 0, 0, 0))

const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000]
/** If midnight (UTC) is near, passes it at once, so that a budget does not begin anew during a test. */
export function passMidnight(clock: TestClock): void {
  const toMidnightMs = DAY_MS - (clock.now().getTime() % DAY_MS)
  if (toMidnightMs < MINUTE_MS) clock.advance(toMidnightMs)
}

export function startLimited(options: ServiceOptions = {}): Promise<TestService> {
  const limited = { limits: { enabled: true }, server: { trusted_proxies: ['127.0.0.1'] } }
  return startService({
    clock: noon(),
    ...options,
    settings: mergeSettings(limited, options.settings),
  })
}

/** A call that comes from this client address. */
export const from = (address: string): CallOptions => ({ headers: { 'x-forwarded-for': address } })

let clients = 0
/** A client at a new address, so that limits by address do not interfere. */
export function newClient(): CallOptions {
  clients++
  return from(`10.${(clients >> 16) & 255}.${(clients >> 8) & 255}.${clients & 255}`)
}

/**
 * Returns the part of an answer that a client sees, without the request id and the time, which differ from call to
 * call.
 */
export function seen({ status, headers, body }: Answer) {
  const shown = [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date')
  const { request_id: _, ...rest } = body ?? {}
  return { status, headers: Object.fromEntries(shown.sort()), body: rest }
}
