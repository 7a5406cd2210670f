/**
 * What becomes of the applications that people are handed over to: who was let in is counted, and each refusal is kept for a
 * while, counted and logged, so that whoever sets one up sees what it did wrong.
 */

import type { Ground } from '../../../platform/ground.ts'
import { type Metrics, noMetrics } from '../../foundation/metrics/metrics.ts'
import type { ApplicationLogStore } from './store.ts'

export interface ApplicationRefusal {
  /** Null for one that the configuration does not have. */
  application: string | null
  /** OAuth's word. */
  error: string
  /** Why, in a word or a sentence of ours: nothing that was sent. */
  reason: string
  /** What the configuration has instead of what was asked for. */
  nearest?: string | null
}

type KeptRefusal = { at: Date } & Required<Pick<ApplicationRefusal, 'error' | 'reason' | 'nearest'>>

interface Needs extends Pick<Ground, 'clock' | 'config' | 'logger'> {
  metrics?: Pick<Metrics, 'count'>
  stores: { applicationLog: ApplicationLogStore }
}

const KEPT = 20
const MINUTE_MS = 60_000
const LINES_A_MINUTE = 60
/** Anybody can name an application that does not exist: the others keep the rest of the lines. */
const LINES_OF_UNKNOWN_ONES = 30

export type ApplicationLog = ReturnType<typeof createApplicationLog>

export function createApplicationLog({ clock, config, logger, stores, metrics = noMetrics }: Needs) {
  const kept = new Map<string, KeptRefusal[]>(config.pages.applications.map(({ id }) => [id, []]))
  let minute = Number.NEGATIVE_INFINITY
  let lines = 0
  let linesOfUnknownOnes = 0

  function mayLog(isKnown: boolean, nowMs: number): boolean {
    const now = Math.floor(nowMs / MINUTE_MS)
    if (now !== minute) {
      minute = now
      lines = 0
      linesOfUnknownOnes = 0
    }
    if (lines >= LINES_A_MINUTE || (!isKnown && linesOfUnknownOnes >= LINES_OF_UNKNOWN_ONES)) return false
    lines += 1
    if (!isKnown) linesOfUnknownOnes += 1
    return true
  }

  return {
    /** Somebody was let in. */
    entered: (application: string): void => metrics.count('application_entries_total', { application }),
    refused({ application, error, reason, nearest = null }: ApplicationRefusal): void {
      const at = clock.now()
      const refusals = application === null ? undefined : kept.get(application)
      metrics.count('application_refusals_total', { application: refusals ? application! : '', error })
      refusals?.unshift({ at, error, reason, nearest })
      if (refusals && refusals.length > KEPT) refusals.pop()
      if (!mayLog(refusals !== undefined, at.getTime())) return
      const named = refusals ? application : null
      logger.warn({ application: named, error, reason, ...(nearest !== null && { nearest }) }, REFUSED)
    },
    /** The last ones of this process, newest first. */
    refusalsOf: (application: string): readonly KeptRefusal[] => kept.get(application) ?? [],
    /** The living sessions of each application that has some. */
    countSessions: (): Promise<Map<string, number>> => stores.applicationLog.countSessions(clock.now()),
  }
}

const REFUSED = 'an application was refused'
