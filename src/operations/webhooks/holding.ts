/**
 * What this process knows of an endpoint while it holds it by a lease: the events that were read for it, how far it was told,
 * and whether it is away.
 */
import type { Ground } from '../../platform/ground.ts'
import { delayWhileAwayMs, FAILURES_UNTIL_AWAY } from '../../platform/waiting.ts'
import type { Reports } from './reports.ts'
import type { HeldEndpoint, WebhookStore } from './store.ts'
import { createWindow } from './window.ts'

interface Needs extends Pick<Ground, 'clock'> {
  holder: string
  stores: { webhooks: Pick<WebhookStore, 'save'> }
  reports: Pick<Reports, 'awayBegan' | 'awayEnded'>
  /** Given where nobody can wait as long as an endpoint that is away is waited for. */
  awayDelayMs?: (tries: number) => number
}

/** With the two seconds between two looks of the others, a process that died is replaced within 10 s. */
export const LEASE_MS = 6000
const RENEW_MS = 2000
const SAVE_MS = 200
/** Fewer events are not worth a look at the log, while there is other work. */
export const WORTH_READING = 50
/** Fewer events are not worth a write of the position, while there is other work. */
const WORTH_SAVING = 50
/**
 * A look at the log asks about so many ids, and after a look that found little about twice as many as that one: without
 * statistics PostgreSQL sorts all that it is asked about.
 */
const LEAST_IDS = 1000

export type Holding = ReturnType<typeof createHolding>

/** By a lease that began then, on the clock of the process, which only goes forward. */
export function createHolding(endpoint: HeldEndpoint, beganMs: number, needs: Needs) {
  const { holder, stores, clock, reports, awayDelayMs = delayWhileAwayMs } = needs
  const { name } = endpoint
  const window = createWindow(endpoint.position)
  let stored: Pick<HeldEndpoint, 'position' | 'awaySince'> = endpoint
  let storedAtMs = beganMs
  let isLost = false
  let settled = endpoint.position
  let idsAtOnce = LEAST_IDS
  let { awaySince, lastAcceptedAt } = endpoint
  let failuresInRow = 0
  /** While the endpoint is away: its requests, and those of them about what was set aside. */
  let probes = { tries: 0, triesAside: 0 }
  let nextProbeAtMs = 0

  return {
    window,
    /** The accounts about which something was set aside while the log was being read. */
    asideMeanwhile: new Set<string>(),
    isLost: () => isLost,
    lose(): void {
      isLost = true
    },
    hasLease: () => !isLost && performance.now() < storedAtMs + LEASE_MS,
    /** The events of the log up to this id are settled. */
    noteSettled(id: number): void {
      settled = id
    },
    /** There is more of the log to read. */
    isBehind: () => window.readTo() < settled,
    /** About as many events are held as may be, and the log goes on. */
    isFull: () => window.room() < WORTH_READING && window.readTo() < settled,
    /** The id to which the next look at the log goes. */
    nextLook: () => Math.min(settled, window.readTo() + idsAtOnce),
    noteLook({ foundAll }: { foundAll: boolean }): void {
      idsAtOnce = foundAll ? idsAtOnce * 2 : LEAST_IDS
    },
    awaySince: () => awaySince,
    /** It returns true where the endpoint was away until now. */
    noteAccepted(): boolean {
      failuresInRow = 0
      lastAcceptedAt = clock.now()
      if (awaySince === null) return false
      awaySince = null
      reports.awayEnded()
      return true
    },
    /** It returns false where the endpoint was away already: then the failure counts for nothing else. */
    noteFailure(): boolean {
      failuresInRow += 1
      if (awaySince !== null) return false
      if (failuresInRow < FAILURES_UNTIL_AWAY) return true
      awaySince = clock.now()
      probes = { tries: 0, triesAside: 0 }
      nextProbeAtMs = performance.now() + awayDelayMs(0)
      reports.awayBegan()
      return true
    },
    probes: () => probes,
    untilProbeMs: () => nextProbeAtMs - performance.now(),
    noteProbe({ isAside }: { isAside: boolean }): void {
      const { tries, triesAside } = probes
      probes = { tries: tries + 1, triesAside: triesAside + (isAside ? 1 : 0) }
      nextProbeAtMs = performance.now() + awayDelayMs(probes.tries)
    },
    /** How long `save` can wait; null where it has nothing to do yet. */
    untilSaveMs(): number | null {
      const ageMs = performance.now() - storedAtMs
      const done = window.countDone()
      // While it is away there is one request at a time, and what was set aside gives its place to the next of the log.
      const isWorthIt = done >= WORTH_SAVING || (awaySince !== null && done > 0)
      if (awaySince !== stored.awaySince || ageMs >= RENEW_MS || isWorthIt) return 0
      return done > 0 ? Math.max(SAVE_MS - ageMs, 0) : null
    },
    /** Stores the position and keeps the lease, unless another process has it by now. */
    async save(): Promise<void> {
      const startedAtMs = performance.now()
      const now = { position: window.position(), awaySince }
      const until = new Date(clock.now().getTime() + LEASE_MS)
      const values = { name, holder, before: stored.position, ...now, lastAcceptedAt, until }
      if (!(await stores.webhooks.save(values))) {
        isLost = true
        return
      }
      stored = now
      storedAtMs = startedAtMs
      window.forget(now.position)
    },
  }
}
