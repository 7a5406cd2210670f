/**
 * Events that strangers can cause in any number (failed logins, wrong codes, requested resets) are gathered in memory
 * and written once a second: one event for each account, type, hour and address, with a count. A known account takes
 * the same work as an unknown one, and a flood does not fill the table.
 */
import { currentRequest } from '../../platform/request-context.ts'
import type { Services, Stores } from '../services.ts'
import type { EventType } from './event.ts'
import type { GatheredFailures } from './store.ts'

export interface GatheredEvents {
  /** `account` is null if there is none: the work is the same, and nothing is written. */
  add(type: EventType, account: { uuid: string } | null): void
  /** Writes what was gathered. Never throws. */
  flush(): Promise<void>
  start(): void
  /** Writes what is left. */
  close(): Promise<void>
}

type Needs = Pick<Services, 'clock' | 'logger'> & { stores: Pick<Stores, 'events'> }

const FLUSH_MS = 1000
/** The most addresses of one second; further failures are counted without their address. */
const MAXIMUM_ENTRIES = 2000

export function createGatheredEvents({ stores, clock, logger }: Needs): GatheredEvents {
  let gathered = new Map<string, GatheredFailures>()
  let flushing = Promise.resolve()
  let timer: Timer | undefined

  async function write(): Promise<void> {
    const failures = [...gathered.values()].filter(({ account }) => account !== null)
    gathered = new Map()
    if (failures.length === 0) return
    try {
      await stores.events.addFailures(failures)
    } catch {
      logger.warn({ events: failures.length }, 'failed attempts could not be recorded')
    }
  }

  function flush(): Promise<void> {
    flushing = flushing.then(write)
    return flushing
  }

  return {
    add(type, account) {
      const uuid = account?.uuid ?? null
      const isFull = gathered.size >= MAXIMUM_ENTRIES
      const address = isFull ? null : (currentRequest()?.addressBucket ?? null)
      const key = `${type} ${uuid} ${address}`
      const known = gathered.get(key)
      if (known) known.count++
      else gathered.set(key, { type, account: uuid, address, count: 1, at: clock.now() })
    },
    flush,
    start() {
      timer = setInterval(flush, FLUSH_MS)
      timer.unref()
    },
    async close() {
      clearInterval(timer)
      await flush()
    },
  }
}
