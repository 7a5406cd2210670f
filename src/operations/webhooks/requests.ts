/** The requests to one endpoint that are under way: at most eight at a time, and never two about one account. */
import type { StoredEvent } from '../../domain/foundation/events/store.ts'
import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { WebhookConfig } from '../../platform/config/types.ts'
import { within } from '../../platform/waiting.ts'
import type { Deliver } from './delivery.ts'
import { accountOf } from './window.ts'

interface Needs {
  deliver: Deliver
  metrics: Pick<Metrics, 'count'>
}

/** About an event of the log, or about one that was set aside. */
type Kind = 'log' | 'aside'
export type Outcome = Awaited<ReturnType<Deliver>>

export interface Settling {
  /** Gets the outcome, unless this process ends before. */
  settle(outcome: Outcome): Promise<unknown>
  /** Something else than the endpoint failed. */
  failed(error: unknown): void
  /** Another request about this account may begin. */
  ended(): void
}

/** The requests under way at once, and those of them that may be about what was set aside. */
const MOST_REQUESTS = 8
const MOST_RETRIES = 2

export type Requests = ReturnType<typeof createRequests>

export function createRequests(webhook: WebhookConfig, { deliver, metrics }: Needs) {
  const ending = new AbortController()
  const busy = new Set<string>()
  const underWay = new Map<Promise<void>, Kind>()

  async function send(event: StoredEvent, settle: Settling['settle']): Promise<void> {
    const outcome = await deliver(webhook, event, ending.signal)
    if (ending.signal.aborted && !outcome.accepted) return
    metrics.count('webhook_deliveries_total', {
      endpoint: webhook.name,
      outcome: outcome.accepted ? 'accepted' : 'failed',
    })
    await settle(outcome)
  }

  return {
    /** The process ends. */
    ending: ending.signal,
    /** The accounts about which a request is under way. */
    busy: busy as ReadonlySet<string>,
    isIdle: () => underWay.size === 0,
    /** So many of the kind may begin now. */
    free(kind: Kind): number {
      const free = MOST_REQUESTS - underWay.size
      if (kind === 'log') return free
      return Math.min(MOST_RETRIES - [...underWay.values()].filter((each) => each === kind).length, free)
    },
    begin(kind: Kind, event: StoredEvent, { settle, failed, ended }: Settling): void {
      const account = accountOf(event)
      busy.add(account)
      const work = send(event, settle)
        .catch(failed)
        .finally(() => {
          underWay.delete(work)
          busy.delete(account)
          ended()
        })
      underWay.set(work, kind)
    },
    /** Waits a little for those under way, and ends them. */
    async end(graceMs: number): Promise<void> {
      await within(graceMs, Promise.allSettled(underWay.keys()), null)
      ending.abort()
      await Promise.allSettled(underWay.keys())
    },
  }
}
