/** Services count here what happens. Without `metrics.listen` nothing is kept, and every call returns at once. */
import type {
  CounterName,
  counters,
  GaugeName,
  HistogramName,
  histograms,
  LabelArguments,
} from './definitions.ts'

/** It is null if it is not known now, so that nothing is exposed. */
export type GaugeReading = number | null | { labels: Record<string, string>; value: number }[]

export interface Metrics {
  /** If it is false, work that serves only a measurement is left out. */
  readonly isOn: boolean
  count<Name extends CounterName>(name: Name, ...labels: LabelArguments<(typeof counters)[Name]>): void
  observe<Name extends HistogramName>(
    name: Name,
    seconds: number,
    ...labels: LabelArguments<(typeof histograms)[Name]>
  ): void
  /** `read` is called for each scrape. A reading that fails, or takes longer than a second, is left out. */
  gauge(name: GaugeName, read: () => GaugeReading | Promise<GaugeReading>): void
  /** The answer to a scrape, in the format that the Accept header asks for. */
  expose(accept: string | null): Promise<{ contentType: string; text: string }>
}

export const noMetrics: Metrics = {
  isOn: false,
  count() {},
  observe() {},
  gauge() {},
  expose: async () => ({ contentType: 'text/plain; charset=utf-8', text: '' }),
}
