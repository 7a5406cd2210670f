/**
 * A sign-in in a browser: begun here, continued at the provider, ended by the callback. All secret values are derived
 * from the random state with the server secret, so the ticket contains none of them; it is stored under a tag of the
 * state. Any accepted secret may have begun it.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto'
import { hasSecureCookies } from '../../../platform/config/types.ts'
import type { Ground } from '../../../platform/ground.ts'
import type { AcceptedSecret } from '../../../platform/secret.ts'
import type { FlowChecks } from '../../credentials/providers/provider.ts'
import type { TicketStore } from '../../foundation/tickets/store.ts'

/** The client's request. */
interface FlowRequest {
  provider: string
  redirectUri: string
  codeChallenge: string
  /** The client's own state; null if it sent none. */
  clientState: string | null
}

/** Only the browser that began the sign-in can end it. Each sign-in has its own cookie, so that two tabs do not clash. */
export interface BrowserBinding {
  name: string
  value: string
  lifetimeSeconds: number
}

/** Long enough to find the password and the second factor for the provider. */
const LIFETIME_SECONDS = 600

/** Another site can begin any number in a browser, which keeps a bounded number of cookies for a site, and drops others. */
const MOST_AT_ONCE = 16

/** Removes those that began first, so that one more may be added. Browsers send the cookie first that they have longest. */
export function surplusBindings(cookies: ReadonlyMap<string, string>): BrowserBinding[] {
  const names = [...cookies.keys()].filter((name) => BINDING.test(name))
  const surplus = names.slice(0, Math.max(0, names.length - (MOST_AT_ONCE - 1)))
  return surplus.map((name) => ({ name, value: '', lifetimeSeconds: 0 }))
}

const BINDING = /^(__Host-)?poterne-social-/

interface Needs extends Pick<Ground, 'clock' | 'config' | 'secret'> {
  stores: { tickets: TicketStore }
}

export function createFlows({ stores, secret, clock, config }: Needs) {
  const { tickets } = stores
  const cookiePrefix = hasSecureCookies(config) ? '__Host-' : ''
  const derive = (by: AcceptedSecret, what: string, state: string) =>
    by.tag(`social ${what}`, state).toString('base64url')
  const ticketKey = (by: AcceptedSecret, state: string) => `social-flow:${derive(by, 'state', state)}`
  const checksOf = (by: AcceptedSecret, state: string): FlowChecks => ({
    state,
    nonce: derive(by, 'nonce', state),
    codeVerifier: derive(by, 'verifier', state),
  })
  const bindingOf = (by: AcceptedSecret, state: string): BrowserBinding => ({
    name: `${cookiePrefix}poterne-social-${derive(by, 'cookie name', state).slice(0, 8)}`,
    value: derive(by, 'browser', state),
    lifetimeSeconds: LIFETIME_SECONDS,
  })

  return {
    async begin(request: FlowRequest): Promise<{ checks: FlowChecks; binding: BrowserBinding }> {
      const state = randomBytes(32).toString('base64url')
      const now = clock.now()
      const expiresAt = new Date(now.getTime() + LIFETIME_SECONDS * 1000)
      const by = secret.current
      await tickets.put(ticketKey(by, state), { request }, expiresAt, now)
      return { checks: checksOf(by, state), binding: bindingOf(by, state) }
    },
    /**
     * Can be called once. Returns null if the sign-in is unknown, expired or already completed, or if it belongs to another
     * browser, which leaves it unchanged.
     */
    async take(state: string, cookies: ReadonlyMap<string, string>) {
      for (const by of secret.accepted) {
        const binding = bindingOf(by, state)
        if (!isSame(cookies.get(binding.name) ?? '', binding.value)) continue
        const ticket = await tickets.take(ticketKey(by, state), clock.now())
        return ticket && { request: ticket.request as FlowRequest, checks: checksOf(by, state), binding }
      }
      return null
    },
  }
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}
