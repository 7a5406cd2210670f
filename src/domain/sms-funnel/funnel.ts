/**
 * What became of SMS, counted by gateway and country: asked for, handed over, accepted, delivered, verified. The
 * counts of each second are added to the database together, so that all replicas share them; a crash loses at most
 * one second. The funnel also guards against SMS pumping: a prefix of numbers whose codes are hardly ever verified is
 * closed to strangers for a day.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { causeOf } from '../../platform/cause.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import { daysBefore } from '../../platform/postgres/sweep.ts'
import type { CodePurpose } from '../codes/store.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { TellOperator } from '../outbox/operator-notices.ts'
import type { Breaker } from '../senders/breaker.ts'
import type { PrefixCount, SmsFunnelStore, Stage, StageCount } from './store.ts'

export interface Funnel {
  count(stage: Stage, to: string, gateway?: string): void
  /** A gateway took a code. */
  codeSent(to: string): void
  /** A code was right. Never throws, and is not waited for. */
  verified(code: { subject: string; purpose: CodePurpose; destination: string }): void
  /** Until when strangers get no code at this number; null if they do. */
  closedUntil(to: string): Date | null
  /** The counts of the last days, today included. */
  report(days: number): Promise<StageCount[]>
  /** Adds what was counted since the last time. Never throws. */
  flush(): Promise<void>
  /** Puts the gateways last of whose codes too few are verified (`sms.minimum_conversion`). */
  judgeConversions(): Promise<void>
  start(): void
  close(): Promise<void>
}

interface Options {
  store: SmsFunnelStore
  breaker: Breaker
  clock: Clock
  logger: { warn(fields: object, message: string): void }
  config: Pick<Config, 'sms' | 'codes'>
  metrics: Pick<Metrics, 'count'>
  tellOperator?: TellOperator | undefined
}

const FLUSH_MS = 1000
/** How often the closed prefixes and the conversions are read again, in flushes. */
const REFRESH_EVERY = 5
const CONVERSION_EVERY = 30
/** To look at the messages of a prefix takes long. */
const JUDGED_AGAIN_MS = 60_000
/** The plus sign and seven digits. */
const PREFIX_LENGTH = 8
/** The conversion of fewer codes means nothing. */
const LEAST_CODES = 200

export const prefixOf = (to: string): string => to.slice(0, PREFIX_LENGTH)

export function createFunnel(options: Options): Funnel {
  const { store, breaker, clock, logger, config, metrics, tellOperator } = options
  const { minimumConversion, pumpingGuard, gateways } = config.sms
  const { lifetimeSeconds } = config.codes
  /** A prefix that was looked at closely is not looked at again until then. */
  const judgedAgainAt = new Map<string, Date>()
  let counts = new Map<string, StageCount>()
  let prefixes = new Map<string, PrefixCount>()
  let closed = new Map<string, Date>()
  const underWay = new Set<Promise<void>>()
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

  function countPrefix(to: string, what: 'codes' | 'verified'): void {
    const prefix = prefixOf(to)
    const counted = prefixes.get(prefix) ?? { prefix, codes: 0, verified: 0 }
    counted[what]++
    prefixes.set(prefix, counted)
  }

  /** What could not be added is counted again with the next ones. */
  async function flush(): Promise<void> {
    const [taken, takenPrefixes] = [counts, prefixes]
    counts = new Map()
    prefixes = new Map()
    const now = clock.now()
    try {
      if (taken.size > 0) await store.addCounts([...taken.values()], now)
      taken.clear()
      if (takenPrefixes.size > 0) await addPrefixes([...takenPrefixes.values()], now)
    } catch (error) {
      for (const each of taken.values()) add(each)
      logger.warn({ cause: causeOf(error) }, 'the counts of SMS could not be recorded')
    }
  }

  async function addPrefixes(added: PrefixCount[], now: Date): Promise<void> {
    await store.addPrefixes(added, now)
    if (!pumpingGuard) return
    const due = added.map(({ prefix }) => prefix).filter((prefix) => !(judgedAgainAt.get(prefix)! > now))
    if (due.length === 0) return
    const judged = await store.closePrefixes(due, lifetimeSeconds, now)
    for (const prefix of due) judgedAgainAt.delete(prefix)
    for (const { prefix } of judged) judgedAgainAt.set(prefix, new Date(now.getTime() + JUDGED_AGAIN_MS))
    const newlyClosed = judged.filter(({ isClosed }) => isClosed)
    for (const { prefix, codes, verified } of newlyClosed) {
      logger.warn(
        { prefix, codes, verified },
        'a prefix of numbers is closed to strangers for a day: hardly any code sent there is verified',
      )
      tellOperator?.('operator_prefix_closed', prefix)
    }
    if (newlyClosed.length > 0) await refreshClosed()
  }

  async function applyEarlyReceipts(): Promise<void> {
    for (const { receipt, destination, gateway } of await store.applyEarlyReceipts())
      count(receipt, destination, gateway)
  }

  async function refreshClosed(): Promise<void> {
    if (!pumpingGuard) return
    const rows = await store.closedPrefixes(clock.now())
    closed = new Map(rows.map(({ prefix, closedUntil }) => [prefix, closedUntil]))
  }

  /** A gateway whose codes do not arrive is asked last, however politely it accepts them. */
  async function judgeConversions(): Promise<void> {
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
      if (flushes % REFRESH_EVERY === 1) await Promise.all([refreshClosed(), applyEarlyReceipts()])
      if (flushes % CONVERSION_EVERY === 1) await judgeConversions()
    } catch (error) {
      logger.warn({ cause: causeOf(error) }, 'the counts of SMS could not be read')
    }
  }

  function run(work: () => Promise<void>): void {
    const running = work().finally(() => underWay.delete(running))
    underWay.add(running)
  }

  return {
    count,
    codeSent: (to) => countPrefix(to, 'codes'),
    verified({ subject, purpose, destination }) {
      if (!destination.startsWith('+')) return
      run(async () => {
        try {
          const sent = await store.markVerified({ subject, purpose }, clock.now())
          if (sent === null) return
          count('verified', sent.destination, sent.gateway)
          countPrefix(sent.destination, 'verified')
        } catch (error) {
          logger.warn({ cause: causeOf(error) }, 'a verified code could not be recorded')
        }
      })
    },
    closedUntil(to) {
      const until = pumpingGuard ? closed.get(prefixOf(to)) : undefined
      return until !== undefined && until > clock.now() ? until : null
    },
    report: (days) => store.report(daysBefore(clock.now(), days - 1)),
    flush,
    judgeConversions,
    start() {
      timer = setInterval(() => {
        if (underWay.size < 100) run(round)
      }, FLUSH_MS)
    },
    async close() {
      clearInterval(timer)
      await Promise.all(underWay)
      await flush()
    },
  }
}
