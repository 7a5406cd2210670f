/**
 * Everything that signing in consists of: the password check, re-authentication, the first and the second factor, the
 * session.
 */
import type { Services, Stores } from '../../services.ts'
import { createFirstFactorProofs } from './first-factor-proof.ts'
import { createPasswordCheck } from './password-check.ts'
import { createReauthentication } from './reauthentication.ts'
import { createSecondFactor } from './second-factor.ts'
import { createSignInService } from './service.ts'

type Needs = Pick<
  Services,
  | 'attempts'
  | 'authenticators'
  | 'clock'
  | 'codes'
  | 'config'
  | 'confirmByPasskey'
  | 'devices'
  | 'hashing'
  | 'limits'
  | 'notices'
  | 'outbox'
  | 'sessionOpener'
> & { stores: Pick<Stores, 'accounts' | 'sessions' | 'tickets'> }

export function createSignIn(needs: Needs) {
  const passwordCheck = createPasswordCheck(needs)
  const firstFactorProofs = createFirstFactorProofs(needs)
  const secondFactor = createSecondFactor(needs)
  const reauthentication = createReauthentication({ ...needs, passwordCheck, secondFactor })
  const signIn = createSignInService({ ...needs, firstFactorProofs, secondFactor })
  return { passwordCheck, reauthentication, firstFactorProofs, secondFactor, signIn }
}
