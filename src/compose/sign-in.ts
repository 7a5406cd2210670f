/** The services of `sign-in` and `self-service`, and those of signing in once more, with the policy of administration. */

import {
  createAdministrationPolicy,
  pageRelyingParty,
  recentProof,
} from '../administration/administrator-sessions/policy.ts'
import { createContactsService } from '../domain/self-service/contacts/service.ts'
import { createMemberships } from '../domain/self-service/invitations/service.ts'
import { createExports } from '../domain/self-service/me/exports.ts'
import { createMeService } from '../domain/self-service/me/service.ts'
import { createTwoFactorRemovals } from '../domain/self-service/two-factor-removals/service.ts'
import { createSessionOpener } from '../domain/sessions/core/session-opener.ts'
import { createFirstFactorRecords } from '../domain/sign-in/core/first-factor-record.ts'
import { createPasswordCheck } from '../domain/sign-in/core/password-check.ts'
import { createReauthentication } from '../domain/sign-in/core/reauthentication.ts'
import { createSecondFactor } from '../domain/sign-in/core/second-factor.ts'
import { createSignInService } from '../domain/sign-in/core/service.ts'
import { createIdentityProofs } from '../domain/sign-in/identities/proof.ts'
import { createIdentityResolver } from '../domain/sign-in/identities/resolver.ts'
import { createIdentityService } from '../domain/sign-in/identities/service.ts'
import { createLoginService } from '../domain/sign-in/login/service.ts'
import { createSecondStep } from '../domain/sign-in/login-by-code/second-step.ts'
import { createLoginByCodeService } from '../domain/sign-in/login-by-code/service.ts'
import { createPasskeyAssertions } from '../domain/sign-in/passkeys/assertion-check.ts'
import { createPasskeyService } from '../domain/sign-in/passkeys/service.ts'
import { createPasswordsService } from '../domain/sign-in/passwords/service.ts'
import { createRegistrationService } from '../domain/sign-in/registration/service.ts'
import { createSocialService } from '../domain/sign-in/social/service.ts'
import { createTwoFactorService } from '../domain/sign-in/two-factor/service.ts'
import { createUndoService } from '../domain/sign-in/undo/service.ts'
import type { createCredentials } from './accounts.ts'

type FactorNeeds = Parameters<typeof createFirstFactorRecords>[0] &
  Parameters<typeof createSecondFactor>[0] &
  Omit<Parameters<typeof createReauthentication>[0], 'secondFactor'> &
  Omit<Parameters<typeof createSignInService>[0], 'firstFactorRecords' | 'secondFactor'>

/** Re-authentication, the first and the second factor, the session. */
function createFactors(needs: FactorNeeds) {
  const firstFactorRecords = createFirstFactorRecords(needs)
  const secondFactor = createSecondFactor(needs)
  const reauthentication = createReauthentication({ ...needs, secondFactor })
  const signIn = createSignInService({ ...needs, firstFactorRecords, secondFactor })
  return { reauthentication, firstFactorRecords, secondFactor, signIn }
}

export function createSignIn(credentials: ReturnType<typeof createCredentials>) {
  const { rpId, origins } = credentials.config.passkeys
  const own = pageRelyingParty(credentials.config)?.origins ?? []
  const assertions = createPasskeyAssertions(credentials, { id: rpId ?? '', origins: [...origins, ...own] })
  const { confirmByPasskey } = assertions
  const freely = { ...credentials, confirmByPasskey, policy: null }
  const checking = { ...freely, passwordCheck: createPasswordCheck(freely) }
  const withFactors = { ...checking, ...createFactors(checking) }
  const identityProofs = createIdentityProofs(withFactors)
  const identityResolver = createIdentityResolver(withFactors)
  const identities = createIdentityService({ ...withFactors, identityProofs, identityResolver })
  const withIdentities = { ...withFactors, identityProofs, identityResolver, identities }
  const below = { ...withIdentities, registration: createRegistrationService(withIdentities) }
  return {
    ...below,
    login: createLoginService(below),
    loginByCode: createLoginByCodeService(below),
    twoFactor: createTwoFactorService(below),
    passkeys: createPasskeyService(below, assertions),
    passwords: createPasswordsService(below),
    social: createSocialService(below),
    undo: createUndoService(below),
  }
}

export function createSelfService(below: ReturnType<typeof createSignIn>) {
  return {
    ...below,
    me: createMeService(below),
    exports: createExports(below),
    contacts: createContactsService(below),
    memberships: createMemberships(below),
    twoFactorRemovals: createTwoFactorRemovals(below),
  }
}

/** The same services of signing in once more, with the policy of administration. */
export function createStrictSignIn(below: ReturnType<typeof createSelfService>) {
  const policy = createAdministrationPolicy(below)
  const assertions = createPasskeyAssertions(below, pageRelyingParty(below.config) ?? { id: '', origins: [] })
  const { confirmByPasskey } = assertions
  const strictly = { ...below, policy, confirmByPasskey, recentSignIn: recentProof(below.clock) }
  const withOpener = { ...strictly, sessionOpener: createSessionOpener(strictly) }
  const withFactors = { ...withOpener, ...createFactors(withOpener) }
  const steps = {
    ...withFactors,
    login: createLoginService(withFactors),
    loginByCode: createLoginByCodeService(withFactors),
    passkeys: createPasskeyService(withFactors, assertions),
  }
  return { ...steps, secondStep: createSecondStep(steps), me: createMeService(steps) }
}
