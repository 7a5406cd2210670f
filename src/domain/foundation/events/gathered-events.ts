/**
 * Gathers in memory the events that strangers can cause in any number (failed logins, wrong codes, requested resets),
 * and writes them once a second. There is one event for each account, type, hour and address, with a count. A known
 * account takes the same work as an unknown one, and a flood does not fill the table.
 */
import type { Ground } from '../../../platform/ground.ts'
import { currentRequest } from '../../../platform/request-context.ts'
import type { CountedType } from './event.ts'
import type { EventStore, GatheredFailures } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'logger'> {
  stores: { events: EventStore }
}

const FLUSH_MS = 1000
/** The most addresses of one second; further failures are counted without their address. */
const MAXIMUM_ENTRIES = 2000
/** The most addresses of one hour with tokens that are none of ours; further ones are counted without their address. */
const MAXIMUM_STRANGERS = 100
const HOUR_MS = 3_600_000

export type GatheredEvents = ReturnType<typeof createGatheredEvents>

export function createGatheredEvents({ stores, clock, logger }: Needs) {
  let gathered = new Map<string, GatheredFailures>()
  let flushing = Promise.resolve()
  let timer: Timer | undefined

  let strangers = { hour: 0, addresses: new Set<string | null>() }

  /** A caller about whom only the address is known: one of many is not told from the others. */
  function addressOfStranger(address: string | null, now: Date): string | null {
    const hour = Math.floor(now.getTime() / HOUR_MS)
    if (strangers.hour !== hour) strangers = { hour, addresses: new Set() }
    const { addresses } = strangers
    if (addresses.size >= MAXIMUM_STRANGERS && !addresses.has(address)) return null
    addresses.add(address)
    return address
  }

  function count(failure: Omit<GatheredFailures, 'count' | 'at'>): void {
    const key = JSON.stringify(failure)
    const known = gathered.get(key)
    if (known) known.count++
    else gathered.set(key, { ...failure, count: 1, at: clock.now() })
  }

  const currentAddress = () =>
    gathered.size >= MAXIMUM_ENTRIES ? null : (currentRequest()?.addressBucket ?? null)

  async function write(): Promise<void> {
    const failures = [...gathered.values()].filter(({ account, actor }) => account !== null || actor !== null)
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
    /** `account` is null if there is none: the work is the same, and nothing is written. */
    add(type: CountedType, account: { uuid: string } | null): void {
      count({ type, account: account?.uuid ?? null, actor: null, address: currentAddress() })
    },
    /** A token of administration that was refused; `token` is null if it is none of ours. */
    addRefusedToken(token: { id: string; name: string } | null): void {
      const address = currentAddress()
      const actor = token
        ? ({ type: 'token', ...token } as const)
        : ({ type: 'system', id: null, name: null } as const)
      const known = token ? address : addressOfStranger(address, clock.now())
      count({ type: 'token.refused', account: null, actor, address: known })
    },
    /** Writes what was gathered. Never throws. */
    flush,
    start(): void {
      timer = setInterval(flush, FLUSH_MS)
      timer.unref()
    },
    /** Writes what is left. */
    async close(): Promise<void> {
      clearInterval(timer)
      await flush()
    },
  }
}
