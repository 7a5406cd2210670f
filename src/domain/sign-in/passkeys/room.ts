/** Passkeys: the check of signatures, on which signing in depends, and the operations around it. */

import { AppError } from '../../../texts/errors.ts'
import type { ConfirmByPasskey } from '../core/reauthentication.ts'
import { createAssertionCheck } from './assertion-check.ts'
import { createChallenges } from './challenge.ts'
import { amrOf } from './passkey.ts'
import type { RelyingParty } from './verification.ts'

type Needs = Parameters<typeof createChallenges>[0] & Parameters<typeof createAssertionCheck>[0]

/** The part that signing in depends on. */
export type PasskeyFoundation = ReturnType<typeof createPasskeyAssertions>

export function createPasskeyAssertions(needs: Needs, relyingParty: RelyingParty) {
  const challenges = createChallenges(needs)
  const assertions = createAssertionCheck(needs, { challenges, relyingParty })
  const confirmByPasskey: ConfirmByPasskey = async ({ account, sessionId }, credential, kind = 'step_up') => {
    const checked = await assertions.check(credential, { kind, accountUuid: account.uuid, sessionId })
    if (checked.account.id !== account.id) throw new AppError('invalid_passkey')
    await assertions.spend(checked)
    return amrOf(checked.passkey)
  }
  return { challenges, assertions, relyingParty, confirmByPasskey }
}
