/**
 * The service by which features send: a code to an account, or the same work for nobody. The message is committed
 * before the code lives and before the answer; the worker is woken, never waited for.
 */
import type { Clock } from '../../../platform/clock.ts'
import type { Executor } from '../../../platform/postgres/database.ts'
import type { Language } from '../../../texts/languages.ts'
import { decoyDestination } from '../../foundation/decoys/decoys.ts'
import { channelOfDestination } from '../../foundation/identifiers/identifier.ts'
import type { Metrics } from '../../foundation/metrics/metrics.ts'
import type { CodeBinding, CodeService } from '../codes/service.ts'
import type { CodePurpose } from '../codes/store.ts'
import type { Channel, NewMessage } from './message.ts'
import type { MessageStore } from './store.ts'

interface Options {
  database: Executor
  messages: MessageStore
  codes: CodeService
  worker: { wake(channel?: Channel): void }
  clock: Clock
  /** The language of the configuration. */
  language: Language
  metrics: Pick<Metrics, 'count'>
}

export type Outbox = ReturnType<typeof createOutbox>

export function createOutbox(options: Options) {
  const { database, messages, codes, worker, clock, language, metrics } = options
  const countAsked = (purpose: CodePurpose, channel: Channel) =>
    metrics.count('codes_total', { purpose, channel, stage: 'asked' })

  return {
    /**
     * A new code replaces the older one of its subject, purpose and group. With `to` null nothing is sent and the code is
     * never right, but the work until the answer is the same. Messages that strangers caused are sent after all others.
     */
    async sendCode(binding: CodeBinding, to: { channel: Channel; language: Language } | null): Promise<void> {
      const seed = codes.createSeed()
      const { subject, purpose, group } = binding
      const recipient = to ?? recipientLike(binding, language)
      const destination = to === null ? decoyDestination : binding.destination
      if (to !== null) countAsked(purpose, to.channel)
      const code = { subject, purpose, group, seed }
      const messageId = await messages.addCode({ ...recipient, destination, purpose, code }, clock.now())
      await codes.put({ ...binding, destination }, seed, messageId)
      worker.wake(recipient.channel)
    },
    /**
     * Stores the code of a message that is committed already, and then wakes the worker. `isFirst`: the caller sends another
     * one over the same channel, which wakes it.
     */
    async putCode(
      binding: CodeBinding,
      seed: Uint8Array,
      messageId: number | null,
      { isFirst = false }: { isFirst?: boolean } = {},
    ): Promise<void> {
      const channel = channelOfDestination(binding.destination)
      countAsked(binding.purpose, channel)
      await codes.put(binding, seed, messageId)
      if (!isFirst) worker.wake(channel)
    },
    /** Messages without code that go with no change of the account. */
    async sendNotices(notices: NewMessage[]): Promise<void> {
      for (const notice of notices) await messages.add(database, notice, clock.now())
    },
    /**
     * A statement that may queue a code calls this if it queued a notice instead; every other notice wakes the worker
     * itself.
     */
    wake: worker.wake,
  }
}

/** An account that does not exist gets the channel by which this destination would be reached. */
function recipientLike({ destination }: CodeBinding, language: Language) {
  return { channel: channelOfDestination(destination), language }
}
