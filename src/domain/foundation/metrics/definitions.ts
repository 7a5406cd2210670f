/**
 * THE table of what is measured: name, meaning, labels. A metric is exposed as `poterne_<name>`. No label grows with
 * the number of people: routes are templates, gateways are configured, and countries are those to which SMS may go.
 * Series that somebody could make in great number are bounded, by every error of every route or SMS to the whole world.
 * docs/monitoring.md describes the same metrics; a test compares both.
 */

export interface Definition {
  help: string
  labels?: readonly string[]
}

export interface CounterDefinition extends Definition {
  /** A counter whose labels have very many combinations: after `most` series, further ones have `other` in `label`. */
  bound?: Bound
}

export interface Bound {
  most: number
  label: string
}

export interface HistogramDefinition extends Definition {
  /** Upper bounds, in seconds. */
  buckets: readonly number[]
}

const roundTrip = [0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5]

export const counters = {
  http_requests_total: {
    help: 'Requests that were answered on the public listener.',
    labels: ['route', 'method', 'status'],
    bound: { most: 250, label: 'route' },
  },
  logins_total: { help: 'Attempts to sign in.', labels: ['method', 'outcome'] },
  registrations_total: {
    help: 'Registrations that were accepted, by the channel of their first code.',
    labels: ['channel'],
  },
  page_steps_total: {
    help: 'Pages that were shown, and forms of pages that did what they are for.',
    labels: ['step', 'stage'],
  },
  application_entries_total: {
    help: 'Tokens that applications of the pages got for a code.',
    labels: ['application'],
  },
  application_refusals_total: {
    help: 'What applications of the pages asked for and did not get.',
    labels: ['application', 'error'],
  },
  codes_total: {
    help: 'One-time codes, by what became of them.',
    labels: ['purpose', 'channel', 'stage'],
  },
  messages_total: {
    help: 'Attempts to send a message, by how they ended.',
    labels: ['channel', 'gateway', 'outcome'],
  },
  sms_funnel_total: {
    help: 'SMS, by how far they came.',
    labels: ['gateway', 'country', 'stage'],
    bound: { most: 100, label: 'country' },
  },
  hash_refused_total: { help: 'Calls that were refused because too many passwords waited to be hashed.' },
  refreshes_total: { help: 'Calls that presented a refresh token.', labels: ['outcome'] },
  refresh_reuse_total: { help: 'Sessions that were ended because an old refresh token came back.' },
  unreadable_rows_total: {
    help: 'Stored values that could not be opened, or were not read as they were written.',
    labels: ['kind'],
  },
  dry_pools_total: {
    help: 'Seconds in which a pool of messages that strangers cause, or the SMS of the day, was found used up.',
    labels: ['pool'],
  },
  webhook_deliveries_total: {
    help: 'Requests that told a webhook of an event.',
    labels: ['endpoint', 'outcome'],
  },
  admissions_total: {
    help: 'Accounts about which the program of the team was asked before they opened.',
    labels: ['outcome'],
  },
  limit_refusals_total: { help: 'Requests that a limit refused.', labels: ['limit'] },
} as const satisfies Record<string, CounterDefinition>

export const histograms = {
  http_request_duration_seconds: {
    help: 'Time to answer a request: hash where a password was hashed, database where a store was asked, static for the rest.',
    labels: ['kind'],
    buckets: [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  message_delay_seconds: {
    help: 'Time from the request that caused a message until a mail server or gateway took it.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600],
  },
  hash_wait_seconds: {
    help: 'Time that a password waited until it was hashed; the verifier is addon, or bun where that one is not usable.',
    labels: ['verifier'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
  },
  database_round_trip_seconds: {
    help: 'Time of a statement, waiting for a connection included.',
    buckets: roundTrip,
  },
  redis_round_trip_seconds: { help: 'Time of a call to Redis.', buckets: roundTrip },
} as const satisfies Record<string, HistogramDefinition>

/** They are read for each scrape. One that ends with _total is a count that something else keeps. */
export const gauges = {
  ready: { help: '1 where /readyz would answer 200 now, else 0.' },
  disk_free_bytes: {
    help: 'What is free on the disk of the embedded database, and on that of the scheduled backups.',
    labels: ['use'],
  },
  log_lines_lost_total: {
    help: 'Lines of the log that were lost, because nobody read standard output or its disk was full.',
  },
  outbox_waiting: { help: 'Messages that wait to be sent.', labels: ['channel'] },
  outbox_oldest_seconds: { help: 'Age of the oldest message that waits to be sent; 0 without one.' },
  sms_budget_remaining: { help: 'SMS that may still be sent in the running day of sms.daily_budget.' },
  sms_prefixes_closed: {
    help: 'Prefixes of numbers that are closed to SMS, by who closed them.',
    labels: ['by'],
  },
  hash_queue_waiting: { help: 'Passwords that wait to be hashed.' },
  housekeeping_last_success_timestamp_seconds: {
    help: 'When this process last completed a round of housekeeping.',
  },
  backup_last_success_timestamp_seconds: { help: 'When the last backup was completed and verified.' },
  backup_last_failure_timestamp_seconds: { help: 'When a scheduled backup last failed.' },
  embedded_transaction_age: {
    help: 'Age of the oldest transaction number in the embedded database that is not frozen, in transactions.',
  },
  embedded_dead_rows: { help: 'Rows in the embedded database that are gone, but still keep their space.' },
  embedded_log_bytes: { help: 'What a start of the embedded database after a crash would read of its log.' },
  webhook_lag_seconds: {
    help: 'Age of the oldest event that a webhook was not told yet, those set aside left out; 0 without one.',
    labels: ['endpoint'],
  },
  signing_key_age_seconds: { help: 'Age of the key that signs access tokens.' },
  database_info: { help: 'Always 1; the label names the server that answers.', labels: ['server'] },
  build_info: { help: 'Always 1; the labels name what runs.', labels: ['version', 'commit', 'bun'] },
} as const satisfies Record<string, Definition>

export type CounterName = keyof typeof counters
export type HistogramName = keyof typeof histograms
export type GaugeName = keyof typeof gauges

type LabelsIn<D> = D extends { labels: readonly (infer Label extends string)[] } ? Label : never

/** The labels of a metric: the second argument of a call, and no argument where the metric has none. */
export type LabelArguments<D> = [LabelsIn<D>] extends [never]
  ? []
  : [labels: Readonly<Record<LabelsIn<D>, string | number>>]
