/** The rules of counters, and the counters of the networks that an address is in. */
import { networksOf } from '../../../platform/http/client-address.ts'
import type { ChargeKey, NamedCharge } from './counter-names.ts'
import type { Rule } from './store.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Keyed, so that no identifier, address or number stands in a counter's name. */
export type CounterTag = (...parts: string[]) => string

export const window = (count: number, windowMs: number) =>
  ({ kind: 'window', count, windowMs }) satisfies Rule
export const bucket = (burst: number, intervalMs: number): Rule => ({ kind: 'bucket', burst, intervalMs })

export const inHour = (key: ChargeKey, count: number): NamedCharge => ({ key, rule: window(count, HOUR_MS) })
export const inDay = (key: ChargeKey, count: number): NamedCharge => ({ key, rule: window(count, DAY_MS) })

export type ByAddress = (name: ChargeKey, addressBucket: string, rule: Rule) => NamedCharge[]

/** One counter for each network that the address is in; wider ones admit more. */
export const createByAddress =
  (tag: CounterTag): ByAddress =>
  (name, addressBucket, rule) =>
    networksOf(addressBucket).map(({ network, times }) => ({
      key: `${name}:${tag('network', network)}`,
      rule: multiplied(rule, times),
    }))

/** So many an hour by the address that they come from, a burst of them at once. */
export const createInBursts =
  (byAddress: ByAddress) =>
  (name: 'register' | 'code-requests', addressBucket: string, burst: number, perHour: number) => [
    ...byAddress(name, addressBucket, bucket(burst, HOUR_MS / perHour)),
    ...byAddress(`${name}-in-hour`, addressBucket, window(perHour, HOUR_MS)),
  ]

function multiplied(rule: Rule, times: number): Rule {
  if (rule.kind !== 'bucket') return { ...rule, count: rule.count * times }
  return { ...rule, burst: rule.burst * times, intervalMs: rule.intervalMs / times }
}
