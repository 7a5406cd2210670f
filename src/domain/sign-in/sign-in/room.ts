/**
 * Everything that signing in consists of: the password check, re-authentication, the first and the second factor, the
 * session.
 */

import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { OwnerNotices } from '../../accounts/accounts/owner-notices.ts'
import type { AccountStore } from '../../accounts/accounts/store.ts'
import type { KnownDevices } from '../../accounts/devices/service.ts'
import type { TrustedDevices } from '../../accounts/devices/trusted-devices.ts'
import type { Authenticators } from '../../credentials/authenticators/service.ts'
import type { HashService } from '../../foundation/hashing/service.ts'
import type { TicketStore } from '../../foundation/tickets/store.ts'
import type { LimitService } from '../../limits/limits/service.ts'
import type { CodeService } from '../../messages/codes/service.ts'
import type { Outbox } from '../../messages/outbox/service.ts'
import type { RecentSignIn } from '../../sessions/sessions/recent-sign-in.ts'
import type { SessionOpener } from '../../sessions/sessions/session-opener.ts'
import type { SessionStore } from '../../sessions/sessions/store.ts'
import type { AccountClaims } from '../../sessions/tokens/account-claims.ts'
import { createFirstFactorRecords } from './first-factor-record.ts'
import { createPasswordCheck } from './password-check.ts'
import type { ConfirmByPasskey } from './reauthentication.ts'
import { createReauthentication } from './reauthentication.ts'
import { createSecondFactor } from './second-factor.ts'
import { createSignInService } from './service.ts'

interface Needs {
  accountClaims: AccountClaims
  trustedDevices: TrustedDevices
  authenticators: Authenticators
  clock: Clock
  codes: CodeService
  config: Config
  confirmByPasskey: ConfirmByPasskey
  devices: KnownDevices
  hashing: HashService
  limits: LimitService
  notices: OwnerNotices
  outbox: Outbox
  recentSignIn: RecentSignIn
  sessionOpener: SessionOpener
  stores: { accounts: AccountStore; sessions: SessionStore; tickets: TicketStore }
}

export function createSignIn(needs: Needs) {
  const passwordCheck = createPasswordCheck(needs)
  const firstFactorRecords = createFirstFactorRecords(needs)
  const secondFactor = createSecondFactor(needs)
  const reauthentication = createReauthentication({ ...needs, passwordCheck, secondFactor })
  const signIn = createSignInService({ ...needs, firstFactorRecords, secondFactor })
  return { passwordCheck, reauthentication, firstFactorRecords, secondFactor, signIn }
}
