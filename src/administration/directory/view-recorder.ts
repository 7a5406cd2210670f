/** Records who looked at whom, once an hour for each administrator, over all processes. */

import type { EventStore } from '../../domain/foundation/events/store.ts'
import type { Clock } from '../../platform/clock.ts'
import { currentRequest } from '../../platform/request-context.ts'

/** A look at a person is recorded once in this time, for each administrator. */
const LOOK_MS = 3_600_000
const MAXIMUM_LOOKS = 10_000

interface Needs {
  events: Pick<EventStore, 'add' | 'addFailures' | 'list'>
  clock: Clock
}

export function createViewRecorder({ events, clock }: Needs) {
  /** The time of the look, and what waits until it is recorded. */
  const views = new Map<string, { at: number; recorded: Promise<void> }>()

  async function recordOnce(look: { at: number }, uuid: string, actorId: string | undefined): Promise<void> {
    const now = new Date(look.at)
    const since = new Date(look.at - LOOK_MS)
    // Another process, or one before this, may have recorded it.
    const [before] = await events.list(
      {
        account: uuid,
        types: ['account.viewed'],
        actors: actorId === undefined ? undefined : [actorId],
        since,
      },
      null,
      1,
    )
    if (before === undefined) await events.add([{ type: 'account.viewed', account: uuid }], now)
    else look.at = before.createdAt.getTime()
  }

  return {
    async record({ uuid }: { uuid: string }): Promise<void> {
      const actor = currentRequest()?.actor
      const at = clock.now().getTime()
      const key = `${actor?.type} ${actor?.id} ${uuid}`
      const known = views.get(key)
      if (known && at - known.at < LOOK_MS) return known.recorded
      if (views.size >= MAXIMUM_LOOKS) views.clear()
      const look = { at, recorded: Promise.resolve() }
      // Marked before anything is awaited: calls in parallel wait for the same record.
      views.set(key, look)
      look.recorded = recordOnce(look, uuid, actor?.id ?? undefined)
      try {
        await look.recorded
      } catch (error) {
        if (views.get(key) === look) views.delete(key)
        throw error
      }
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
