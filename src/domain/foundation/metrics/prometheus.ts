/**
 * The metrics as Prometheus reads them. prom-client writes both formats and measures the standard `process_*`; the cells
 * are our own. This module is loaded only where `metrics.listen` is set.
 */
import { type Metric, type OpenMetricsContentType, Registry } from 'prom-client'
import memory from 'prom-client/lib/metrics/osMemoryHeap.js'
import cpu from 'prom-client/lib/metrics/processCpuTotal.js'
import maxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js'
import openFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js'
import startTime from 'prom-client/lib/metrics/processStartTime.js'
import { within } from '../../../platform/waiting.ts'
import {
  type Cells,
  type CounterCell,
  createCells,
  type HistogramCell,
  type Labels,
  observeIn,
} from './cells.ts'
import {
  type CounterDefinition,
  type CounterName,
  counters,
  type Definition,
  type GaugeName,
  gauges,
  type HistogramDefinition,
  type HistogramName,
  histograms,
} from './definitions.ts'
import type { GaugeReading, Metrics } from './metrics.ts'

const PREFIX = 'poterne_'
const READING_TIMEOUT_MS = 1000

type Read = () => GaugeReading | Promise<GaugeReading>

interface Observed {
  buckets: readonly number[]
  cells: Cells<HistogramCell>
}

/** One line of a scrape. */
interface Sample {
  metricName?: string
  labels: Labels
  value: number
}

export function createPrometheusMetrics(): Metrics {
  const counted = mapValues<CounterName, CounterDefinition, Cells<CounterCell>>(
    counters,
    ({ labels = [], bound }) => createCells<CounterCell>(labels, (own) => ({ labels: own, value: 0 }), bound),
  )
  const observed = mapValues<HistogramName, HistogramDefinition, Observed>(
    histograms,
    ({ labels = [], buckets }) => ({
      buckets,
      cells: createCells<HistogramCell>(labels, (own) => ({
        labels: own,
        counts: new Array<number>(buckets.length + 1).fill(0),
        sum: 0,
      })),
    }),
  )
  const readings = new Map<GaugeName, Read>()

  /** Each format has metrics of its own: prom-client renames the counters of OpenMetrics for good. */
  function addTo(registry: Registry<never>): void {
    for (const addDefault of [cpu, startTime, memory, openFileDescriptors, maxFileDescriptors])
      addDefault(registry)
    const add = (name: string, type: string, help: string, read: () => Sample[] | Promise<Sample[]>) => {
      const metric = {
        name: PREFIX + name,
        help,
        type,
        get: async () => ({ name: metric.name, help, type, aggregator: 'sum', values: await read() }),
      }
      registry.registerMetric(metric as unknown as Metric)
    }
    for (const [name, cells] of entriesOf(counted)) add(name, 'counter', counters[name].help, cells.all)
    for (const [name, { buckets, cells }] of entriesOf(observed))
      add(name, 'histogram', histograms[name].help, () =>
        cells.all().flatMap((cell) => samplesOf(PREFIX + name, buckets, cell)),
      )
    for (const [name, { help }] of entriesOf<GaugeName, Definition>(gauges))
      add(name, name.endsWith('_total') ? 'counter' : 'gauge', help, () =>
        readWithin(READING_TIMEOUT_MS, readings.get(name)),
      )
  }
  const plain = new Registry()
  const open = new Registry<OpenMetricsContentType>()
  open.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  for (const registry of [plain, open]) addTo(registry as Registry<never>)

  return {
    isOn: true,
    count: (name, ...[labels = {}]: [Labels?]) => {
      counted[name].of(labels).value++
    },
    observe: (name, seconds, ...[labels = {}]: [Labels?]) => {
      const { buckets, cells } = observed[name]
      observeIn(cells.of(labels), buckets, seconds)
    },
    gauge: (name, read) => {
      readings.set(name, read)
    },
    async expose(accept) {
      const registry = prefersOpenMetrics(accept ?? '') ? open : plain
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

/** Prometheus names both formats, each with its weight. OpenMetrics wins if they weigh the same. */
function prefersOpenMetrics(accept: string): boolean {
  const weightOf = (type: string) =>
    Math.max(
      0,
      ...accept
        .toLowerCase()
        .split(',')
        .filter((each) => each.split(';', 1)[0]?.trim() === type)
        .map((each) => Number(/;\s*q=([\d.]+)/.exec(each)?.[1] ?? 1)),
    )
  const weight = weightOf('application/openmetrics-text')
  return weight > 0 && weight >= weightOf('text/plain')
}

/** Buckets hold what the smaller ones hold too. */
function samplesOf(
  name: string,
  buckets: readonly number[],
  { labels, counts, sum }: HistogramCell,
): Sample[] {
  let count = 0
  const bounds = [...buckets.map(String), '+Inf']
  const cumulated = bounds.map((le, i) => {
    count += counts[i] as number
    return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count }
  })
  return [
    ...cumulated,
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  ]
}

/** Nothing, where it is not known, fails or takes too long. */
async function readWithin(ms: number, read: Read | undefined): Promise<Sample[]> {
  if (read === undefined) return []
  try {
    const reading = await within(ms, Promise.resolve(read()), null)
    return typeof reading === 'number' ? [{ labels: {}, value: reading }] : (reading ?? [])
  } catch {
    return []
  }
}

const entriesOf = <Key extends string, Value>(record: Record<Key, Value>) =>
  Object.entries(record) as [Key, Value][]

const mapValues = <Key extends string, Value, Result>(
  record: Record<Key, Value>,
  map: (value: Value) => Result,
) => Object.fromEntries(entriesOf(record).map(([key, value]) => [key, map(value)])) as Record<Key, Result>
