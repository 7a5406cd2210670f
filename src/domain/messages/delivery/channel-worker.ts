/**
 * The messages of one channel, or to one application: claims those that are due, as many of owners and of strangers as are
 * allowed, and sees each through its attempt. Nothing here ends with an error: an outbox that is away is asked again.
 */
import { causeOf } from '../../../platform/failure.ts'
import { isCausedByStranger, type OutboxChannel } from '../outbox/message.ts'
import type { LaneLimits, QueuedMessage } from '../outbox/store.ts'
import { createDeliveryAttempt, type DeliveryAttemptOptions } from './delivery-attempt.ts'
import { createReceiver } from './receiver.ts'

export interface ChannelWorkerOptions extends DeliveryAttemptOptions {
  /** Messages of a channel under way at once: those of owners, and those that strangers caused. */
  concurrency?: LaneLimits
  /** Between two looks at the table while nothing happens. */
  pollMs?: number
  /** The longest time that the messages of a process that died wait. It is renewed while a sending takes longer. */
  leaseMs?: number
}

/** Between two looks at an outbox that is away. */
const AWAY_RETRY_MS = 500

/** The mail server's connections (smtp/smtp.ts) are more than strangers can hold, so that an owner's message never waits. */
const CONCURRENCY: LaneLimits = { owners: 8, strangers: 3 }
/** With the time between two looks, a message of a process that died is taken up within 10 s. */
const LEASE_MS = 6000

/** A channel that leads to people, or one application. */
export interface MessageWay {
  channel: OutboxChannel
  application?: string
}

export function createChannelWorker(way: MessageWay, options: ChannelWorkerOptions) {
  const { store, clock, logger, pollMs = 1000, leaseMs = LEASE_MS, concurrency = CONCURRENCY } = options
  const receiver = way.application === undefined ? null : createReceiver(options)
  const attempt = createDeliveryAttempt({ ...options, ...(receiver && { tellApplication: receiver.tell }) })
  const underWay = new Map<number, { lane: number; work: Promise<void> }>()
  const claimedAgain = new Map<number, QueuedMessage>()
  const signal = createWakeSignal()
  /** Due messages may have been left because all places were taken. */
  let isFull = false
  /** The next message that this channel postponed is due then; others are found by looking every `pollMs`. */
  let nextDueMs = Number.POSITIVE_INFINITY
  let ending = false
  let abandoned = false
  let away = false

  /** It returns false if the outbox does not answer; changes of this are logged. */
  async function reach(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      if (away) logger.info({ ...way }, 'the outbox answers again')
      away = false
    } catch (error) {
      if (!away) logger.warn({ ...way, cause: causeOf(error) }, 'the outbox does not answer')
      away = true
    }
    return !away
  }

  async function run(): Promise<void> {
    while (!ending) {
      let pauseMs = AWAY_RETRY_MS
      await reach(async () => {
        pauseMs = await takeDue()
      })
      await signal.wait(pauseMs)
    }
    await Promise.all([...underWay.values()].map(({ work }) => work))
  }

  /** Returns the number of messages of each kind that may still be taken. */
  function free(): LaneLimits {
    if (receiver) return { owners: receiver.free(underWay.size), strangers: 0 }
    const strangers = [...underWay.values()].filter(isCausedByStranger).length
    return {
      owners: concurrency.owners - (underWay.size - strangers),
      strangers: concurrency.strangers - strangers,
    }
  }

  /** One statement renews all leases, however many messages are under way. */
  function renewLeases(): void {
    if (underWay.size === 0) return
    store.renew([...underWay.keys()], new Date(clock.now().getTime() + leaseMs)).catch(() => {})
  }

  /** Starts sending what is due, and returns after how many milliseconds to look again unless woken before. */
  async function takeDue(): Promise<number> {
    const allowed = free()
    isFull = true
    if (allowed.owners === 0 && allowed.strangers === 0) return Math.min(pollMs, receiver?.restMs() ?? pollMs)
    const now = clock.now()
    const taken = await store.claim(way.channel, now, leaseMs, allowed, way.application)
    for (const message of taken) begin(message)
    const left = free()
    isFull = left.owners === 0 || left.strangers === 0
    if (nextDueMs <= now.getTime()) nextDueMs = Number.POSITIVE_INFINITY
    return Math.max(20, Math.min(pollMs, nextDueMs - clock.now().getTime()))
  }

  function begin(message: QueuedMessage): void {
    // Claimed again while its result was being recorded, or because the clock jumped: released once that is done.
    if (underWay.has(message.id)) {
      claimedAgain.set(message.id, message)
      return
    }
    const work = handle(message)
      .catch((error) => {
        logger.error({ message_id: message.id, cause: causeOf(error) }, 'a message could not be handled')
      })
      .then(() => releaseReclaimed(message.id))
      .finally(() => {
        underWay.delete(message.id)
        if (isFull) signal.wake()
      })
    underWay.set(message.id, { lane: message.lane, work })
  }

  /** A message that is not finished becomes due at once, instead of when the lease of the second claim ends. */
  async function releaseReclaimed(id: number): Promise<void> {
    for (let again = claimedAgain.get(id); again !== undefined; again = claimedAgain.get(id)) {
      claimedAgain.delete(id)
      await store.postpone(id, clock.now(), again.attempts - 1).catch(() => {})
      signal.wake()
    }
  }

  async function handle(message: QueuedMessage): Promise<void> {
    const { note, dueAgainAt } = await attempt(message)
    // Keep the message until the result is recorded: if it was sent and not recorded, it would be sent again.
    while (!(await reach(note)) && !abandoned) await Bun.sleep(AWAY_RETRY_MS)
    if (dueAgainAt === null) return
    nextDueMs = Math.min(nextDueMs, dueAgainAt.getTime())
    signal.wake()
  }

  let renewal: Timer | undefined
  let running: Promise<void> | undefined
  return {
    start(): void {
      renewal = setInterval(renewLeases, leaseMs / 3)
      running = run().finally(() => clearInterval(renewal))
    },
    wake: signal.wake,
    /** Resolves when no message is under way any more. */
    async end(): Promise<void> {
      ending = true
      signal.wake()
      await running
    },
    /**
     * Stops retrying to record results in an outbox that does not accept them; returns the number of messages that are still
     * in progress.
     */
    abandon(): number {
      abandoned = true
      return underWay.size
    },
  }
}

/** A sleep that can be ended from outside; a call of `wake` before the sleep is not lost. */
function createWakeSignal() {
  let woken = false
  let end: (() => void) | null = null
  return {
    wake(): void {
      woken = true
      end?.()
    },
    async wait(ms: number): Promise<void> {
      if (!woken) {
        let timer: Timer | undefined
        await new Promise<void>((resolve) => {
          end = resolve
          timer = setTimeout(resolve, ms)
        })
        clearTimeout(timer)
        end = null
      }
      woken = false
    },
  }
}
