/** Passkeys: the check of signatures, on which signing in depends, and the operations around it. */

import type { Config } from '../../../platform/config/types.ts'
import { AppError } from '../../../texts/errors.ts'
import type { ConfirmByPasskey } from '../core/reauthentication.ts'
import { createAssertionCheck } from './assertion-check.ts'
import { createChallenges } from './challenge.ts'

type Needs = Parameters<typeof createChallenges>[0] &
  Parameters<typeof createAssertionCheck>[0] & { config: Config }

/** The part that signing in depends on. */
export type PasskeyFoundation = ReturnType<typeof createPasskeyAssertions>

export function createPasskeyAssertions(needs: Needs) {
  const { rpId, origins } = needs.config.passkeys
  const relyingParty = { id: rpId ?? '', origins }
  const challenges = createChallenges(needs)
  const assertions = createAssertionCheck(needs, { challenges, relyingParty })
  const confirmByPasskey: ConfirmByPasskey = async ({ account, claims }, credential) => {
    const purpose = { kind: 'step_up', accountUuid: account.uuid, sessionId: claims.sessionId } as const
    const checked = await assertions.check(credential, purpose)
    if (checked.account.id !== account.id) throw new AppError('invalid_passkey')
    await assertions.spend(checked)
  }
  return { challenges, assertions, relyingParty, confirmByPasskey }
}
