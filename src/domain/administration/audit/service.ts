/** The audit trail, as administrators list and follow it. */

import { AppError } from '../../../errors.ts'
import { invalid, readNumber, readOneOf, readTime } from '../../../platform/http/read-values.ts'
import { currentRequest } from '../../../platform/request-context.ts'
import { eventTypes } from '../../foundation/events/event.ts'
import { type EventRecord, eventRecord } from '../../foundation/events/event-schema.ts'
import type { EventTail } from '../../foundation/events/event-tail.ts'
import { mergeNewest, type Page, type PageQuery, readPage, toPage } from '../../foundation/events/page.ts'
import type { EventStore } from '../../foundation/events/store.ts'
import { isUuid } from '../../foundation/identifiers/uuid.ts'
import type { Directory } from '../directory/service.ts'
import type { AuditTrailStore } from './store.ts'

export interface EventQuery extends PageQuery {
  /** A uuid; or, without `after`, any part of a contact or a name: the events of at most 20 accounts that it finds. */
  account?: string | undefined
  type?: string | undefined
  actor?: string | undefined
  since?: string | undefined
  /** The id of an event: those after it, oldest first. */
  after?: string | undefined
  /** Seconds to wait for one, at most 25; only with `after`. */
  wait?: string | undefined
}

export interface AuditTrail {
  /** Newest first. A caller of whom too many calls wait is refused. */
  list(query: EventQuery, options?: { signal?: AbortSignal }): Promise<Page<EventRecord>>
}

interface Needs {
  directory: Pick<Directory, 'uuidsOf'>
  eventTail: EventTail
  stores: { auditTrail: AuditTrailStore; events: EventStore }
}

/** The most calls of one caller that wait for an event at the same time: each holds a connection. */
const MAXIMUM_FOLLOWERS = 16

export function createAuditTrail({ directory, eventTail, stores }: Needs): AuditTrail {
  const { auditTrail: store, events } = stores
  const followers = new Map<string, number>()

  /** A caller who waits in too many places already is refused. */
  async function asFollower<T>(wait: () => Promise<T>): Promise<T> {
    const actor = currentRequest()?.actor
    const key = `${actor?.type} ${actor?.id}`
    const waiting = followers.get(key) ?? 0
    if (waiting >= MAXIMUM_FOLLOWERS) throw new AppError('too_many_requests', { retryAfterSeconds: 1 })
    followers.set(key, waiting + 1)
    try {
      return await wait()
    } finally {
      const left = (followers.get(key) ?? 1) - 1
      if (left > 0) followers.set(key, left)
      else followers.delete(key)
    }
  }

  /** An event names an administrator by the uuid alone, so that nothing of the person stays after an erasure. */
  async function withNames(items: EventRecord[]): Promise<EventRecord[]> {
    const isAdministrator = ({ actor }: EventRecord) => actor.type === 'administrator' && actor.id !== null
    const uuids = new Set(items.filter(isAdministrator).map(({ actor }) => actor.id as string))
    const names = await store.findNames([...uuids])
    return items.map((item) =>
      isAdministrator(item)
        ? { ...item, actor: { ...item.actor, name: names.get(item.actor.id as string) ?? null } }
        : item,
    )
  }

  return {
    async list({ account, type, actor, since, after: afterId, wait, ...query }, { signal } = {}) {
      const { limit, after } = readPage(query)
      const isOne = account === undefined || isUuid(account)
      if (!isOne && afterId !== undefined) throw invalid('account')
      const filter = {
        account,
        type: readOneOf('type', type, eventTypes),
        actor,
        since: readTime('since', since),
      }
      if (afterId !== undefined) {
        const [id, seconds] = [readNumber('after', afterId), readNumber('wait', wait ?? '0', { maximum: 25 })]
        const look = () => eventTail.follow(filter, id, limit, { seconds, signal })
        const found = await (seconds === 0 ? look() : asFollower(look))
        return { items: await withNames(found.map(eventRecord)), next_cursor: null }
      }
      if (wait !== undefined) throw invalid('after')
      const people = isOne ? [account] : await directory.uuidsOf(account)
      const lists = await Promise.all(
        people.map((one) => events.list({ ...filter, account: one }, after, limit + 1)),
      )
      const page = toPage(mergeNewest(lists, limit + 1), limit, eventRecord)
      return { ...page, items: await withNames(page.items) }
    },
  }
}
