/**
 * The running service's part in backups: it copies the files of its embedded database for the command line, and takes
 * the scheduled ones, by one replica at a time. It remembers how the last ones went.
 */

import type { Ground } from '../../platform/ground.ts'
import type { DatabaseFiles } from '../../platform/postgres/database.ts'
import { isUnavailable } from '../../platform/postgres/failure.ts'
import { together } from '../../platform/waiting.ts'
import { AppError } from '../../texts/errors.ts'
import { AfterFailed } from './after.ts'
import type { BackupStore, FinishedBackup } from './store.ts'

interface BackupServiceOptions extends Pick<Ground, 'clock' | 'logger'> {
  store: BackupStore
  files: DatabaseFiles | undefined
  /** `HH:MM`, in the time zone of the machine; null: none is taken. */
  at: string | null
  /** Makes and verifies a backup in its directory, removes those that are too old, and runs the operator's command. */
  make: (signal: AbortSignal) => Promise<FinishedBackup>
}

const INTERVAL_MS = 20_000

/**
 * The last time until `now` at which the clock on the wall showed `HH:MM`. A time that the clock skips when summer begins
 * counts as much later as the clock skipped; of a time that it shows twice only the first counts.
 */
export function lastDue(at: string, now: Date): Date {
  const [hours, minutes] = at.split(':').map(Number) as [number, number]
  const due = (daysAgo: number) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo, hours, minutes)
  return due(0) > now ? due(1) : due(0)
}

export type BackupService = ReturnType<typeof createBackupService>

export function createBackupService(options: BackupServiceOptions) {
  const { store, files, clock, logger, at, make } = options
  const ending = new AbortController()
  const startedAt = clock.now()
  /** Nothing until then is due any more. It is null before the first look. */
  let seen: Date | null = null
  let timer: Timer | undefined

  const take = together(async (dueAt: Date): Promise<void> => {
    try {
      if (!(await store.claimRound(dueAt))) return
      const startedAt = performance.now()
      const backup = await make(ending.signal)
      await store.noteSuccess(backup, clock.now())
      const seconds = Math.round(performance.now() - startedAt) / 1000
      const { warning, ...made } = backup
      logger.info({ ...made, seconds }, 'a backup was made and verified')
      if (warning) logger.warn({ warning }, 'the backup is good, with a warning')
    } catch (error) {
      // The next start takes it.
      if (ending.signal.aborted) return void (await store.releaseRound(dueAt).catch(() => {}))
      const cause = error instanceof Error ? error.message : 'unknown cause'
      const said = error instanceof AfterFailed && error.said
      logger.error({ cause, ...(said && { stderr: said }) }, 'the scheduled backup failed')
      await store.noteFailure(cause, clock.now()).catch(() => {})
    }
  })

  /** A backup that was due while no replica ran is made now, unless none was ever taken. */
  async function findSeen(): Promise<Date> {
    const { takenFor } = await store.getState()
    return takenFor !== null && takenFor < startedAt ? takenFor : startedAt
  }

  async function takeDue(): Promise<void> {
    if (at === null || ending.signal.aborted) return
    const now = clock.now()
    const dueAt = lastDue(at, now)
    seen ??= await findSeen().catch(() => null)
    if (seen === null || dueAt <= seen) return take.underWay() ?? undefined
    seen = now
    await take(dueAt)
  }

  return {
    getState: store.getState,
    /** See DatabaseFiles. Throws AppError where the database is not the embedded one. */
    async snapshot(): Promise<{ directory: string | null; refused: string | null }> {
      if (!files) throw new AppError('route_not_found')
      try {
        return { directory: await files.snapshot(), refused: null }
      } catch (error) {
        if (isUnavailable(error)) throw error
        return {
          directory: null,
          refused: `the files of the database cannot be copied: ${(error as Error).message}`,
        }
      }
    },
    /** A backup that was made and verified. */
    noteSuccess: (backup: FinishedBackup): Promise<void> => store.noteSuccess(backup, clock.now()),
    /** Takes the scheduled backup if its time has come since the last call. Never throws. */
    takeDue,
    /** Begins to look at the clock. */
    start(): void {
      if (at === null) return
      timer = setInterval(takeDue, INTERVAL_MS)
      timer.unref()
    },
    /** Interrupts the one under way. */
    async close(): Promise<void> {
      ending.abort()
      clearInterval(timer)
      await take.underWay()
    },
  }
}
