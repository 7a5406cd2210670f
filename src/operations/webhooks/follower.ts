/**
 * Tells one endpoint of its events, while this process holds it: in the order of the log, at most eight requests
 * at a time and never two about one account. What fails is set aside and holds up nothing. After five failures in a row the
 * endpoint is away, and gets one request at a time.
 */
import type { EventStore, StoredEvent } from '../../domain/foundation/events/store.ts'
import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { WebhookConfig } from '../../platform/config/types.ts'
import { causeOf } from '../../platform/failure.ts'
import type { Ground } from '../../platform/ground.ts'
import { delayWhileAwayMs, FAILURES_UNTIL_AWAY, within } from '../../platform/waiting.ts'
import { toldTypes } from '../../texts/event-types.ts'
import { createAside, type Retry } from './aside.ts'
import type { Deliver } from './delivery.ts'
import type { Reports } from './reports.ts'
import type { HeldEndpoint, WebhookStore } from './store.ts'
import { accountOf, createWindow, type HeldEvent } from './window.ts'

interface Needs extends Pick<Ground, 'clock' | 'logger'> {
  holder: string
  stores: { webhooks: WebhookStore; events: Pick<EventStore, 'follow'> }
  deliver: Deliver
  reports: Reports
  metrics: Pick<Metrics, 'count'>
  /** Given where nobody can wait as long as an endpoint that is away is waited for. */
  awayDelayMs?: (tries: number) => number
}

/** With the two seconds between two looks of the others, a process that died is replaced within 10 s. */
export const LEASE_MS = 6000
const RENEW_MS = 2000
const SAVE_MS = 200
/** The requests under way at once, and those of them that may be about what was set aside. */
const MOST_REQUESTS = 8
const MOST_RETRIES = 2
/** Fewer events are not worth a look at the log or a write of the position, while there is other work. */
const BATCH = 50
/**
 * A look at the log asks about so many ids, and after a look that found little about twice as many as that one: without
 * statistics PostgreSQL sorts all that it is asked about.
 */
const LEAST_IDS = 1000

type Outcome = Awaited<ReturnType<Deliver>>
/** It gives false where the failure counts for nothing, since the endpoint is away. */
type Settle = (outcome: Outcome) => Promise<unknown>

/** What this process knows of an endpoint that it holds by a lease which began then. */
const newHolding = ({ position, awaySince, lastAcceptedAt }: HeldEndpoint, beganMs: number) => ({
  window: createWindow(position),
  /** The stored position. */
  saved: position,
  savedAtMs: beganMs,
  mustSave: false,
  idsAtOnce: LEAST_IDS,
  /** By the clock of the process that only goes forward. */
  leaseEndsMs: beganMs + LEASE_MS,
  awaySince,
  lastAcceptedAt,
  failuresInRow: 0,
  /** While the endpoint is away: its requests, and those of them about what was set aside. */
  ...{ tries: 0, triesAside: 0, nextTryAtMs: 0 },
  /** The accounts about which something was set aside while the log was being read. */
  asideMeanwhile: new Set<string>(),
})
type Holding = ReturnType<typeof newHolding>

export type Follower = ReturnType<typeof createFollower>

export function createFollower(webhook: WebhookConfig, needs: Needs) {
  const { holder, stores, deliver, reports, metrics, clock, awayDelayMs = delayWhileAwayMs } = needs
  const { name } = webhook
  const types = toldTypes(webhook.events)
  const ending = new AbortController()
  const aside = createAside(name, { ...needs, ending: ending.signal })
  let holding: Holding | null = null
  let settled = 0
  /** The accounts about which a request is under way. */
  const busy = new Set<string>()
  const underWay = new Map<Promise<void>, 'log' | 'aside'>()
  let looksForDue = false
  let running: Promise<void> | null = null
  let runsAgain = false
  let closing = false
  let timer: Timer | undefined

  const isHeld = (held: Holding) => held === holding && !closing && performance.now() < held.leaseEndsMs

  function begin(held: Holding, kind: 'log' | 'aside', event: StoredEvent, settle: Settle): void {
    const account = accountOf(event)
    busy.add(account)
    const work = tell(held, event, settle)
      // The account could not be read: the event comes again once this process holds the endpoint anew.
      .catch((error) => {
        reports.databaseAway(causeOf(error))
        if (held === holding) holding = null
      })
      .finally(() => {
        underWay.delete(work)
        busy.delete(account)
        if (holding !== null) fill(holding)
        void advance()
      })
    underWay.set(work, kind)
  }

  async function tell(held: Holding, event: StoredEvent, settle: Settle): Promise<void> {
    const outcome = await deliver(webhook, event, ending.signal)
    if (ending.signal.aborted && !outcome.accepted) return
    metrics.count('webhook_deliveries_total', {
      endpoint: name,
      outcome: outcome.accepted ? 'accepted' : 'failed',
    })
    if (held === holding) await settle(outcome)
  }

  /** Begins what may begin without a look at the database. */
  function fill(held: Holding): void {
    while (isHeld(held) && held.awaySince === null && underWay.size < MOST_REQUESTS) {
      const next = held.window.next(busy)
      if (next === undefined) return
      beginHeld(held, next)
    }
  }

  function beginHeld(held: Holding, entry: HeldEvent): void {
    entry.state = 'sending'
    begin(held, 'log', entry.event, async (outcome) => {
      if (outcome.accepted) {
        entry.state = 'done'
        return noteAccepted(held)
      }
      if (noteFailure(held)) {
        held.asideMeanwhile.add(entry.account)
        const behind = held.window.waitingAbout(new Set([entry.account]))
        return putAside([entry, ...behind], (unsent) =>
          aside.put(unsent.slice(1), { event: entry.event, failure: outcome }),
        )
      }
      entry.state = 'waiting'
      entry.probes += 1
      // As many are held as may be, and the log goes on: what comes after them has its turn.
      const isFull = held.window.room() === 0 && held.window.readTo() < settled
      if (isFull) await putAside(held.window.waitingAbout(new Set([entry.account])), aside.put)
    })
  }

  async function putAside(entries: HeldEvent[], put: (events: StoredEvent[]) => Promise<boolean>) {
    for (const entry of entries) entry.state = 'sending'
    if (!(await put(entries.map(({ event }) => event)))) return
    for (const entry of entries) entry.state = 'done'
    looksForDue = true
  }

  function beginRetry(held: Holding, retry: Retry): void {
    begin(held, 'aside', retry.event, async (outcome) => {
      if (!outcome.accepted) return noteFailure(held) && aside.postpone(retry, outcome)
      await aside.finish(retry)
      return noteAccepted(held)
    })
  }

  async function noteAccepted(held: Holding): Promise<void> {
    held.failuresInRow = 0
    held.lastAcceptedAt = clock.now()
    if (held.awaySince === null) return
    held.awaySince = null
    held.mustSave = true
    reports.awayEnded()
    await aside.makeAllDue()
    looksForDue = true
  }

  /** It returns false where the endpoint was away already: then the failure counts for nothing else. */
  function noteFailure(held: Holding): boolean {
    held.failuresInRow += 1
    if (held.awaySince !== null) return false
    if (held.failuresInRow < FAILURES_UNTIL_AWAY) return true
    const nextTryAtMs = performance.now() + awayDelayMs(0)
    Object.assign(held, { awaySince: clock.now(), mustSave: true, tries: 0, triesAside: 0, nextTryAtMs })
    reports.awayBegan()
    return true
  }

  async function readLog(held: Holding): Promise<void> {
    const { window } = held
    const isWorthIt = () =>
      window.room() >= BATCH || (window.room() > 0 && (window.isIdle() || held.awaySince !== null))
    while (isHeld(held) && window.readTo() < settled && isWorthIt()) {
      await readBatch(held, window.room())
      fill(held)
      await saveIfDue(held)
    }
    // Nobody waits for the slow requests about one account for longer than one of them takes.
    const isFull = window.room() < BATCH && window.readTo() < settled
    const behind = isFull ? window.waitingAbout(busy) : []
    if (behind.length > 0) await putAside(behind, aside.put)
  }

  async function readBatch(held: Holding, room: number): Promise<void> {
    const { window } = held
    const upTo = Math.min(settled, window.readTo() + held.idsAtOnce)
    held.asideMeanwhile.clear()
    const found = await stores.events.follow({ types }, window.readTo(), upTo, room)
    held.idsAtOnce = found.length < room ? held.idsAtOnce * 2 : LEAST_IDS
    const known = await aside.accountsAmong(found)
    const surplus = new Set(window.surplusOf(found, known.union(held.asideMeanwhile)))
    if (surplus.size > 0 && !(await aside.put([...surplus]))) return
    looksForDue ||= surplus.size > 0
    window.take(
      found.filter((event) => !surplus.has(event)),
      found.length < room ? upTo : (found.at(-1) as StoredEvent).id,
    )
  }

  async function beginDue(held: Holding): Promise<void> {
    while (looksForDue && isHeld(held) && held.awaySince === null) {
      const retriesUnderWay = [...underWay.values()].filter((kind) => kind === 'aside').length
      const free = Math.min(MOST_RETRIES - retriesUnderWay, MOST_REQUESTS - underWay.size)
      if (free <= 0) return
      const { found, retries } = await aside.takeDue(busy, free)
      looksForDue = found
      for (const retry of retries)
        if (isHeld(held) && !busy.has(retry.account) && underWay.size < MOST_REQUESTS) beginRetry(held, retry)
    }
  }

  /** One request at a time: about an event of the log, unless one that was set aside was tried less often. */
  async function probe(held: Holding): Promise<void> {
    if (underWay.size > 0) return
    const waitMs = held.nextTryAtMs - performance.now()
    if (waitMs > 0) return wakeIn(waitMs)
    const next = held.window.nextProbe(busy, held.tries % 2 === 1)
    const isNext = next !== undefined && next.probes <= held.triesAside
    const retry = isNext ? null : await aside.longest(held.triesAside)
    if (!isHeld(held) || underWay.size > 0) return
    held.tries += 1
    held.nextTryAtMs = performance.now() + awayDelayMs(held.tries)
    if (retry !== null) {
      held.triesAside += 1
      beginRetry(held, retry)
    } else if (next !== undefined) beginHeld(held, next)
  }

  /** Stores the position and keeps the lease. */
  async function save(held: Holding): Promise<void> {
    const startedAtMs = performance.now()
    const position = held.window.position()
    const { saved: before, awaySince, lastAcceptedAt } = held
    const until = new Date(clock.now().getTime() + LEASE_MS)
    held.mustSave = false
    const values = { name, holder, before, position, awaySince, lastAcceptedAt, until }
    const isKept = await stores.webhooks.save(values)
    if (held !== holding) return
    if (!isKept) {
      holding = null
      return
    }
    Object.assign(held, { saved: position, savedAtMs: startedAtMs, leaseEndsMs: startedAtMs + LEASE_MS })
    held.window.forget(position)
  }

  async function saveIfDue(held: Holding): Promise<void> {
    const ageMs = performance.now() - held.savedAtMs
    const done = held.window.countDone()
    if (held.mustSave || ageMs >= RENEW_MS || done >= BATCH || (done > 0 && ageMs >= SAVE_MS))
      await save(held)
    else if (done > 0) wakeIn(SAVE_MS - ageMs)
  }

  function wakeIn(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      void advance()
    }, ms)
  }

  async function step(): Promise<void> {
    const held = holding
    if (held === null) return
    await saveIfDue(held)
    if (!isHeld(held)) return
    fill(held)
    await readLog(held)
    if (held.awaySince === null) await beginDue(held)
    else await probe(held)
  }

  async function run(): Promise<void> {
    try {
      while (runsAgain && !closing) {
        runsAgain = false
        await step()
      }
      reports.databaseAnswers()
    } catch (error) {
      reports.databaseAway(causeOf(error))
    }
    running = null
  }

  /** Does what can be done now. Never rejects; calls while it runs make it run once more. */
  function advance(): Promise<void> {
    runsAgain = true
    running ??= run()
    return running
  }

  return {
    name,
    isHeld: () => holding !== null,
    /** This process holds the endpoint from now on, by a lease that began then. */
    hold(endpoint: HeldEndpoint, beganMs: number): void {
      holding ??= newHolding(endpoint, beganMs)
    },
    /** Events up to this id are settled; called twice a second. */
    async look(settledId: number): Promise<void> {
      settled = settledId
      looksForDue = true
      reports.stillAway(holding?.awaySince ?? null)
      await advance()
    },
    /** Waits a little for the requests under way, ends them, and stores how far the endpoint was told. */
    async close(graceMs: number): Promise<void> {
      closing = true
      clearTimeout(timer)
      await within(graceMs, Promise.allSettled(underWay.keys()), null)
      ending.abort()
      await Promise.allSettled([...underWay.keys(), running])
      if (holding !== null) await save(holding).catch(() => {})
      holding = null
    },
  }
}
