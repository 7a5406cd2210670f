/**
 * Reads the events in the order of their ids, and never past one whose transaction is still open: a caller who continues
 * after the last one misses none. See docs/decisions/events-in-order.md. However many callers wait for an event, the process
 * asks the database for all of them.
 */
import { together } from '../../../platform/waiting.ts'
import type { EventFilter, EventStore, NewsOfEvent, StoredEvent } from './store.ts'

/** The time between two looks for callers who wait. */
const LOOK_MS = 500
/** Between two looks where transactions are open that may have written an event: they take a few milliseconds. */
const OPEN_MS = [5, 10, 20, 40]
/** Everybody who waits looks if there is more news at once. */
const MAXIMUM_NEWS = 200

interface Waiter {
  isMeant(news: NewsOfEvent): boolean
  answer(isMeant: boolean): void
}

export type EventTail = ReturnType<typeof createEventTail>

export function createEventTail({ stores: { events } }: { stores: { events: EventStore } }) {
  const settle = createSettling(events)
  const waiters = new Set<Waiter>()
  let settled = 0
  /** The callers who wait know of the events up to this one. */
  let announced = 0
  let timer: Timer | undefined
  let isClosed = false

  async function look(): Promise<void> {
    settled = await settle()
  }

  async function announce(): Promise<void> {
    const upTo = settled
    if (upTo === announced) return
    const news = upTo > announced ? await events.news(announced, upTo, MAXIMUM_NEWS) : []
    announced = upTo
    for (const waiter of [...waiters])
      if (news.length === MAXIMUM_NEWS || news.some(waiter.isMeant)) waiter.answer(true)
  }

  /** One look after the other, while somebody waits. Where the database is away, they wait on. */
  function goOn(): void {
    if (timer !== undefined || waiters.size === 0 || isClosed) return
    timer = setTimeout(async () => {
      await look()
        .then(announce)
        .catch(() => {})
      timer = undefined
      goOn()
    }, LOOK_MS)
  }

  /** It returns false where the time is over. */
  function next(
    filter: EventFilter,
    after: number,
    ms: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    if (ms <= 0 || signal?.aborted || isClosed) return Promise.resolve(false)
    return new Promise((resolve) => {
      const giveUp = () => waiter.answer(false)
      const end = setTimeout(giveUp, ms)
      const waiter: Waiter = {
        isMeant: (news) => news.id > after && matches(filter, news),
        answer(isMeant) {
          clearTimeout(end)
          signal?.removeEventListener('abort', giveUp)
          waiters.delete(waiter)
          resolve(isMeant)
        },
      }
      signal?.addEventListener('abort', giveUp)
      if (waiters.size === 0) announced = settled
      waiters.add(waiter)
      goOn()
    })
  }

  return {
    /** Gives the id up to which every event is committed or never will be. */
    async settledId(): Promise<number> {
      await look()
      return settled
    },
    /**
     * Oldest first: the events after the one with this id. Where there is none, it waits up to `seconds` for one, unless
     * `signal` ends the waiting.
     */
    async follow(
      filter: EventFilter,
      after: number,
      limit: number,
      { seconds, signal }: { seconds: number; signal: AbortSignal | undefined } = {
        seconds: 0,
        signal: undefined,
      },
    ): Promise<StoredEvent[]> {
      const endsAtMs = performance.now() + seconds * 1000
      await look()
      for (;;) {
        const upTo = settled
        const found = after < upTo ? await events.follow(filter, after, upTo, limit) : []
        if (found.length > 0 || seconds === 0) return found
        // An event that was settled while the database was asked has been announced to others only.
        if (upTo !== settled) continue
        if (!(await next(filter, after, endsAtMs - performance.now(), signal))) return []
      }
    },
    /** Answers everybody who waits. */
    close(): void {
      isClosed = true
      clearTimeout(timer)
      for (const waiter of [...waiters]) waiter.answer(false)
    },
  }
}

/**
 * Returns a function that finds out up to which id every event is committed or will never be. A transaction that draws
 * an id is already a writer, so ids that were drawn before the writers were read belong to these writers or are
 * settled. Once these writers have ended, all of them are settled. Callers share a look, but not one that began before
 * their call.
 */
function createSettling(events: EventStore): () => Promise<number> {
  let settled = 0
  let barrier: { lastId: number; writers: string[] } | null = null

  async function look(): Promise<number> {
    const lastId = await events.lastId()
    const writers = await events.openWriters()
    if (barrier !== null && !barrier.writers.some((writer) => writers.includes(writer))) {
      settled = barrier.lastId
      barrier = null
    }
    if (writers.length === 0) settled = lastId
    barrier = writers.length === 0 ? null : (barrier ?? { lastId, writers })
    return lastId
  }

  async function settle(): Promise<number> {
    const lastId = await look()
    for (const ms of OPEN_MS) {
      if (settled >= lastId) break
      await Bun.sleep(ms)
      await look()
    }
    return settled
  }

  const settleOnce = together(settle)
  let following: Promise<number> | null = null

  return function shared(): Promise<number> {
    const underWay = settleOnce.underWay()
    if (underWay === null) return settleOnce()
    following ??= underWay
      .catch(() => settled)
      .then(() => {
        following = null
        return shared()
      })
    return following
  }
}

function matches({ account, types, actors, actorType, since, until }: EventFilter, news: NewsOfEvent) {
  return (
    (account === undefined || account.toLowerCase() === news.account) &&
    (types === undefined || types.includes(news.type)) &&
    (actors === undefined || actors.some((actor) => actor === news.actorId)) &&
    (actorType === undefined || actorType === news.actorType) &&
    (since === undefined || since <= news.createdAt) &&
    (until === undefined || news.createdAt < until)
  )
}
