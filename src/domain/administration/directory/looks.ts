/** Who looked at whom: recorded once an hour for each who looks, by this process. */
import type { Clock } from '../../../platform/clock.ts'
import { currentRequest } from '../../../platform/request-context.ts'
import type { EventStore } from '../../foundation/events/store.ts'

/** A look at a person is recorded once in this time, for each who looks. */
const LOOK_MS = 3_600_000
const MAXIMUM_LOOKS = 10_000

export function createLooks({ events, clock }: { events: Pick<EventStore, 'add'>; clock: Clock }) {
  const looks = new Map<string, number>()
  return {
    async record({ uuid }: { uuid: string }): Promise<void> {
      const actor = currentRequest()?.actor
      const now = clock.now()
      const key = `${actor?.type} ${actor?.id} ${uuid}`
      if (now.getTime() - (looks.get(key) ?? Number.NEGATIVE_INFINITY) < LOOK_MS) return
      if (looks.size >= MAXIMUM_LOOKS) looks.clear()
      looks.set(key, now.getTime())
      await events.add([{ type: 'account.viewed', account: uuid }], now)
    },
  }
}
