/**
 * Everything that signing in consists of behind the password check: re-authentication, the first and the second factor, the
 * session.
 */

import { createFirstFactorRecords } from './first-factor-record.ts'
import { createReauthentication } from './reauthentication.ts'
import { createSecondFactor } from './second-factor.ts'
import { createSignInService } from './service.ts'

type Needs = Parameters<typeof createFirstFactorRecords>[0] &
  Parameters<typeof createSecondFactor>[0] &
  Omit<Parameters<typeof createReauthentication>[0], 'secondFactor'> &
  Omit<Parameters<typeof createSignInService>[0], 'firstFactorRecords' | 'secondFactor'>

export function createSignIn(needs: Needs) {
  const firstFactorRecords = createFirstFactorRecords(needs)
  const secondFactor = createSecondFactor(needs)
  const reauthentication = createReauthentication({ ...needs, secondFactor })
  const signIn = createSignInService({ ...needs, firstFactorRecords, secondFactor })
  return { reauthentication, firstFactorRecords, secondFactor, signIn }
}
