/**
 * Sends the messages of the outbox, at once when it is woken and otherwise every second. E-mail and SMS are sent
 * independently of each other, and so are messages that strangers caused and all others, and those to each application. So
 * neither a slow mail server nor a flood of anonymous requests delays a message to an owner, and no application the logouts
 * of another one. Decoy messages are deleted in batches. Any number of
 * workers share the table. Promises: no message is lost wherever a process dies, and none is sent twice unless a
 * process dies, or stalls for longer than the lease, between sending and recording it, or a server may have taken it
 * and did not say so. It never throws.
 */

import { within } from '../../../platform/waiting.ts'
import type { OutboxChannel } from '../outbox/message.ts'
import { type ChannelWorkerOptions, createChannelWorker, type MessageWay } from './channel-worker.ts'

export interface DeliveryWorkerOptions extends ChannelWorkerOptions {
  /** The ids of those that are told when a session ends. */
  applications?: readonly string[]
  /** The time that close() waits for messages under way. */
  closeTimeoutMs?: number
}

/** Whatever this process queues wakes the worker: looks are for what another one left, and there may be many applications. */
const POLL_OF_APPLICATIONS_MS = 2000

/** Decoy messages that are deleted each second. */
const DISCARDED_AT_ONCE = 500

export type DeliveryWorker = ReturnType<typeof createDeliveryWorker>

export function createDeliveryWorker(options: DeliveryWorkerOptions) {
  const { logger, applications = [], closeTimeoutMs = 8000 } = options
  const forApplications = { pollMs: POLL_OF_APPLICATIONS_MS, ...options }
  const workerOf = (way: MessageWay, its: DeliveryWorkerOptions) => ({
    ...way,
    ...createChannelWorker(way, its),
  })
  const workers = [
    workerOf({ channel: 'email' }, options),
    workerOf({ channel: 'sms' }, options),
    ...applications.map((application) => workerOf({ channel: 'application', application }, forApplications)),
  ]
  const discarder = createDiscarder(options)
  return {
    /** Starts sending. */
    start(): void {
      for (const worker of workers) worker.start()
      discarder.start()
    },
    /** Looks at once for new messages (of that channel). Cheap; call it after the transaction is committed. */
    wake(channel?: OutboxChannel): void {
      for (const worker of workers) if (channel === undefined || worker.channel === channel) worker.wake()
    },
    /** Claims no more messages, and waits for those under way. The sender stays open. */
    async close(): Promise<void> {
      await within(closeTimeoutMs, Promise.all(workers.map((worker) => worker.end())), null)
      await discarder.end()
      const left = workers.reduce((sum, worker) => sum + worker.abandon(), 0)
      if (left > 0) logger.warn({ messages: left }, 'messages under way were left')
    },
  }
}

/** Decoy messages exist only for the work before an answer. */
function createDiscarder({ store, pollMs = 1000 }: DeliveryWorkerOptions) {
  let running = Promise.resolve()
  let busy = false
  let timer: Timer | undefined
  const discard = () => {
    if (busy) return
    busy = true
    // The workers of the channels report that the outbox is away.
    running = store
      .discard(DISCARDED_AT_ONCE)
      .catch(() => {})
      .then(() => {
        busy = false
      })
  }
  return {
    start() {
      timer = setInterval(discard, pollMs)
    },
    end() {
      clearInterval(timer)
      return running
    },
  }
}
