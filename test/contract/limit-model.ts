/** The rules of domain/foundation/limits/store.ts in the plainest words: what the stores are compared with. Nothing is stored. */
import type { Charge, Rule } from '../../src/domain/foundation/limits/store.ts'

/** Bucket: `level` takes in it at `atMs`, leaking one each interval. */
type Counter =
  | { kind: 'bucket'; level: number; atMs: number }
  | ({ kind: 'window' } & Window)
  | ({ kind: 'failures'; refusals: number; overMs: number } & Window)

/** The number in the window that ends then. */
type Window = { counted: number; endsMs: number }

function emptyCounter(rule: Rule): Counter {
  if (rule.kind === 'bucket') return { kind: 'bucket', level: 0, atMs: 0 }
  if (rule.kind === 'window') return { kind: 'window', counted: 0, endsMs: 0 }
  return { kind: 'failures', counted: 0, endsMs: 0, refusals: 0, overMs: 0 }
}

interface Evaluation {
  waitMs: number
  count: () => void
}

/** Changes nothing but what the clock's being set back asks for; `count` counts. */
function evaluate(counter: Counter, rule: Rule, nowMs: number): Evaluation {
  if (counter.kind === 'bucket' && rule.kind === 'bucket') return evaluateBucket(counter, rule, nowMs)
  if (counter.kind === 'window' && rule.kind === 'window') {
    const { counted, endsMs } = currentWindow(counter, rule.windowMs, nowMs)
    const waitMs = counted >= rule.count ? endsMs - nowMs : 0
    return { waitMs, count: () => Object.assign(counter, { counted: counted + 1, endsMs }) }
  }
  if (counter.kind === 'failures' && rule.kind === 'failures') return evaluateFailures(counter, rule, nowMs)
  throw new Error('a key belongs to one kind of rule')
}

type Of<Kind, Union> = Extract<Union, { kind: Kind }>

function evaluateBucket(counter: Of<'bucket', Counter>, rule: Of<'bucket', Rule>, nowMs: number): Evaluation {
  counter.atMs = Math.min(counter.atMs, nowMs)
  const level = Math.max(counter.level - (nowMs - counter.atMs) / rule.intervalMs, 0)
  const waitMs = Math.max(Math.round((level - (rule.burst - 1)) * rule.intervalMs), 0)
  return { waitMs, count: () => Object.assign(counter, { level: level + 1, atMs: nowMs }) }
}

function evaluateFailures(
  counter: Of<'failures', Counter>,
  rule: Of<'failures', Rule>,
  nowMs: number,
): Evaluation {
  const refusalMs = (number: number) => Math.min(rule.refusalMs * 2 ** (number - 1), rule.maximumMs)
  if (counter.refusals > 0) counter.overMs = Math.min(counter.overMs, nowMs + refusalMs(counter.refusals))

  const isQuiet = counter.refusals > 0 && nowMs >= counter.overMs + rule.windowMs
  const refusals = isQuiet ? 0 : counter.refusals
  const { counted, endsMs } = isQuiet
    ? { counted: 0, endsMs: nowMs + rule.windowMs }
    : currentWindow(counter, rule.windowMs, nowMs)
  const count = () => {
    Object.assign(counter, { refusals, counted: counted + 1, endsMs })
    if (refusals === 0 && counted + 1 < rule.count) return
    Object.assign(counter, { refusals: refusals + 1, counted: 0, overMs: nowMs + refusalMs(refusals + 1) })
  }
  return { waitMs: refusals > 0 ? Math.max(counter.overMs - nowMs, 0) : 0, count }
}

/** A window further ahead than its length was begun before the clock was set back: it ends a length from now. */
function currentWindow(counter: Window, windowMs: number, nowMs: number): Window {
  counter.endsMs = Math.min(counter.endsMs, nowMs + windowMs)
  const { counted, endsMs } = counter
  return counted > 0 && endsMs > nowMs ? { counted, endsMs } : { counted: 0, endsMs: nowMs + windowMs }
}

export function createLimitModel() {
  const counters = new Map<string, Counter>()
  return {
    charge(charges: Charge[], nowMs: number): number {
      const evaluations = charges.map(({ key, rule }) => {
        const counter = counters.get(key) ?? emptyCounter(rule)
        counters.set(key, counter)
        return evaluate(counter, rule, nowMs)
      })
      const waitMs = Math.max(0, ...evaluations.map((evaluation) => evaluation.waitMs))
      if (waitMs === 0) for (const { count } of evaluations) count()
      return waitMs
    },
    /** Returns what `charge` would return then. */
    nextMs(charges: Charge[], nowMs: number): number {
      const evaluations = charges.map(({ key, rule }) =>
        evaluate({ ...(counters.get(key) ?? emptyCounter(rule)) }, rule, nowMs),
      )
      return Math.max(0, ...evaluations.map(({ waitMs }) => waitMs))
    },
    clear(keys: string[]): void {
      for (const key of keys) counters.delete(key)
    },
  }
}
