/**
 * What features use to send: a code to an account, or the same work for nobody. The message is committed before the
 * code lives and before the answer; the worker is woken, never waited for.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Language } from '../../platform/config/types.ts'
import type { Database } from '../../platform/postgres/database.ts'
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
}

export function createOutbox({ messages, codes, database, worker, clock }: Options): Outbox {
  return {
    async sendCode(binding, to) {
      const seed = codes.createSeed()
      const { subject, purpose } = binding
      const { channel, language } = to ?? nobodyLike(binding)
      const destination = to === null ? NOBODY : binding.destination
      const code = { subject, purpose, seed }
      const messageId = await messages.addCode({ channel, language, destination, purpose, code }, clock.now())
      await codes.put({ ...binding, destination }, seed, messageId)
      worker.wake(channel)
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

/** On the channel on which somebody with this destination would be told. */
function nobodyLike({ destination }: CodeBinding): { channel: Channel; language: Language } {
  return { channel: destination.startsWith('+') ? 'sms' : 'email', language: 'fr' }
}
