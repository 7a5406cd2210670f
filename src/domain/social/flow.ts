/**
 * One sign-in under way in a browser: begun here, continued at the provider, ended by the callback. What must not be
 * guessed follows from the random state by the server secret, so the ticket holds nothing of it; the state itself
 * stands there only as a tag.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hasSecureCookies } from '../../platform/config/types.ts'
import type { FlowChecks } from '../providers/provider.ts'
import type { Services, Stores } from '../services.ts'

/** What the client asked for. */
export interface FlowRequest {
  provider: string
  redirectUri: string
  codeChallenge: string
  /** The client's own; null where it sent none. */
  clientState: string | null
}

/** For the browser that began: nobody else can end the sign-in. One for each, so that two tabs go their own ways. */
export interface BrowserBinding {
  name: string
  value: string
  lifetimeSeconds: number
}

export interface Flows {
  begin(request: FlowRequest): Promise<{ checks: FlowChecks; binding: BrowserBinding }>
  /** Once. Null: unknown, over, ended already, or of another browser, which leaves it as it is. */
  take(
    state: string,
    cookies: ReadonlyMap<string, string>,
  ): Promise<{ request: FlowRequest; checks: FlowChecks; binding: BrowserBinding } | null>
}

/** Long enough to find a password and a second factor there. */
const LIFETIME_SECONDS = 600

type Needs = Pick<Services, 'secret' | 'clock' | 'config'> & { stores: Pick<Stores, 'tickets'> }

export function createFlows({ stores, secret, clock, config }: Needs): Flows {
  const { tickets } = stores
  const cookiePrefix = hasSecureCookies(config) ? '__Host-' : ''
  const derive = (what: string, state: string) => secret.tag(`social ${what}`, state).toString('base64url')
  const ticketKey = (state: string) => `social-flow:${derive('state', state)}`
  const checksOf = (state: string): FlowChecks => ({
    state,
    nonce: derive('nonce', state),
    codeVerifier: derive('verifier', state),
  })
  const bindingOf = (state: string): BrowserBinding => ({
    name: `${cookiePrefix}poterne-social-${derive('cookie name', state).slice(0, 8)}`,
    value: derive('browser', state),
    lifetimeSeconds: LIFETIME_SECONDS,
  })

  return {
    async begin(request) {
      const state = randomBytes(32).toString('base64url')
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000)
      await tickets.put(ticketKey(state), { request }, expiresAt, now)
      return { checks: checksOf(state), binding: bindingOf(state) }
    },
    async take(state, cookies) {
      const binding = bindingOf(state)
      if (!isSame(cookies.get(binding.name) ?? '', binding.value)) return null
      const ticket = await tickets.take(ticketKey(state), clock.now())
      return ticket && { request: ticket.request as FlowRequest, checks: checksOf(state), binding }
    },
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
