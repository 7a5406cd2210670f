/**
 * Sends what waits in the outbox: at once when woken, else by looking every second; several at once, each channel on
 * a lane of its own, so that a mail server in trouble delays no SMS. Any number of workers share the table. Promises:
 * no message is lost wherever a process dies, and none goes out twice unless a process dies between sending and
 * noting it. It never throws.
 */
import { createAlarm } from './alarm.ts'
import { type AttemptOptions, causeOf, createAttempt } from './attempt.ts'
import type { Channel } from './message.ts'
import type { QueuedMessage } from './store.ts'

export type { CodeBinding, DeliveryLogger, SendingCodes } from './attempt.ts'

export interface DeliveryWorkerOptions extends AttemptOptions {
  /** Messages of a channel under way at once. */
  concurrency?: number
  /** Between two looks at the table while nothing happens. */
  pollMs?: number
  /** After a crash, how long its messages wait; renewed while a sending takes longer. */
  leaseMs?: number
  /** How long close() waits for messages under way. */
  closeTimeoutMs?: number
}

export interface DeliveryWorker {
  /** There is something new (for that channel): look at once. Cheap; call it after the transaction is committed. */
  wake(channel?: Channel): void
  /** Takes nothing more, and waits for what is under way. The sender stays open. */
  close(): Promise<void>
}

interface DeliveryLane {
  wake(): void
  /** Resolves when nothing is under way any more. */
  end(): Promise<void>
  /** Stops insisting on notes that the outbox does not take; says how many messages are left. */
  abandon(): number
}

const channels: Channel[] = ['email', 'sms']
/** Looks at an outbox that is away. */
const AWAY_RETRY_MS = 500

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  const { logger, closeTimeoutMs = 8000 } = options
  const lanes = channels.map((channel) => ({ channel, ...createLane(channel, options) }))
  return {
    wake(channel) {
      for (const lane of lanes) if (channel === undefined || lane.channel === channel) lane.wake()
    },
    async close() {
      let timer: Timer | undefined
      const deadline = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeTimeoutMs)
      })
      await Promise.race([Promise.all(lanes.map((lane) => lane.end())), deadline])
      clearTimeout(timer)
      const left = lanes.reduce((sum, lane) => sum + lane.abandon(), 0)
      if (left > 0) logger.warn({ messages: left }, 'messages under way were left')
    },
  }
}

function createLane(channel: Channel, options: DeliveryWorkerOptions): DeliveryLane {
  const { store, clock, logger, concurrency = 8, pollMs = 1000, leaseMs = 30_000 } = options
  const attempt = createAttempt(options)
  const underWay = new Map<number, Promise<void>>()
  const claimedAgain = new Map<number, QueuedMessage>()
  const alarm = createAlarm()
  /** Some that are due may have been left for want of room. */
  let isFull = false
  /** The next of those that this lane put off, by its clock; others it finds by looking every `pollMs`. */
  let nextDueMs = Number.POSITIVE_INFINITY
  let ending = false
  let abandoned = false
  let away = false

  /** False when the outbox does not answer; said in the log when that changes. */
  async function reach(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      if (away) logger.info({ channel }, 'the outbox answers again')
      away = false
    } catch (error) {
      if (!away) logger.warn({ channel, cause: causeOf(error) }, 'the outbox does not answer')
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
      await alarm.wait(pauseMs)
    }
    await Promise.all(underWay.values())
  }

  /** Starts what is due, and says after how many milliseconds to look again, if no ring comes before. */
  async function takeDue(): Promise<number> {
    const free = concurrency - underWay.size
    isFull = free === 0
    if (isFull) return pollMs
    const now = clock.now()
    const taken = await store.claim(channel, now, leaseMs, free)
    for (const message of taken) begin(message)
    isFull = taken.length === free
    if (nextDueMs <= now.getTime()) nextDueMs = Number.POSITIVE_INFINITY
    return Math.max(20, Math.min(pollMs, nextDueMs - clock.now().getTime()))
  }

  function begin(message: QueuedMessage): void {
    // Claimed while its note was being written, or because the clock jumped: let go of again once that is done.
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
        if (isFull) alarm.ring()
      })
    underWay.set(message.id, work)
  }

  /** What is not finished is due at once, and not when the second claim's lease ends. */
  async function releaseReclaimed(id: number): Promise<void> {
    for (let again = claimedAgain.get(id); again !== undefined; again = claimedAgain.get(id)) {
      claimedAgain.delete(id)
      await store.postpone(id, clock.now(), again.attempts - 1).catch(() => {})
      alarm.ring()
    }
  }

  async function handle(message: QueuedMessage): Promise<void> {
    const renewal = setInterval(() => {
      store.renew(message.id, new Date(clock.now().getTime() + leaseMs)).catch(() => {})
    }, leaseMs / 3)
    try {
      const { note, dueAgainAt } = await attempt(message)
      // It stays ours until that is noted: sent and not noted would be sent again.
      while (!(await reach(note)) && !abandoned) await Bun.sleep(AWAY_RETRY_MS)
      if (dueAgainAt === null) return
      nextDueMs = Math.min(nextDueMs, dueAgainAt.getTime())
      alarm.ring()
    } finally {
      clearInterval(renewal)
    }
  }

  const running = run()
  return {
    wake: alarm.ring,
    end() {
      ending = true
      alarm.ring()
      return running
    },
    abandon() {
      abandoned = true
      return underWay.size
    },
  }
}
