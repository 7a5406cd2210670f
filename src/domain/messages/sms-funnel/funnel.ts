/**
 * The counts of SMS by gateway and country: asked for, given up, handed over, accepted, delivered, verified. The counts
 * of each second are added to the database together, so that all replicas share them, and the codes that were right in it
 * are noted at their messages, e-mails too; a crash loses at most one second.
 * A gateway whose codes are hardly ever verified is asked last, and a prefix of numbers is closed.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import { causeOf } from '../../../platform/failure.ts'
import { daysBefore } from '../../../platform/postgres/sweep.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { TellOperator } from '../outbox/operator-notices.ts'
import type { Breaker } from '../senders/breaker.ts'
import type { SmsClosingStore } from './closing-store.ts'
import { createPrefixes } from './prefixes.ts'
import type { SmsFunnelStore, Stage, StageCount, TypedCode } from './store.ts'

interface Options {
  store: SmsFunnelStore
  closings: Pick<SmsClosingStore, 'list'>
  breaker: Breaker
  clock: Clock
  logger: { warn(fields: object, message: string): void }
  config: Pick<Config, 'sms' | 'codes'>
  metrics: Pick<Metrics, 'count'>
  tellOperator?: TellOperator | undefined
}

const FLUSH_MS = 1000
/** The number of flushes after which the closed prefixes and the conversions are read again. */
const REFRESH_EVERY = 5
const CONVERSION_EVERY = 30
/** The conversion of fewer codes means nothing. */
const LEAST_CODES = 200

export type Funnel = ReturnType<typeof createFunnel>

export function createFunnel(options: Options) {
  const { store, breaker, clock, logger, config, metrics, tellOperator } = options
  const { minimumConversion, gateways } = config.sms
  const { lifetimeSeconds } = config.codes
  let counts = new Map<string, StageCount>()
  let typed: TypedCode[] = []
  const prefixes = createPrefixes(options)
  let flushing = Promise.resolve()
  let underWay: Promise<void> | null = null
  let timer: Timer | undefined
  let flushes = 0

  function add(added: StageCount): void {
    const key = `${added.gateway} ${added.country} ${added.stage}`
    counts.set(key, { ...added, count: (counts.get(key)?.count ?? 0) + added.count })
  }

  function count(stage: Stage, to: string, gateway = ''): void {
    const country = parsePhoneNumberFromString(to)?.country ?? ''
    add({ gateway, country, stage, count: 1 })
    metrics.count('sms_funnel_total', { gateway, country, stage })
  }

  /** What could not be noted is noted with the next ones. */
  async function noteVerified(): Promise<void> {
    const taken = typed
    typed = []
    if (taken.length === 0) return
    try {
      for (const { gateway, destination } of await store.markVerified(taken)) {
        if (gateway === null) continue
        count('verified', destination, gateway)
        prefixes.count(destination, 'verified')
      }
    } catch (error) {
      typed = [...taken, ...typed]
      logger.warn({ cause: causeOf(error) }, 'verified codes could not be recorded')
    }
  }

  /** Counts that could not be added are added with the next ones. */
  async function flushOnce(): Promise<void> {
    await noteVerified()
    const taken = counts
    counts = new Map()
    const now = clock.now()
    try {
      if (taken.size > 0) await store.addCounts([...taken.values()], now)
      taken.clear()
      await prefixes.flush(now)
    } catch (error) {
      for (const each of taken.values()) add(each)
      logger.warn({ cause: causeOf(error) }, 'the counts of SMS could not be recorded')
    }
  }

  /** One after the other: what was counted until now is in the database when it resolves. */
  const flush = (): Promise<void> => {
    flushing = flushing.then(flushOnce)
    return flushing
  }

  async function applyEarlyReceipts(): Promise<void> {
    for (const { receipt, destination, gateway } of await store.applyEarlyReceipts())
      count(receipt, destination, gateway)
  }

  /** A gateway whose codes do not arrive is asked last, however politely it accepts them. */
  async function checkConversions(): Promise<void> {
    if (minimumConversion === 0) return
    for (const { name } of gateways) {
      const { codes, verified } = await store.conversion(name, lifetimeSeconds, clock.now())
      if (codes >= LEAST_CODES && verified * 100 < minimumConversion * codes) {
        breaker.suspend(name)
        logger.warn({ gateway: name, codes, verified }, 'too few codes of a gateway are verified')
        tellOperator?.('operator_gateway_suspended', name)
      }
    }
  }

  async function round(): Promise<void> {
    await flush()
    flushes++
    try {
      if (flushes % REFRESH_EVERY === 1) await Promise.all([prefixes.refresh(), applyEarlyReceipts()])
      if (flushes % CONVERSION_EVERY === 1) await checkConversions()
    } catch (error) {
      logger.warn({ cause: causeOf(error) }, 'the counts of SMS could not be read')
    }
  }

  return {
    count,
    /** A gateway took a code. */
    codeSent: (to: string): void => prefixes.count(to, 'codes'),
    /** A code was right: it is noted at its message within a second. */
    verified({ subject, owner, purpose, destination }: Omit<TypedCode, 'at'>): void {
      typed.push({ subject, owner, purpose, destination, at: clock.now() })
    },
    /** See prefixes.ts. */
    closedBy: prefixes.closedBy,
    /** Reads at once what is closed. The other replicas do within some seconds. */
    refreshClosed: prefixes.refresh,
    countClosed: prefixes.countClosed,
    /** The counts of the last days, today included. */
    report: (days: number): Promise<StageCount[]> => store.report(daysBefore(clock.now(), days - 1)),
    /** Adds what was counted since the last time. Never throws. */
    flush,
    /** Puts the gateways last of whose codes too few are verified (`sms.minimum_conversion`). */
    checkConversions,
    start(): void {
      timer = setInterval(() => {
        underWay ??= round().finally(() => {
          underWay = null
        })
      }, FLUSH_MS)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      await underWay
      await flush()
    },
  }
}
