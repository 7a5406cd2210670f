/**
 * The rules by which administrators sign in: the password, then an authenticator app or a passkey at the address of the
 * page; eight hours at most.
 */

import { decoyUuid } from '../../domain/foundation/decoys/decoys.ts'
import type { BrowserSession } from '../../domain/sessions/browser-sessions/service.ts'
import type { SignInPolicy } from '../../domain/sessions/core/policy.ts'
import type { RecentSignIn } from '../../domain/sessions/core/recent-sign-in.ts'
import type { RefreshTokens } from '../../domain/sessions/tokens/refresh-token.ts'
import type { PasskeyStore } from '../../domain/sign-in/passkeys/store.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../../platform/config/types.ts'
import { setCurrentActor } from '../../platform/request-context.ts'
import type { AdministratorStore } from '../administrators/store.ts'
import type { AdministratorSessionStore } from './store.ts'

export const LIFETIME_SECONDS = 8 * 3600
/** The time for which password and second factor count as just proved. */
export const PROVED_MS = 5 * 60_000

interface Needs {
  config: Config
  refreshTokens: Pick<RefreshTokens, 'create'>
  stores: {
    administrators: AdministratorStore
    administratorSessions: AdministratorSessionStore
    passkeys: PasskeyStore
  }
}

export function createAdministrationPolicy({ config, refreshTokens, stores }: Needs): SignInPolicy {
  const relyingParty = pageRelyingParty(config)
  return {
    factors: ['passkey', 'totp'],
    lifetimeSeconds: LIFETIME_SECONDS,
    failure: 'administrator.sign_in_failed',
    admits: async (account) => (await stores.administrators.find(account?.uuid ?? decoyUuid)) !== null,
    hasPasskey: async (account) =>
      relyingParty !== null &&
      (await stores.passkeys.list(account.id)).some(({ rpId }) => rpId === relyingParty.id),
    async write(account, { familyHash, ...session }, now) {
      setCurrentActor({ type: 'administrator', id: account.uuid, name: null })
      // To the public interface the cookie is no refresh token: the one that it would take is given to nobody.
      const nobodys = { ...session, familyHash: refreshTokens.create().familyHash }
      return stores.administratorSessions.open(account, nobodys, familyHash, now)
    },
  }
}

/** Where everybody needs a recent sign-in, administrators need a recent proof. */
export const recentProof = (clock: Clock): RecentSignIn => ({
  isShown: async (session) =>
    clock.now().getTime() - (session as BrowserSession).authenticatedAt.getTime() <= PROVED_MS,
})

interface PageAddress {
  admin: Pick<Config['admin'], 'baseUrl' | 'listen'>
  passkeys: Pick<Config['passkeys'], 'rpId'>
}

/** It returns null where there is no page, or where a browser would refuse a passkey of this relying party on it. */
export function pageRelyingParty({ admin, passkeys }: PageAddress) {
  const { rpId } = passkeys
  const origin = admin.baseUrl ?? (admin.listen && `http://localhost:${admin.listen.port}`)
  if (rpId === null || origin === null) return null
  const { hostname } = new URL(origin)
  return hostname === rpId || hostname.endsWith(`.${rpId}`) ? { id: rpId, origins: [origin] } : null
}
