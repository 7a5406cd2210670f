/** The rules of core/limits/store.ts in the plainest words: what the stores are compared with. Nothing is stored. */
import type { Charge, Rule } from '../../src/domain/limits/store.ts'

/** Bucket: `level` takes in it at `atMs`, leaking one each interval. */
type Counter =
  | { kind: 'bucket'; level: number; atMs: number }
  | { kind: 'window'; takes: number[] }
  | { kind: 'failures'; tries: number[]; refusals: number; overMs: number }

function emptyCounter(rule: Rule): Counter {
  if (rule.kind === 'bucket') return { kind: 'bucket', level: 0, atMs: 0 }
  if (rule.kind === 'window') return { kind: 'window', takes: [] }
  return { kind: 'failures', tries: [], refusals: 0, overMs: 0 }
}

interface Verdict {
  waitMs: number
  count: () => void
}

/** Changes nothing but what the clock's being set back asks for; `count` counts. */
function judge(counter: Counter, rule: Rule, nowMs: number): Verdict {
  if (counter.kind === 'bucket' && rule.kind === 'bucket') return judgeBucket(counter, rule, nowMs)
  if (counter.kind === 'window' && rule.kind === 'window') {
    counter.takes = countedJustNow(counter.takes, rule.windowMs, nowMs)
    const takes = recent(counter.takes, rule.windowMs, nowMs)
    const blocking = takes.at(-rule.count)
    const waitMs = blocking === undefined ? 0 : blocking + rule.windowMs - nowMs
    return { waitMs, count: () => Object.assign(counter, { takes: [...takes, nowMs] }) }
  }
  if (counter.kind === 'failures' && rule.kind === 'failures') return judgeFailures(counter, rule, nowMs)
  throw new Error('a key belongs to one kind of rule')
}

type Of<Kind, Union> = Extract<Union, { kind: Kind }>

function judgeBucket(counter: Of<'bucket', Counter>, rule: Of<'bucket', Rule>, nowMs: number): Verdict {
  counter.atMs = Math.min(counter.atMs, nowMs)
  const level = Math.max(counter.level - (nowMs - counter.atMs) / rule.intervalMs, 0)
  const waitMs = Math.max(Math.round((level - (rule.burst - 1)) * rule.intervalMs), 0)
  return { waitMs, count: () => Object.assign(counter, { level: level + 1, atMs: nowMs }) }
}

function judgeFailures(counter: Of<'failures', Counter>, rule: Of<'failures', Rule>, nowMs: number): Verdict {
  const refusalMs = (number: number) => Math.min(rule.refusalMs * 2 ** (number - 1), rule.maximumMs)
  if (counter.refusals > 0) counter.overMs = Math.min(counter.overMs, nowMs + refusalMs(counter.refusals))
  else counter.tries = countedJustNow(counter.tries, rule.windowMs, nowMs)

  const isQuiet = counter.refusals > 0 && nowMs >= counter.overMs + rule.windowMs
  const refusals = isQuiet ? 0 : counter.refusals
  const tries = isQuiet ? [] : recent(counter.tries, rule.windowMs, nowMs)
  const count = () => {
    Object.assign(counter, { refusals, tries: [...tries, nowMs] })
    if (refusals === 0 && tries.length + 1 < rule.count) return
    Object.assign(counter, { refusals: refusals + 1, tries: [], overMs: nowMs + refusalMs(refusals + 1) })
  }
  return { waitMs: refusals > 0 ? Math.max(counter.overMs - nowMs, 0) : 0, count }
}

function recent(times: number[], windowMs: number, nowMs: number): number[] {
  return times.filter((time) => time + windowMs > nowMs)
}

function countedJustNow(times: number[], windowMs: number, nowMs: number): number[] {
  if (times.every((time) => time <= nowMs)) return times
  return recent(times, windowMs, nowMs).map((time) => Math.min(time, nowMs))
}

export function createLimitModel() {
  const counters = new Map<string, Counter>()
  return {
    charge(charges: Charge[], nowMs: number): number {
      const verdicts = charges.map(({ key, rule }) => {
        const counter = counters.get(key) ?? emptyCounter(rule)
        counters.set(key, counter)
        return judge(counter, rule, nowMs)
      })
      const waitMs = Math.max(0, ...verdicts.map((verdict) => verdict.waitMs))
      if (waitMs === 0) for (const { count } of verdicts) count()
      return waitMs
    },
    clear(keys: string[]): void {
      for (const key of keys) counters.delete(key)
    },
  }
}
