/** The audit trail, as administrators list and follow it. */

import { type Actor, actorTypes, readEventTypes } from '../../domain/foundation/events/event.ts'
import { type EventRecord, eventRecord } from '../../domain/foundation/events/event-schema.ts'
import type { EventTail } from '../../domain/foundation/events/event-tail.ts'
import { mergeNewest, type Page, readPage, toPage } from '../../domain/foundation/events/page.ts'
import type { EventFilter, EventStore } from '../../domain/foundation/events/store.ts'
import { isUuid } from '../../domain/foundation/identifiers/identifier.ts'
import { invalid, readNumber, readOneOf, readTime } from '../../platform/http/read-values.ts'
import { currentRequest } from '../../platform/request-context.ts'
import { createPlaces } from '../../platform/waiting.ts'
import { AppError } from '../../texts/errors.ts'
import type { Directory } from '../directory/service.ts'
import type { AuditRecord, EventQuery } from './audit-schema.ts'
import type { AuditTrailStore } from './store.ts'

interface Needs {
  directory: Pick<Directory, 'uuidsOf' | 'view' | 'recordList'>
  eventTail: EventTail
  stores: { auditTrail: AuditTrailStore; events: EventStore }
}

/** The most calls of one caller that wait for an event at the same time: each holds a connection. */
const MAXIMUM_FOLLOWERS = 16

export type AuditTrail = ReturnType<typeof createAuditTrail>

export function createAuditTrail({ directory, eventTail, stores }: Needs) {
  const { auditTrail: store, events } = stores
  const followers = createPlaces(MAXIMUM_FOLLOWERS)

  function asFollower<T>(wait: () => Promise<T>): Promise<T> {
    const actor = currentRequest()?.actor
    return followers.hold(`${actor?.type} ${actor?.id}`, wait)
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

  /** Says of each event who its account is, and records that these people were shown. `one`: all are about them. */
  async function withPeople(items: EventRecord[], one: string | undefined): Promise<AuditRecord[]> {
    const uuids = items.flatMap(({ account }) => account ?? [])
    const names = await store.findNames([...new Set(uuids)])
    if (one !== undefined && names.has(one)) await directory.view(one)
    else await directory.recordList(names.size)
    return items.map((item) => ({ ...item, account_name: names.get(item.account ?? '') ?? null }))
  }

  /** Text that is no uuid means the administrators whom it names, or else the very id, such as an operator's login name. */
  async function readActor(actor: string | undefined, type: Actor['type'] | undefined, isTail: boolean) {
    if (actor === undefined) return { actors: undefined, actorType: type }
    if (isUuid(actor)) return { actors: [actor.toLowerCase()], actorType: type }
    if (isTail) return { actors: [actor], actorType: type }
    const found = await store.findAdministrators(actor.toLowerCase())
    return found.length > 0
      ? { actors: found, actorType: type ?? ('administrator' as const) }
      : { actors: [actor], actorType: type }
  }

  async function readFilter(query: EventQuery): Promise<EventFilter> {
    const types = query.type === undefined ? undefined : readEventTypes(query.type)
    if (types === null) throw invalid('type')
    const actorType = readOneOf('actor_type', query.actor_type, actorTypes)
    const [since, until] = [readTime('since', query.since), readTime('until', query.until)]
    return { types, since, until, ...(await readActor(query.actor, actorType, query.after !== undefined)) }
  }

  function readNames({ names, after }: EventQuery, seesPeople: boolean): boolean {
    const isFlag = names === undefined || names === 'true' || names === 'false'
    if (!isFlag || (names === 'true' && after !== undefined)) throw invalid('names')
    if (names === 'true' && !seesPeople) throw new AppError('insufficient_scope')
    return names === 'true'
  }

  /** A uuid in one spelling, or a part of a contact or a name, which tells of whomever it finds that it is theirs. */
  function readAccount({ account, after }: EventQuery, seesPeople: boolean): string | undefined {
    if (account === undefined || isUuid(account)) return account?.toLowerCase()
    if (after !== undefined) throw invalid('account')
    if (!seesPeople) throw new AppError('insufficient_scope')
    return account
  }

  return {
    /**
     * Newest first. A caller of whom too many calls wait is refused. Names of people are shown only to those who
     * `seesPeople`: like every list of people they are counted, and those of one person's events are a look at them.
     */
    async list(
      query: EventQuery,
      { seesPeople = false, signal }: { seesPeople?: boolean; signal?: AbortSignal } = {},
    ): Promise<Page<AuditRecord>> {
      const { after: afterId, wait } = query
      const account = readAccount(query, seesPeople)
      const { limit, after } = readPage(query)
      const isOne = account === undefined || isUuid(account)
      const isNamed = readNames(query, seesPeople)
      const filter = { ...(await readFilter(query)), account }
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
      const items = await withNames(page.items)
      return { ...page, items: isNamed ? await withPeople(items, isOne ? account : undefined) : items }
    },
  }
}
