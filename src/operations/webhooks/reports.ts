/** What the log and the operator hear of an endpoint: never an address, a body or a secret. */
import type { TellOperator } from '../../domain/messages/outbox/operator-notices.ts'
import type { Ground } from '../../platform/ground.ts'

interface Needs extends Pick<Ground, 'clock' | 'logger'> {
  tellOperator: TellOperator
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

export type Reports = ReturnType<typeof createReports>

export function createReports(webhook: string, { clock, logger, tellOperator }: Needs) {
  const saidAt = new Map<string, number>()
  let isDatabaseAway = false

  /** At most once in that time. */
  function once(what: string, inMs: number, say: () => void): void {
    const nowMs = clock.now().getTime()
    if (nowMs - (saidAt.get(what) ?? Number.NEGATIVE_INFINITY) < inMs) return
    saidAt.set(what, nowMs)
    say()
  }

  return {
    awayBegan: () =>
      once('away', MINUTE_MS, () =>
        logger.warn(
          { webhook },
          'the webhook is away: five requests in a row failed, and one at a time tries on',
        ),
      ),
    awayEnded: () =>
      once('back', MINUTE_MS, () => logger.info({ webhook }, 'the webhook takes requests again')),
    givenUp(event: { event: number; type: string; last_failure: string }): void {
      logger.warn({ webhook, ...event }, 'an event was given up: poterne webhooks retry sends it again')
      once('given up', DAY_MS, () => tellOperator('operator_webhook_given_up', webhook))
    },
    /** Called again and again. */
    stillAway(since: Date | null): void {
      if (since === null || clock.now().getTime() - since.getTime() < HOUR_MS) return
      once('away for an hour', DAY_MS, () => tellOperator('operator_webhook_away', webhook))
    },
    databaseAway(cause: string): void {
      if (!isDatabaseAway)
        logger.warn({ webhook, cause }, 'the events for the webhook cannot be read or noted')
      isDatabaseAway = true
    },
    databaseAnswers(): void {
      isDatabaseAway = false
    },
  }
}
