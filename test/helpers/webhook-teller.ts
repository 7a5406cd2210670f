/** Tells one webhook of `account.*` from a database, without the rest of a service. */
import { createEventTail } from '../../src/domain/foundation/events/event-tail.ts'
import { createEventStore } from '../../src/domain/foundation/events/store.ts'
import { noMetrics } from '../../src/domain/foundation/metrics/metrics.ts'
import { createDeliver } from '../../src/operations/webhooks/delivery.ts'
import { createWebhookStore } from '../../src/operations/webhooks/store.ts'
import { createWebhookWorker } from '../../src/operations/webhooks/worker.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/postgres/database.ts'

export async function startTeller(
  database: Database,
  { url, secret }: { url: string; secret: string },
  awayDelayMs?: (tries: number) => number,
) {
  const events = createEventStore(database, { retentionSeconds: 1e9, addressRetentionSeconds: 1e9 })
  const hook = { name: 'app', url, secret, previousSecrets: [], events: ['account.*'], accountState: false }
  const worker = createWebhookWorker({
    stores: { webhooks: createWebhookStore(database), events },
    eventTail: createEventTail({ stores: { events } }),
    deliver: createDeliver({
      stores: { accounts: { findByUuid: async () => null } },
      roles: { nameOf: String },
    }),
    config: { webhooks: [hook] } as never,
    clock: systemClock,
    logger: { debug() {}, info() {}, warn() {}, error() {} } as never,
    metrics: noMetrics,
    tellOperator: () => {},
    ...(awayDelayMs && { awayDelayMs }),
  })
  await worker.start()
  worker.begin()
  return worker
}
