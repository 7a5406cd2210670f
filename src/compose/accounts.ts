/** The services of `accounts`, `sessions` and `credentials`. */

import { createAccountCodes } from '../domain/accounts/account-codes/service.ts'
import { createQuestion } from '../domain/accounts/admission/question.ts'
import { createAdmission } from '../domain/accounts/admission/service.ts'
import { createOwnerNotices } from '../domain/accounts/core/owner-notices.ts'
import { createRoles } from '../domain/accounts/core/roles.ts'
import { createUsernames } from '../domain/accounts/core/usernames.ts'
import { createKnownDevices } from '../domain/accounts/devices/service.ts'
import { createTrustedDevices } from '../domain/accounts/devices/trusted-devices.ts'
import { createAuthenticators } from '../domain/credentials/authenticators/service.ts'
import { createProviderService } from '../domain/credentials/providers/service.ts'
import { createSecrets } from '../domain/credentials/secrets/service.ts'
import { createApplicationLog } from '../domain/sessions/application-log/service.ts'
import { createBrowserSessions } from '../domain/sessions/browser-sessions/service.ts'
import { createAuthentication } from '../domain/sessions/core/authentication.ts'
import { createRecentSignIn } from '../domain/sessions/core/recent-sign-in.ts'
import { createSessionService } from '../domain/sessions/core/service.ts'
import { createSessionOpener } from '../domain/sessions/core/session-opener.ts'
import { createAccessTokenService } from '../domain/sessions/tokens/access-token.ts'
import { createAccountClaims } from '../domain/sessions/tokens/account-claims.ts'
import { createAllKeys } from '../domain/sessions/tokens/all-keys.ts'
import { createApplicationTokens } from '../domain/sessions/tokens/application-token.ts'
import { createIdentityTokens, identityIssuer } from '../domain/sessions/tokens/identity-token.ts'
import { createKeyService } from '../domain/sessions/tokens/key-service.ts'
import type { KeyStore } from '../domain/sessions/tokens/key-store.ts'
import { createRefreshTokens } from '../domain/sessions/tokens/refresh-token.ts'
import type { createMessages } from './messages.ts'

export function createAccounts(below: ReturnType<typeof createMessages>) {
  const notices = createOwnerNotices(below)
  const devices = createKnownDevices({ ...below, store: below.stores.devices })
  const roles = createRoles(below.config.roles)
  const question = createQuestion({ ...below, roles })
  return {
    ...below,
    notices,
    roles,
    admissionQuestion: question,
    usernames: createUsernames(below),
    admission: createAdmission({ ...below, question }),
    devices,
    trustedDevices: createTrustedDevices({ ...below, devices }),
    accountCodes: createAccountCodes({ ...below, notices }),
  }
}

/** The signing keys, the two tokens of a session, and those that tell an application who signed in. */
function createTokens(below: ReturnType<typeof createAccounts>) {
  const { stores, secret, clock, logger, config, metrics } = below
  const { accessLifetimeSeconds, audience } = config.tokens
  const keysIn = (store: KeyStore) =>
    createKeyService({
      store,
      secret,
      clock,
      accessLifetimeSeconds,
      onRefreshFailure: () => logger.warn('the signing keys could not be read again'),
      onUnreadable: (kid) => {
        metrics.count('unreadable_rows_total', { kind: 'signing_key' })
        logger.error({ kid }, 'a signing key opens under no accepted server secret')
      },
    })
  const keys = keysIn(stores.signingKeys)
  const identityKeys = keysIn(stores.identityKeys)
  const accessTokens = createAccessTokenService({
    keys,
    clock,
    issuer: config.server.baseUrl,
    audience,
    lifetimeSeconds: accessLifetimeSeconds,
  })
  return {
    /** Of access tokens. */
    keys,
    /** Of ID tokens and logout tokens. */
    identityKeys,
    allKeys: createAllKeys(keys, identityKeys),
    accessTokens,
    identityTokens: createIdentityTokens({
      keys: identityKeys,
      clock,
      issuer: identityIssuer(config),
      lifetimeSeconds: accessLifetimeSeconds,
    }),
    refreshTokens: createRefreshTokens(secret),
    applicationTokens: createApplicationTokens({ secret, clock, lifetimeSeconds: accessLifetimeSeconds }),
    accountClaims: createAccountClaims(below),
  }
}

export function createSessions(accounts: ReturnType<typeof createAccounts>) {
  const below = { ...accounts, ...createTokens(accounts) }
  return {
    ...below,
    authentication: createAuthentication(below),
    recentSignIn: createRecentSignIn(below),
    browserSessions: createBrowserSessions(below),
    applicationLog: createApplicationLog(below),
    sessionOpener: createSessionOpener({ ...below, policy: null }),
    sessions: createSessionService(below),
  }
}

export function createCredentials(below: ReturnType<typeof createSessions>) {
  const authenticators = createAuthenticators(below)
  return {
    ...below,
    authenticators,
    secrets: createSecrets({ ...below, authenticators }),
    providers: createProviderService(below),
  }
}
