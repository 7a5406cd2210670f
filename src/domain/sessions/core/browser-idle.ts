/** The time that the session of a browser lives without a request to a page. */
import type { Config } from '../../../platform/config/types.ts'

const USUAL_SECONDS = 12 * 3600
const STAYS_SECONDS = 30 * 86_400

/** Returns seconds, never more than a session of a client that refreshes has. */
export const browserIdleSeconds = (stays: boolean, { refreshLifetimeSeconds }: Config['tokens']): number =>
  Math.min(stays ? STAYS_SECONDS : USUAL_SECONDS, refreshLifetimeSeconds)
