/**
 * Tells the endpoints of `[[webhooks]]` of the events: each replica asks every two seconds which of them nobody tells, and
 * holds those by a lease. Without endpoints nothing runs.
 */
import { randomUUID } from 'node:crypto'
import type { EventTail } from '../../domain/foundation/events/event-tail.ts'
import type { EventStore } from '../../domain/foundation/events/store.ts'
import type { Metrics } from '../../domain/foundation/metrics/metrics.ts'
import type { TellOperator } from '../../domain/messages/outbox/operator-notices.ts'
import { causeOf } from '../../platform/failure.ts'
import type { Ground } from '../../platform/ground.ts'
import type { Deliver } from './delivery.ts'
import { createFollower } from './follower.ts'
import { LEASE_MS } from './holding.ts'
import { createReports } from './reports.ts'
import type { WebhookStore } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config' | 'logger'> {
  stores: { webhooks: WebhookStore; events: Pick<EventStore, 'follow'> }
  eventTail: Pick<EventTail, 'settledId'>
  deliver: Deliver
  metrics: Pick<Metrics, 'count'>
  tellOperator: TellOperator
  awayDelayMs?: (tries: number) => number
}

const LOOK_MS = 500
const CLAIM_MS = 2000
/** The end of the service waits so long for the requests under way. */
const GRACE_MS = 2000

export type WebhookWorker = ReturnType<typeof createWebhookWorker>

export function createWebhookWorker(needs: Needs) {
  const { stores, eventTail, clock, config, logger } = needs
  const holder = randomUUID()
  const followers = config.webhooks.map((webhook) =>
    createFollower(webhook, { ...needs, holder, reports: createReports(webhook.name, needs) }),
  )
  const names = config.webhooks.map(({ name }) => name)
  let claimAtMs = 0
  let isClosing = false
  let isAway = false
  let running: Promise<void> | null = null
  let pause: Timer | undefined
  let endPause = () => {}

  async function claim(): Promise<void> {
    const free = followers.filter((follower) => !follower.isHeld())
    if (free.length === 0 || performance.now() < claimAtMs) return
    const beganMs = performance.now()
    claimAtMs = beganMs + CLAIM_MS
    const now = clock.now()
    const until = new Date(now.getTime() + LEASE_MS)
    const claimed = await stores.webhooks.claim(
      free.map(({ name }) => name),
      holder,
      now,
      until,
    )
    for (const endpoint of claimed) free.find(({ name }) => name === endpoint.name)?.hold(endpoint, beganMs)
  }

  async function look(): Promise<void> {
    try {
      await claim()
      const held = followers.filter((follower) => follower.isHeld())
      if (held.length > 0) {
        const settledId = await eventTail.settledId()
        // None waits for the database of another one.
        for (const follower of held) void follower.look(settledId)
      }
      isAway = false
    } catch (error) {
      if (!isAway) logger.warn({ cause: causeOf(error) }, 'the events for webhooks cannot be read')
      isAway = true
    }
  }

  async function run(): Promise<void> {
    while (!isClosing) {
      await look()
      if (isClosing) return
      await new Promise<void>((resolve) => {
        endPause = resolve
        pause = setTimeout(resolve, LOOK_MS)
      })
    }
  }

  return {
    /** Stores where new endpoints begin. */
    async start(): Promise<void> {
      if (names.length > 0) await stores.webhooks.add(names, clock.now())
    },
    begin(): void {
      if (names.length > 0) running = run()
    },
    /** Gives the endpoints back, so that another replica goes on at once. */
    async close(): Promise<void> {
      isClosing = true
      clearTimeout(pause)
      endPause()
      await running
      if (running === null) return
      await Promise.all(followers.map((follower) => follower.close(GRACE_MS)))
      await stores.webhooks.release(holder, clock.now()).catch(() => {})
    },
  }
}
