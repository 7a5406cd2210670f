/**
 * An application that is told of ended sessions, by requests in places of its own. After five failures in a row it is away, and
 * gets one request at a time, so that what waits for it is not tried in vain again and again.
 */
import { delayWhileAwayMs, FAILURES_UNTIL_AWAY } from '../../../platform/waiting.ts'
import type { DeliveryAttemptOptions } from './delivery-attempt.ts'

/** The requests under way at once. */
const PLACES = 8

export function createReceiver({ tellApplication }: Pick<DeliveryAttemptOptions, 'tellApplication'>) {
  let failuresInRow = 0
  let tries = 0
  let nextTryAtMs = 0
  const isAway = () => failuresInRow >= FAILURES_UNTIL_AWAY

  function note(isWell: boolean): void {
    failuresInRow = isWell ? 0 : failuresInRow + 1
    if (!isAway()) tries = 0
    else nextTryAtMs = performance.now() + delayWhileAwayMs(tries++)
  }

  const tell: NonNullable<typeof tellApplication> = async (message) => {
    const result = await tellApplication!(message)
    note(result.outcome !== 'failed')
    return result
  }

  return {
    tell,
    /** The number of requests that may begin. */
    free(underWay: number): number {
      if (!isAway()) return Math.max(0, PLACES - underWay)
      return underWay === 0 && performance.now() >= nextTryAtMs ? 1 : 0
    },
    /** The time of its pause that is left. */
    restMs: (): number =>
      nextTryAtMs > performance.now() ? nextTryAtMs - performance.now() : Number.POSITIVE_INFINITY,
  }
}
