/** Begins the requests about an event, and does what follows from their outcome. */
import type { StoredEvent } from '../../domain/foundation/events/store.ts'
import type { Aside, Retry } from './aside.ts'
import type { Holding } from './holding.ts'
import type { Outcome, Requests, Settling } from './requests.ts'
import type { HeldEvent } from './window.ts'

interface Needs extends Pick<Settling, 'failed' | 'ended'> {
  requests: Requests
  aside: Aside
}

/** Nobody takes them up while they are written. */
export async function putAside(entries: HeldEvent[], put: (events: StoredEvent[]) => Promise<boolean>) {
  for (const entry of entries) entry.state = 'sending'
  if (!(await put(entries.map(({ event }) => event)))) return
  for (const entry of entries) entry.state = 'done'
}

export function createSending({ requests, aside, failed, ended }: Needs) {
  const settlingOf = (held: Holding, settle: Settling['settle']): Settling => ({
    settle: async (outcome) => {
      if (!held.isLost()) await settle(outcome)
    },
    // The account could not be read: the event comes again once this process holds the endpoint anew.
    failed(error) {
      failed(error)
      held.lose()
    },
    ended,
  })

  function beginHeld(held: Holding, entry: HeldEvent): void {
    entry.state = 'sending'
    const settle = (outcome: Outcome) => settleHeld(held, entry, outcome)
    requests.begin('log', entry.event, settlingOf(held, settle))
  }

  async function settleHeld(held: Holding, entry: HeldEvent, outcome: Outcome): Promise<void> {
    const waitingBehind = () => held.window.waitingAbout(new Set([entry.account]))
    if (outcome.accepted) {
      entry.state = 'done'
      return noteAccepted(held)
    }
    if (held.noteFailure()) {
      held.asideMeanwhile.add(entry.account)
      return putAside([entry, ...waitingBehind()], (unsent) =>
        aside.put(unsent.slice(1), { event: entry.event, failure: outcome }),
      )
    }
    entry.state = 'waiting'
    entry.probes += 1
    // What comes after those that are held has its turn.
    if (held.isFull()) {
      held.asideMeanwhile.add(entry.account)
      await putAside(waitingBehind(), aside.put)
    }
  }

  function beginRetry(held: Holding, retry: Retry): void {
    const settle = (outcome: Outcome) => settleRetry(held, retry, outcome)
    requests.begin('aside', retry.event, settlingOf(held, settle))
  }

  async function settleRetry(held: Holding, retry: Retry, outcome: Outcome): Promise<void> {
    if (outcome.accepted) {
      await aside.finish(retry)
      await noteAccepted(held)
    } else if (held.noteFailure()) await aside.postpone(retry, outcome)
  }

  async function noteAccepted(held: Holding): Promise<void> {
    if (held.noteAccepted()) await aside.makeAllDue()
  }

  return { beginHeld, beginRetry }
}
