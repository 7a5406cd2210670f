/** The services of the features, each on just what it uses of the core. */

import { createContactsService } from '../domain/contacts/service.ts'
import { createContactStore } from '../domain/contacts/store-postgres.ts'
import { createIdentityService } from '../domain/identities/service.ts'
import { createLoginService } from '../domain/login/service.ts'
import { createLoginByCodeService } from '../domain/login-by-code/service.ts'
import { createAccountService } from '../domain/me/service.ts'
import { createErasureStore } from '../domain/me/store-postgres.ts'
import { createPasswordsService } from '../domain/passwords/service.ts'
import { createPasswordStore } from '../domain/passwords/store-postgres.ts'
import { createRegistrationService } from '../domain/registration/service.ts'
import { createAuthentication } from '../domain/sessions/authentication.ts'
import { createSessionService } from '../domain/sessions/service.ts'
import { createFlows } from '../domain/social/flow.ts'
import { createSocialService } from '../domain/social/service.ts'
import { createTwoFactorService } from '../domain/two-factor/service.ts'
import type { Core, CoreOptions } from './core.ts'

export type FeatureOptions = Pick<
  CoreOptions,
  'config' | 'clock' | 'logger' | 'database' | 'stores' | 'secret'
> & {
  secureCookies: boolean
}

/** Every feature by the name it has in the app. */
export function buildFeatures(core: Core, options: FeatureOptions) {
  const { config, clock, logger, database, stores, secret, secureCookies } = options
  const {
    accounts,
    sessionStore,
    accessTokens,
    refreshTokens,
    hashing,
    codes,
    limits,
    outbox,
    sessions,
    passwords,
    reauthentication,
    proofs,
    notices,
    factors,
    secondFactor,
    signIn,
    providers,
    identityStore,
    identityProofs,
    identities,
  } = core
  return {
    registration: createRegistrationService({
      accounts,
      codes,
      limits,
      hashing,
      sessions,
      outbox,
      secret,
      clock,
      config,
    }),
    login: createLoginService({ accounts, passwords, limits, signIn, config }),
    loginByCode: createLoginByCodeService({
      accounts,
      sessions,
      passwords,
      proofs,
      secondFactor,
      limits,
      config,
    }),
    authentication: createAuthentication({ store: sessionStore, accessTokens, clock }),
    sessions: createSessionService({
      store: sessionStore,
      accessTokens,
      refreshTokens,
      notices,
      clock,
      config,
    }),
    passwords: createPasswordsService({
      accounts,
      store: createPasswordStore(database),
      codes,
      limits,
      hashing,
      reauthentication,
      notices,
      outbox,
      clock,
      config,
    }),
    twoFactor: createTwoFactorService({
      reauthentication,
      factors,
      secondFactor,
      codes,
      limits,
      outbox,
      config,
    }),
    contacts: createContactsService({
      store: createContactStore(database),
      codes,
      limits,
      reauthentication,
      notices,
      outbox,
      clock,
      config,
    }),
    me: createAccountService({ store: createErasureStore(database), reauthentication, config }),
    social: createSocialService({
      providers,
      flows: createFlows({
        tickets: stores.tickets,
        secret,
        clock,
        cookiePrefix: secureCookies ? '__Host-' : '',
      }),
      proofs: identityProofs,
      identities,
      signIn,
      limits,
      onFailure: (provider, reason, cause) =>
        logger.warn({ provider, reason, cause }, 'a sign-in through a provider failed'),
      config,
    }),
    identities: createIdentityService({
      store: identityStore,
      identities,
      proofs: identityProofs,
      providers,
      reauthentication,
    }),
  }
}
