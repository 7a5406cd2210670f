/** Chooses the moments for upkeep: while no statement waits, in small pieces, and with a rest after a look that found nothing. */
import type { Lives } from './lives.ts'
import type { createUpkeep, UpkeepFailed } from './upkeep.ts'

interface Needs {
  upkeep: Pick<ReturnType<typeof createUpkeep>, 'step'>
  lives: Lives
  mayCheckpoint(): boolean
  onFailure: ((failure: UpkeepFailed) => void) | undefined
}

/** Upkeep that is due waits at most this long for a moment in which no statement waits. */
const QUIET_WITHIN_MS = 10_000
/** Small pieces of upkeep follow each other for this long. */
const UPKEEP_MS = 20
/** A look at all relations costs some 40 ms: too much for every second of an idle service. */
const LOOK_AGAIN_MS = 10_000

export function createKeepUp({ upkeep, lives, mayCheckpoint, onFailure }: Needs) {
  let upkeptAtMs = performance.now()
  let nothingDueUntilMs = 0

  /** To be called within a turn only. */
  const step = (onlyUrgent = false) =>
    upkeep.step(lives.query, { onlyUrgent, mayCheckpoint: mayCheckpoint() })

  /** To be called within a turn only. */
  async function keepUp({ isBusy, isReadOnly }: { isBusy: boolean; isReadOnly: boolean }): Promise<void> {
    if (!lives.isOpen()) return
    const startedAtMs = performance.now()
    // A vacuum writes to the log first, for which a disk that is almost full has no space.
    const onlyUrgent =
      isReadOnly || startedAtMs < nothingDueUntilMs || (isBusy && startedAtMs - upkeptAtMs < QUIET_WITHIN_MS)
    try {
      let done = await step(onlyUrgent)
      while (done && performance.now() - startedAtMs < UPKEEP_MS) done = await step(onlyUrgent)
      if (!done && !onlyUrgent) nothingDueUntilMs = startedAtMs + LOOK_AGAIN_MS
    } catch (error) {
      onFailure?.(error as UpkeepFailed)
    }
    if (!onlyUrgent) upkeptAtMs = performance.now()
  }

  return { step: () => step(), keepUp }
}
