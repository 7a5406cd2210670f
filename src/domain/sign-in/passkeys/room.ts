/** Passkeys: the check of signatures, on which signing in depends, and the operations around it. */

import { AppError } from '../../../errors.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { ConfirmByPasskey } from '../sign-in/reauthentication.ts'
import { createAssertionCheck } from './assertion-check.ts'
import { createChallenges } from './challenge.ts'
import type { PasskeyFoundation } from './service.ts'

type Needs = Parameters<typeof createChallenges>[0] &
  Parameters<typeof createAssertionCheck>[0] & { config: Config }

export function createPasskeyAssertions(needs: Needs): PasskeyFoundation & {
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
