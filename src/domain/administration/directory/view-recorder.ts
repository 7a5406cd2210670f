/** Records who looked at whom, once an hour for each administrator, over all processes. */
import type { Clock } from '../../../platform/clock.ts'
import { currentRequest } from '../../../platform/request-context.ts'
import type { EventStore } from '../../foundation/events/store.ts'

/** A look at a person is recorded once in this time, for each administrator. */
const LOOK_MS = 3_600_000
const MAXIMUM_LOOKS = 10_000

interface Needs {
  events: Pick<EventStore, 'add' | 'addFailures' | 'list'>
  clock: Clock
}

export function createViewRecorder({ events, clock }: Needs) {
  const views = new Map<string, number>()
  return {
    async record({ uuid }: { uuid: string }): Promise<void> {
      const actor = currentRequest()?.actor
      const now = clock.now()
      const key = `${actor?.type} ${actor?.id} ${uuid}`
      if (now.getTime() - (views.get(key) ?? Number.NEGATIVE_INFINITY) < LOOK_MS) return
      const since = new Date(now.getTime() - LOOK_MS)
      const wanted = { account: uuid, type: 'account.viewed', actor: actor?.id ?? undefined, since }
      // Another process, or one before this, may have recorded it.
      const [before] = await events.list(wanted, null, 1)
      if (views.size >= MAXIMUM_LOOKS) views.clear()
      views.set(key, before?.createdAt.getTime() ?? now.getTime())
      if (before === undefined) await events.add([{ type: 'account.viewed', account: uuid }], now)
    },
    /** One event for each who lists and hour counts the rows that were shown. */
    async recordList(rows: number): Promise<void> {
      const { actor = null, address = null } = currentRequest() ?? {}
      if (rows === 0 || actor === null) return
      const listed = {
        type: 'accounts.listed',
        account: null,
        actor,
        address,
        count: rows,
        at: clock.now(),
      } as const
      await events.addFailures([listed])
    },
  }
}
