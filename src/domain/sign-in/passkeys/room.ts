/** Passkeys: the check of signatures, on which signing in depends, and the operations around it. */

import { AppError } from '../../../errors.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import type { OwnerNotices } from '../../accounts/accounts/owner-notices.ts'
import type { Authenticators } from '../../credentials/authenticators/service.ts'
import type { GatheredEvents } from '../../foundation/events/gathered-events.ts'
import type { ConfirmByPasskey } from '../sign-in/reauthentication.ts'
import { createAssertionCheck } from './assertion-check.ts'
import { createChallenges } from './challenge.ts'
import { createPasskeyService, type PasskeyFoundation } from './service.ts'
import type { PasskeyStore } from './store.ts'

interface AssertionNeeds {
  authenticators: Pick<Authenticators, 'endRemoval'>
  secret: ServerSecret
  clock: Clock
  events: GatheredEvents
  notices: OwnerNotices
  config: Config
  stores: { passkeys: PasskeyStore }
}

export function createPasskeyAssertions(needs: AssertionNeeds): PasskeyFoundation & {
  confirmByPasskey: ConfirmByPasskey
} {
  const { rpId, origins } = needs.config.passkeys
  const relyingParty = { id: rpId ?? '', origins }
  const challenges = createChallenges(needs)
  const assertions = createAssertionCheck(needs, { challenges, relyingParty })
  return {
    challenges,
    assertions,
    relyingParty,
    async confirmByPasskey({ account, claims }, credential) {
      const purpose = { kind: 'step_up', accountUuid: account.uuid, sessionId: claims.sessionId } as const
      const checked = await assertions.check(credential, purpose)
      if (checked.account.id !== account.id) throw new AppError('invalid_passkey')
      await assertions.spend(checked)
    },
  }
}

export const createPasskeys = createPasskeyService
