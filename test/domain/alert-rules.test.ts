/** Each alert of docs/alert-rules.yml, by series at which it fires and series at which it does not (promtool test rules). */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promtool } from '../helpers/prometheus.ts'
import { newDirectory } from '../helpers/run-directory.ts'

setDefaultTimeout(60_000)

const rulesFile = join(import.meta.dir, '../../docs/alert-rules.yml')

interface Rule {
  alert: string
  expr: string
  labels: Record<string, string>
  annotations: { summary: string; description: string }
}
const [group] = (Bun.YAML.parse(readFileSync(rulesFile, 'utf8')) as { groups: { rules: Rule[] }[] }).groups
const rules = new Map(group!.rules.map((rule) => [rule.alert, rule]))

/** One value a minute: `0+60x30` begins at 0 and adds 60 thirty times; `_` is a scrape without the series. */
type Series = Record<string, string>

interface Example {
  fires: Series
  /** Minutes after the first value. */
  at: number
  /** The labels that the alert has besides its severity. */
  labels?: Record<string, string>
  summary: string
  /** Each of them on its own. */
  quiet: Series[]
}

const job = 'job="poterne",instance="a"'
const A = { job: 'poterne', instance: 'a' }
const DAY = 86_400

/** A hundred requests a second are observed: so many are within the bound, and all of them within the next one. */
const latencies = (metric: string, labels: string, bound: string, within: number, next: string): Series => ({
  [`${metric}_bucket{${labels}le="${bound}"}`]: `0+${within * 60}x40`,
  [`${metric}_bucket{${labels}le="${next}"}`]: '0+6000x40',
  [`${metric}_bucket{${labels}le="+Inf"}`]: '0+6000x40',
})
const requests = (status: number, values: string): Series => ({
  [`poterne_http_requests_total{${job},route="/api/v1/auth/login",method="POST",status="${status}"}`]: values,
})
const messages = (gateway: string, outcome: string, values: string): Series => ({
  [`poterne_messages_total{${job},channel="sms",gateway="${gateway}",outcome="${outcome}"}`]: values,
})
const sms = (stage: string, values: string): Series => ({
  [`poterne_sms_funnel_total{${job},gateway="one",country="FR",stage="${stage}"}`]: values,
})
const logins = (outcome: string, values: string): Series => ({
  [`poterne_logins_total{${job},method="password",outcome="${outcome}"}`]: values,
})
const refusals = (limit: string, values: string): Series => ({
  [`poterne_limit_refusals_total{${job},limit="${limit}"}`]: values,
})
const free = (use: string, values: string): Series => ({
  [`poterne_disk_free_bytes{${job},use="${use}"}`]: values,
})
const of = (metric: string, values: string, replica = 'a'): Series => ({
  [`${metric}{job="poterne",instance="${replica}"}`]: values,
})

const examples: Record<string, Example> = {
  PoterneDown: {
    fires: of('up', '1 1 0x5'),
    at: 5,
    labels: A,
    summary: 'poterne on a cannot be scraped',
    quiet: [of('up', '1 0 1 1 0 1'), { 'up{job="another",instance="a"}': '0x10' }],
  },
  PoterneNotReady: {
    fires: of('poterne_ready', '1 1 0x5'),
    at: 5,
    labels: A,
    summary: 'a runs, but is not ready',
    quiet: [of('poterne_ready', '1 0 1 1 0 1')],
  },
  PoterneDiskFull: {
    fires: free('data', `${50 * 1024 * 1024}x10`),
    at: 5,
    labels: { ...A, use: 'data' },
    summary: '50MiB are left on a for data',
    quiet: [free('backups', '2e8x10')],
  },
  PoterneDiskNearlyFull: {
    fires: free('backups', `${512 * 1024 * 1024}x20`),
    at: 15,
    labels: { ...A, use: 'backups' },
    summary: '512MiB are left on a for backups',
    quiet: [free('data', '2e9x20')],
  },
  PoterneErrors: {
    fires: { ...requests(200, '0+90x20'), ...requests(503, '0+10x20') },
    at: 15,
    summary: '10% of the requests end with a 5xx',
    quiet: [
      { ...requests(200, '0+990x20'), ...requests(500, '0+10x20') },
      { ...requests(429, '0+90x20'), ...requests(401, '0+90x20') },
      { ...requests(200, '0+90x20'), ...requests(500, '0 9x20') },
    ],
  },
  PoterneSlow: {
    fires: latencies('poterne_http_request_duration_seconds', 'kind="database",', '0.5', 50, '1'),
    at: 20,
    summary: 'One in a hundred requests without a password takes 990ms',
    quiet: [
      latencies('poterne_http_request_duration_seconds', 'kind="database",', '0.25', 100, '0.5'),
      latencies('poterne_http_request_duration_seconds', 'kind="hash",', '0.5', 50, '1'),
    ],
  },
  PoterneDatabaseSlow: {
    fires: latencies('poterne_database_round_trip_seconds', 'instance="a",', '0.25', 0, '1'),
    at: 20,
    labels: { instance: 'a' },
    summary: 'Statements of a take 992.5ms',
    quiet: [latencies('poterne_database_round_trip_seconds', 'instance="a",', '0.1', 99, '0.25')],
  },
  PoterneRedisSlow: {
    fires: latencies('poterne_redis_round_trip_seconds', 'instance="a",', '0.1', 50, '0.25'),
    at: 20,
    labels: { instance: 'a' },
    summary: 'Calls from a to Redis take 247ms',
    quiet: [latencies('poterne_redis_round_trip_seconds', 'instance="a",', '0.05', 99, '0.1')],
  },
  PoterneMessagesWait: {
    fires: of('poterne_outbox_oldest_seconds', '0+60x10'),
    at: 6,
    summary: 'A message has waited 6m 0s: people get no codes',
    quiet: [of('poterne_outbox_oldest_seconds', '0 30 60 120 0 30 121 0x5')],
  },
  PoterneGatewayFails: {
    fires: { ...messages('one', 'sent', '0+60x40'), ...messages('one', 'failed', '0+60x40') },
    at: 25,
    labels: { channel: 'sms', gateway: 'one' },
    summary: 'one does not take 50% of its messages',
    quiet: [
      { ...messages('one', 'sent', '0+90x40'), ...messages('one', 'refused', '0+10x40') },
      { ...messages('one', 'sent', '0+10x40'), ...messages('', 'replaced', '0+90x40') },
      messages('one', 'sent', '5x40'),
    ],
  },
  PoterneSmsBudgetUsedUp: {
    fires: of('poterne_sms_budget_remaining', '1000 500 50x5'),
    at: 5,
    summary: 'sms.daily_budget is used up: no code goes out by SMS until the day is over',
    quiet: [
      of('poterne_sms_budget_remaining', '1000 500 51x5'),
      of('poterne_sms_budget_remaining', '0x10'),
      of('poterne_sms_budget_remaining', '7 0 10x5'),
    ],
  },
  PoterneSmsRefused: {
    fires: refusals('sms_newcomers_pool', '0+1x30'),
    at: 25,
    labels: { limit: 'sms_newcomers_pool' },
    summary: 'Calls that ask for an SMS are refused by sms_newcomers_pool',
    quiet: [refusals('sms_prefix_hour', '0 3x30'), refusals('code', '0+9x30')],
  },
  PoterneSmsNotVerified: {
    fires: sms('accepted', '0+2x70'),
    at: 60,
    labels: { gateway: 'one', country: 'FR' },
    summary: 'Only 0% of the codes by one to FR are verified',
    quiet: [
      { ...sms('accepted', '0+2x70'), ...sms('verified', '0+1x70') },
      { ...sms('accepted', '0x50 1x20') },
      { ...sms('delivered', '0+2x70') },
    ],
  },
  PoterneHashQueueFull: {
    fires: of('poterne_hash_refused_total', '0+10x20'),
    at: 12,
    labels: { instance: 'a' },
    summary: 'a refuses logins because its processors are busy with passwords',
    quiet: [of('poterne_hash_refused_total', '0+1x20'), of('poterne_hash_refused_total', '0 30x20')],
  },
  PoterneLoginsFail: {
    fires: { ...logins('failure', '0+75x40'), ...logins('success', '0+25x40') },
    at: 25,
    summary: '75% of the logins fail',
    quiet: [
      { ...logins('failure', '0+2x40') },
      { ...logins('failure', '0+75x40'), ...logins('second_factor', '0+80x40') },
      { ...logins('limited', '0+75x40'), ...logins('success', '0+25x40') },
    ],
  },
  PoterneWrongCodes: {
    fires: { [`poterne_codes_total{${job},purpose="two_factor",channel="email",stage="wrong"}`]: '0+120x20' },
    at: 12,
    labels: { purpose: 'two_factor' },
    summary: '120 wrong codes a minute for two_factor',
    quiet: [
      { [`poterne_codes_total{${job},purpose="two_factor",channel="email",stage="verified"}`]: '0+120x20' },
      { [`poterne_codes_total{${job},purpose="two_factor",channel="email",stage="wrong"}`]: '0+50x20' },
    ],
  },
  PoterneRefreshTokensReused: {
    fires: of('poterne_refresh_reuse_total', '0+1x70'),
    at: 60,
    summary: '60 sessions ended in an hour because an old refresh token came back',
    quiet: [of('poterne_refresh_reuse_total', '0x50 5x20'), of('poterne_refresh_reuse_total', '900x70')],
  },
  PoterneHousekeepingStopped: {
    fires: of('poterne_housekeeping_last_success_timestamp_seconds', '0x60'),
    at: 45,
    summary: 'No round of housekeeping has succeeded for 45m 0s',
    quiet: [
      {
        ...of('poterne_housekeeping_last_success_timestamp_seconds', '0x60'),
        ...of('poterne_housekeeping_last_success_timestamp_seconds', '0+60x60', 'b'),
      },
      of('process_start_time_seconds', '1200x60'),
    ],
  },
  PoterneBackupOld: {
    fires: of('poterne_backup_last_success_timestamp_seconds', `${-2 * DAY}x60`),
    at: 30,
    summary: 'The last backup is 2d 0h 30m 0s old',
    quiet: [of('poterne_backup_last_success_timestamp_seconds', `${-DAY}x60`), of('up', '1x60')],
  },
  PoterneBackupFailed: {
    // By one replica, after a backup that another one made.
    fires: {
      ...of('poterne_backup_last_failure_timestamp_seconds', `${DAY}x10`),
      ...of('poterne_backup_last_success_timestamp_seconds', `${DAY / 2}x10`, 'b'),
    },
    at: 5,
    summary: 'The last scheduled backup failed',
    quiet: [
      {
        ...of('poterne_backup_last_failure_timestamp_seconds', `${DAY}x10`),
        ...of('poterne_backup_last_success_timestamp_seconds', `${2 * DAY}x10`, 'b'),
      },
      of('poterne_backup_last_success_timestamp_seconds', `${DAY}x10`),
    ],
  },
  PoterneTransactionsNotFrozen: {
    fires: of('poterne_embedded_transaction_age', '300000000x90'),
    at: 80,
    labels: A,
    summary: 'The oldest transaction of a is 300M transactions old',
    quiet: [of('poterne_embedded_transaction_age', '20000000x90')],
  },
  PoterneDeadRows: {
    fires: of('poterne_embedded_dead_rows', '3000000x90'),
    at: 80,
    labels: A,
    summary: '3M rows of a are gone, but keep their space',
    quiet: [of('poterne_embedded_dead_rows', '1000000x90')],
  },
  PoterneDatabaseLogLong: {
    fires: of('poterne_embedded_log_bytes', `${512 * 1024 * 1024}x60`),
    at: 45,
    labels: A,
    summary: 'A start of a after a crash would read 512MiB',
    quiet: [of('poterne_embedded_log_bytes', '64000000x60')],
  },
  PoternePoolDry: {
    fires: { [`poterne_dry_pools_total{${job},pool="sms_newcomers"}`]: '0+1x20' },
    at: 10,
    labels: { pool: 'sms_newcomers' },
    summary: 'The pool sms_newcomers is used up: people are refused for what strangers ask for',
    quiet: [{ [`poterne_dry_pools_total{${job},pool="sms_newcomers"}`]: '5x20' }],
  },
  PoterneWebhookBehind: {
    fires: { [`poterne_webhook_lag_seconds{${job},endpoint="app"}`]: '0+60x30' },
    at: 15,
    labels: { endpoint: 'app' },
    summary: 'The webhook app was not told for 15m 0s what happens',
    quiet: [{ [`poterne_webhook_lag_seconds{${job},endpoint="app"}`]: '200x30' }],
  },
  PoterneSigningKeyOld: {
    fires: of('poterne_signing_key_age_seconds', `${101 * DAY}x90`),
    at: 80,
    summary: 'The signing key is 101d 0h 0m 0s old, and is replaced after 90 days as a rule',
    quiet: [of('poterne_signing_key_age_seconds', `${91 * DAY}x90`)],
  },
  PoterneLogLinesLost: {
    fires: of('poterne_log_lines_lost_total', '0x5 100x20'),
    at: 10,
    labels: A,
    summary: 'a has lost 100 lines of its log within a quarter of an hour',
    quiet: [of('poterne_log_lines_lost_total', '100x20'), of('poterne_log_lines_lost_total', '0x20')],
  },
  PoterneFileDescriptors: {
    fires: { ...of('process_open_fds', '900x20'), ...of('process_max_fds', '1000x20') },
    at: 10,
    labels: A,
    summary: 'a has 90% of its file descriptors open',
    quiet: [{ ...of('process_open_fds', '700x20'), ...of('process_max_fds', '1000x20') }],
  },
  PoterneRestarts: {
    fires: of('process_start_time_seconds', '0x5 300x5 600x5 900x5'),
    at: 20,
    labels: A,
    summary: 'a was started 3 times in half an hour',
    quiet: [of('process_start_time_seconds', '0x5 300x5 600x15')],
  },
}

type RuleTest = ReturnType<typeof quiet>

const metricsOf = ({ alert_rule_test: [first] }: RuleTest) =>
  new Set(rules.get(first!.alertname)!.expr.match(/\b(?:poterne|process)_\w+|\bup\b/g))

/** promtool evaluates every rule in each of its tests, so alerts that read no metric of each other share one. */
function together(tests: RuleTest[]): RuleTest[] {
  const shared: { metrics: Set<string>; test: RuleTest }[] = []
  for (const test of tests) {
    const metrics = metricsOf(test)
    const place = shared.find((other) => other.metrics.isDisjointFrom(metrics))
    if (place === undefined) shared.push({ metrics, test })
    else {
      place.metrics = place.metrics.union(metrics)
      place.test.input_series.push(...test.input_series)
      place.test.alert_rule_test.push(...test.alert_rule_test)
    }
  }
  return shared.map(({ test }) => test)
}

/** A file of `promtool test rules`; JSON is YAML. */
async function runTests(all: RuleTest[]) {
  const file = join(newDirectory('alert-rules'), 'tests.json')
  const tests = together(all)
  expect(tests.length).toBeLessThan(all.length / 2)
  writeFileSync(file, JSON.stringify({ rule_files: [rulesFile], evaluation_interval: '1m', tests }))
  return promtool(['test', 'rules', file])
}

const inputOf = (series: Series) => Object.entries(series).map(([name, values]) => ({ series: name, values }))

const firing = (alertname: string, { fires, at, labels = {}, summary }: Example): RuleTest => {
  const { labels: own, annotations } = rules.get(alertname)!
  const expected = { exp_labels: { ...labels, ...own }, exp_annotations: { ...annotations, summary } }
  return {
    interval: '1m',
    input_series: inputOf(fires),
    alert_rule_test: [{ alertname, eval_time: `${at}m`, exp_alerts: [expected] }],
  }
}

const quiet = (alertname: string, at: number, series: Series) => ({
  interval: '1m',
  input_series: inputOf(series),
  alert_rule_test: [at - 3, at, at + 5].map((minute) => ({
    alertname,
    eval_time: `${minute}m`,
    exp_alerts: [] as object[],
  })),
})

test('there is an example for every alert', () => {
  expect(Object.keys(examples).sort()).toEqual([...rules.keys()].sort())
})

test('every alert fires where it should, and its summary reads well', async () => {
  const tests = Object.entries(examples).map(([alert, example]) => firing(alert, example))
  expect(await runTests(tests)).toEqual({ code: 0, said: expect.stringContaining('SUCCESS') })
})

test('no alert fires where it should not', async () => {
  const tests = Object.entries(examples).flatMap(([alert, example]) =>
    example.quiet.map((series) => quiet(alert, example.at, series)),
  )
  expect(await runTests(tests)).toEqual({ code: 0, said: expect.stringContaining('SUCCESS') })
})
