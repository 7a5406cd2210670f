/**
 * The events of an endpoint that are behind its stored position: read, sent or waiting for their turn. Requests about one
 * account go out one after the other, in the order of the events.
 */
import type { StoredEvent } from '../../domain/foundation/events/store.ts'

/** An endpoint is at most so many events ahead of its stored position: after a crash these may come twice. */
const MOST_HELD = 100
/** The events about one account among them; further ones are set aside. */
const MOST_OF_ONE = 10

export interface HeldEvent {
  event: StoredEvent
  /** Those without an account count as one. */
  account: string
  state: 'waiting' | 'sending' | 'done'
  /** Its requests while the endpoint was away. */
  probes: number
}

export const accountOf = ({ account }: Pick<StoredEvent, 'account'>): string => account ?? ''

export type Window = ReturnType<typeof createWindow>

export function createWindow(position: number) {
  let held: HeldEvent[] = []
  let readTo = position

  const unfinished = () => held.filter(({ state }) => state !== 'done')

  /** The first unfinished event about each account, where it waits for its turn. One at a time, since most callers want one. */
  function* firstWaiting(busy: ReadonlySet<string>): Generator<HeldEvent, undefined> {
    const seen = new Set(busy)
    for (const entry of held) {
      if (entry.state === 'done' || seen.has(entry.account)) continue
      seen.add(entry.account)
      if (entry.state === 'waiting') yield entry
    }
  }

  return {
    readTo: () => readTo,
    /** Every event up to it is done with. */
    position(): number {
      const first = held.find(({ state }) => state !== 'done')
      return first === undefined ? readTo : first.event.id - 1
    },
    room: () => MOST_HELD - held.length,
    /** Some are sent and not done with, or wait. */
    isIdle: () => unfinished().length === 0,
    /**
     * Tells which of the events that were read next have to be set aside: those about an account of which some are set
     * aside already, or ten are held.
     */
    surplusOf(events: StoredEvent[], aside: ReadonlySet<string>): StoredEvent[] {
      const counts = new Map<string, number>()
      for (const { account } of unfinished()) counts.set(account, (counts.get(account) ?? 0) + 1)
      const passed = new Set(aside)
      return events.filter((event) => {
        const account = accountOf(event)
        const count = counts.get(account) ?? 0
        counts.set(account, count + 1)
        if (count >= MOST_OF_ONE) passed.add(account)
        return passed.has(account)
      })
    },
    /** The events up to this id were read; those that are not among `events` are nothing for the endpoint, or set aside. */
    take(events: StoredEvent[], upTo: number): void {
      for (const event of events) held.push({ event, account: accountOf(event), state: 'waiting', probes: 0 })
      readTo = upTo
    },
    next: (busy: ReadonlySet<string>): HeldEvent | undefined => firstWaiting(busy).next().value,
    /**
     * The one that was tried least while the endpoint is away, the oldest or the newest of them in turn: those that
     * always fail keep nobody else's away, wherever they stand.
     */
    nextProbe: (busy: ReadonlySet<string>, newest: boolean): HeldEvent | undefined => {
      const waiting = [...firstWaiting(busy)]
      return (newest ? waiting.reverse() : waiting).toSorted((one, other) => one.probes - other.probes)[0]
    },
    waitingAbout: (accounts: ReadonlySet<string>): HeldEvent[] =>
      held.filter(({ account, state }) => state === 'waiting' && accounts.has(account)),
    /** The position is stored: what it has passed needs no more place. */
    forget(stored: number): void {
      held = held.filter(({ event }) => event.id > stored)
    },
    /** The events that are done with, ahead of the stored position. */
    countDone: () => held.length - unfinished().length,
  }
}
