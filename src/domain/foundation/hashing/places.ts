/** The places of the queue for hashes: who may wait, who is refused, and how many tries wait for their later stages. */

import { AppError } from '../../../texts/errors.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Family } from './digest.ts'

/** The caller for whom a password is hashed. */
export interface HashCaller {
  /**
   * True for a session and for a known device. They may also take the reserved places of the queue, and are served
   * before all others, so that strangers who fill the queue keep no owner out.
   */
  owner?: boolean
}

export interface HeldPlace {
  /** Gives the place up, or hands it to the check that begins. May be called again. */
  release(): void
}

interface Options {
  atOnce: number
  queue: number
  reserved: number
  metrics: Pick<Metrics, 'count'>
  /** The hashes that run or wait. */
  jobs(): number
}

/** A hash takes tens of milliseconds: after a second the queue has emptied many times over. */
const BUSY_RETRY_SECONDS = 1
/** So many tries may wait for their later stages. */
const LATER_PLACES = 64

export function createHashPlaces({ atOnce, queue, reserved, metrics, jobs }: Options) {
  const ofStrangers = queue > reserved ? queue - reserved : queue
  let held = 0
  let inLaterStages = 0

  const busy = () => {
    metrics.count('hash_refused_total')
    return new AppError('server_busy', { retryAfterSeconds: BUSY_RETRY_SECONDS })
  }

  function requireFreePlace({ owner = false }: HashCaller = {}): void {
    if (jobs() + held >= atOnce + (owner ? queue : ofStrangers)) throw busy()
  }

  /** Takes a place in the queue, for a `check` that is to follow what must be counted first. Throws like `requireFreePlace`. */
  function holdPlace(caller?: HashCaller): HeldPlace {
    requireFreePlace(caller)
    held++
    let isHeld = true
    return {
      release() {
        if (isHeld) held--
        isHeld = false
      },
    }
  }

  /** Runs one stage after the other until one says that the try has ended. */
  async function runLaterStages(stages: readonly Family[], run: (stage: Family) => Promise<boolean>) {
    if (inLaterStages >= LATER_PLACES + atOnce) throw busy()
    inLaterStages++
    try {
      for (const stage of stages) if (await run(stage)) return
    } finally {
      inLaterStages--
    }
  }

  return { requireFreePlace, holdPlace, runLaterStages }
}
