/**
 * What features use to send: a code to an account, or the same work for nobody. The message is committed before the
 * code lives and before the answer; the worker is woken, never waited for.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/postgres/database.ts'
import type { Language } from '../../texts/languages.ts'
import type { CodeBinding, CodeService } from '../codes/service.ts'
import { type Channel, type NewMessage, NOBODY } from './message.ts'
import type { MessageStore } from './store.ts'

export interface Outbox {
  /**
   * A new code replaces the older one of its subject and purpose. `to` null: nobody is told, the code is never
   * right, and the work is the same, the worker's too.
   */
  sendCode(binding: CodeBinding, to: { channel: Channel; language: Language } | null): Promise<void>
  /** Messages that carry no code. */
  sendNotice(messages: NewMessage[]): Promise<void>
  /** A message was committed elsewhere, for that channel or for any. */
  wake(channel?: Channel): void
}

interface Options {
  messages: MessageStore
  codes: CodeService
  database: Database
  worker: { wake(channel?: Channel): void }
  clock: Clock
  /** The language of the configuration. */
  language: Language
}

export function createOutbox({ messages, codes, database, worker, clock, language }: Options): Outbox {
  return {
    async sendCode(binding, to) {
      const seed = codes.createSeed()
      const { subject, purpose } = binding
      const recipient = to ?? decoyRecipient(binding, language)
      const destination = to === null ? NOBODY : binding.destination
      const code = { subject, purpose, seed }
      const messageId = await messages.addCode({ ...recipient, destination, purpose, code }, clock.now())
      await codes.put({ ...binding, destination }, seed, messageId)
      worker.wake(recipient.channel)
    },
    async sendNotice(notices) {
      const now = clock.now()
      await database.transaction(async (transaction) => {
        for (const notice of notices) await messages.add(transaction, notice, now)
      })
      worker.wake()
    },
    wake: worker.wake,
  }
}

/** Stands in for an account that does not exist: the channel is the one on which this destination would be reached. */
function decoyRecipient({ destination }: CodeBinding, language: Language) {
  const channel: Channel = destination.startsWith('+') ? 'sms' : 'email'
  return { channel, language }
}
