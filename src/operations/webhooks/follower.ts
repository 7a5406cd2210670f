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
import { toldTypes } from '../../texts/event-types.ts'
import { createAside } from './aside.ts'
import type { Deliver } from './delivery.ts'
import { createHolding, type Holding, WORTH_READING } from './holding.ts'
import type { Reports } from './reports.ts'
import { createRequests } from './requests.ts'
import { createRounds } from './rounds.ts'
import { createSending, putAside } from './sending.ts'
import type { HeldEndpoint, WebhookStore } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'logger'> {
  holder: string
  stores: { webhooks: WebhookStore; events: Pick<EventStore, 'follow'> }
  deliver: Deliver
  reports: Reports
  metrics: Pick<Metrics, 'count'>
  awayDelayMs?: (tries: number) => number
}

export function createFollower(webhook: WebhookConfig, needs: Needs) {
  const { stores, reports } = needs
  const { name } = webhook
  const types = toldTypes(webhook.events)
  let holding: Holding | null = null
  const requests = createRequests(webhook, needs)
  const aside = createAside(name, { ...needs, ending: requests.ending })
  const databaseAway = (error: unknown) => reports.databaseAway(causeOf(error))
  const rounds = createRounds(round, { done: reports.databaseAnswers, failed: databaseAway })
  const sending = createSending({
    requests,
    aside,
    failed: databaseAway,
    ended() {
      if (holding !== null) fill(holding)
      void rounds.advance()
    },
  })
  const isHeld = () => holding !== null && !holding.isLost()
  const mayGoOn = (held: Holding) => held.hasLease() && !rounds.isClosing()

  async function round(): Promise<void> {
    const held = holding
    if (held === null || held.isLost()) return
    await saveIfDue(held)
    if (!mayGoOn(held)) return
    fill(held)
    await readLog(held)
    if (held.awaySince() === null) await beginDue(held)
    else await probe(held)
  }

  async function saveIfDue(held: Holding): Promise<void> {
    const ms = held.untilSaveMs()
    if (ms === 0) await held.save()
    else if (ms !== null) rounds.wakeIn(ms)
  }

  /** Begins what may begin without a look at the database. */
  function fill(held: Holding): void {
    while (mayGoOn(held) && held.awaySince() === null && requests.free('log') > 0) {
      const next = held.window.next(requests.busy)
      if (next === undefined) return
      sending.beginHeld(held, next)
    }
  }

  async function readLog(held: Holding): Promise<void> {
    const { window } = held
    const isWorthIt = () =>
      window.room() >= WORTH_READING || (window.room() > 0 && (window.isIdle() || held.awaySince() !== null))
    while (mayGoOn(held) && held.isBehind() && isWorthIt()) {
      await readBatch(held, window.room())
      fill(held)
      await saveIfDue(held)
    }
    // Nobody waits for the slow requests about one account for longer than one of them takes.
    const behind = held.isFull() ? window.waitingAbout(requests.busy) : []
    if (behind.length > 0) await putAside(behind, aside.put)
  }

  async function readBatch(held: Holding, room: number): Promise<void> {
    const { window, asideMeanwhile } = held
    const upTo = held.nextLook()
    asideMeanwhile.clear()
    const found = await stores.events.follow({ types }, window.readTo(), upTo, room)
    held.noteLook({ foundAll: found.length < room })
    const known = await aside.accountsAmong(found)
    const surplus = new Set(window.surplusOf(found, known.union(asideMeanwhile)))
    if (surplus.size > 0 && !(await aside.put([...surplus]))) return
    window.take(
      found.filter((event) => !surplus.has(event)),
      found.length < room ? upTo : (found.at(-1) as StoredEvent).id,
    )
  }

  async function beginDue(held: Holding): Promise<void> {
    while (aside.mayBeDue() && mayGoOn(held) && held.awaySince() === null) {
      const free = requests.free('aside')
      if (free <= 0) return
      for (const retry of await aside.takeDue(requests.busy, free))
        if (mayGoOn(held) && !requests.busy.has(retry.account) && requests.free('log') > 0)
          sending.beginRetry(held, retry)
    }
  }

  /** One request at a time: about an event of the log, unless one that was set aside was tried less often. */
  async function probe(held: Holding): Promise<void> {
    if (!requests.isIdle()) return
    const waitMs = held.untilProbeMs()
    if (waitMs > 0) return rounds.wakeIn(waitMs)
    const { tries, triesAside } = held.probes()
    const next = held.window.nextProbe(requests.busy, tries % 2 === 1)
    const isNext = next !== undefined && next.probes <= triesAside
    const retry = isNext ? null : await aside.longest(triesAside)
    if (!mayGoOn(held) || !requests.isIdle()) return
    held.noteProbe({ isAside: retry !== null })
    if (retry !== null) sending.beginRetry(held, retry)
    else if (next !== undefined) sending.beginHeld(held, next)
  }

  return {
    name,
    isHeld,
    /** This process holds the endpoint from now on, by a lease that began then. */
    hold(endpoint: HeldEndpoint, beganMs: number): void {
      if (!isHeld()) holding = createHolding(endpoint, beganMs, needs)
    },
    /** Events up to this id are settled; called twice a second. */
    async look(settledId: number): Promise<void> {
      holding?.noteSettled(settledId)
      aside.lookAgain()
      reports.stillAway(isHeld() ? (holding?.awaySince() ?? null) : null)
      await rounds.advance()
    },
    /** Waits a little for the requests under way, ends them, and stores how far the endpoint was told. */
    async close(graceMs: number): Promise<void> {
      rounds.close()
      await requests.end(graceMs)
      await rounds.ended()
      if (isHeld()) await holding?.save().catch(() => {})
      holding = null
    },
  }
}
