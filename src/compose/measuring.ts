/** The measurements around the services: of the stores they ask, and the gauges that a scrape reads. */

import type { GaugeName } from '../domain/foundation/metrics/definitions.ts'
import { type Metrics, noMetrics } from '../domain/foundation/metrics/metrics.ts'
import { outboxChannels } from '../domain/messages/outbox/message.ts'
import { createDoctorStore } from '../operations/doctor/store.ts'
import type { Clock } from '../platform/clock.ts'
import { backChannelsOf } from '../platform/config/applications.ts'
import type { Config } from '../platform/config/types.ts'
import { linesLost } from '../platform/log/log-writer.ts'
import type { Database } from '../platform/postgres/database.ts'
import { readFreeBytes } from '../platform/postgres/disk-space.ts'
import { timeStatements } from '../platform/postgres/statement-log.ts'
import { noteWork } from '../platform/request-context.ts'
import { version } from '../platform/version.ts'
import { together, within } from '../platform/waiting.ts'
import type { Connections } from './connections.ts'
import type { Services } from './services.ts'
import type { Stores } from './stores.ts'

export async function openMetrics({ metrics }: Pick<Config, 'metrics'>): Promise<Metrics> {
  if (metrics.listen === null) return noMetrics
  const { createPrometheusMetrics } = await import('../domain/foundation/metrics/prometheus.ts')
  return createPrometheusMetrics()
}

/** The same stores, whose calls are timed. */
export function measured(
  { database, redis }: Pick<Connections, 'database' | 'redis'>,
  metrics: Metrics,
): Pick<Connections, 'database' | 'redis'> {
  return {
    database: timeStatements(database, (_, durationMs) => {
      noteWork('askedStore')
      metrics.observe('database_round_trip_seconds', durationMs / 1000)
    }),
    redis: redis && {
      ...redis,
      send(work) {
        const start = performance.now()
        const onEnd = () => {
          noteWork('askedStore')
          metrics.observe('redis_round_trip_seconds', (performance.now() - start) / 1000)
        }
        const running = redis.send(work)
        running.then(onEnd, onEnd)
        return running
      },
    },
  }
}

/** A store that takes longer does not serve requests either. A reading that takes a second is left out of a scrape. */
const READY_WITHIN_MS = 800

interface Measured {
  config: Pick<Config, 'backup' | 'pages' | 'storage'>
  services: Pick<Services, 'backups' | 'funnel' | 'hashing' | 'keys' | 'limits' | 'webhooks'>
  stores: Pick<Stores, 'messages'>
  database: Database
  clock: Clock
  /** Rejects where the service is not ready. */
  ping: () => Promise<void>
}

export function addGauges(metrics: Metrics, measured: Measured): void {
  const { services, stores, database, clock, config, ping } = measured
  const { backups, funnel, hashing, keys, limits, webhooks } = services
  const secondsSince = (time: Date) => Math.max(0, (clock.now().getTime() - time.getTime()) / 1000)
  const tellsApplications = backChannelsOf(config).length > 0
  const channels = outboxChannels.filter((channel) => tellsApplications || channel !== 'application')
  const waiting = together(() => stores.messages.waiting())
  metrics.gauge('outbox_waiting', async () => {
    const rows = await waiting()
    return channels.map((channel) => ({
      labels: { channel },
      value: rows.find((row) => row.channel === channel)?.count ?? 0,
    }))
  })
  metrics.gauge('outbox_oldest_seconds', async () =>
    Math.max(0, ...(await waiting()).map(({ oldestAt }) => secondsSince(oldestAt))),
  )
  metrics.gauge('ready', () =>
    within(
      READY_WITHIN_MS,
      ping().then(
        () => 1,
        () => 0,
      ),
      0,
    ),
  )
  metrics.gauge(
    'disk_free_bytes',
    together(() => freeSpace(config, database)),
  )
  metrics.gauge('log_lines_lost_total', linesLost)
  metrics.gauge('sms_budget_remaining', limits.smsLeft)
  metrics.gauge('sms_prefixes_closed', () =>
    Object.entries(funnel.countClosed()).map(([by, value]) => ({ labels: { by }, value })),
  )
  metrics.gauge('hash_queue_waiting', hashing.waiting)
  metrics.gauge('signing_key_age_seconds', () => secondsSince(keys.signingKey().signsFrom))
  metrics.gauge('webhook_lag_seconds', async () =>
    (await webhooks.list()).map(({ name, lagSeconds }) => ({
      labels: { endpoint: name },
      value: lagSeconds,
    })),
  )
  metrics.gauge('backup_last_success_timestamp_seconds', async () => {
    const { lastSuccessAt, lastFailureAt } = await backups.getState()
    // If all have failed, the alert of old backups sees it.
    if (lastSuccessAt === null && lastFailureAt !== null) return 0
    return lastSuccessAt && lastSuccessAt.getTime() / 1000
  })
  metrics.gauge('backup_last_failure_timestamp_seconds', async () => {
    const { lastFailureAt } = await backups.getState()
    return lastFailureAt && lastFailureAt.getTime() / 1000
  })
  addUpkeep(metrics, database)
  if (database.kind === 'postgres') {
    const { facts } = createDoctorStore(database)
    metrics.gauge('database_info', async () => [{ labels: { server: (await facts()).server }, value: 1 }])
  }
  const labels = { version: version.version, commit: version.commit, bun: version.bun }
  metrics.gauge('build_info', () => [{ labels, value: 1 }])
}

/** A disk that does not say what is free is left out, and so is the directory of backups before the first one. */
async function freeSpace({ backup, storage }: Measured['config'], { kind }: Database) {
  const directories = [
    ...(kind === 'embedded' ? [{ use: 'data', directory: storage.dataDir }] : []),
    ...(backup.at === null ? [] : [{ use: 'backups', directory: backup.directory }]),
  ]
  const read = directories.map(async ({ use, directory }) => {
    const value = await readFreeBytes(directory)
    return value === null ? [] : [{ labels: { use }, value }]
  })
  return (await Promise.all(read)).flat()
}

function addUpkeep(metrics: Metrics, { upkeep }: Pick<Database, 'upkeep'>): void {
  if (upkeep === undefined) return
  const read = together(upkeep.condition)
  metrics.gauge('embedded_transaction_age', async () => (await read()).transactionAge)
  metrics.gauge('embedded_dead_rows', async () => (await read()).deadRows)
  metrics.gauge('embedded_log_bytes', async () => (await read()).logBytes)
}

/** Gives what is to be called when it succeeded: the gauge then says when that was. It says nothing until then. */
export function gaugeOfTime(metrics: Metrics, name: GaugeName): (at?: Date) => void {
  let seconds: number | null = null
  metrics.gauge(name, () => seconds)
  return (at = new Date()) => {
    seconds = at.getTime() / 1000
  }
}
