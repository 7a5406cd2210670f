/** The services of the features, each on just what it uses of the core. */
import { createContactStore } from '../core/accounts/contact-store-postgres.ts'
import { createErasureStore } from '../core/accounts/erasure-store-postgres.ts'
import { createPasswordStore } from '../core/accounts/password-store-postgres.ts'
import { createAuthentication } from '../core/sessions/authentication.ts'
import { createAccountService } from '../features/account/service.ts'
import { createContactsService } from '../features/contacts/service.ts'
import { createFactorsService } from '../features/factors/service.ts'
import { createIdentitiesService } from '../features/identities/service.ts'
import { createLoginService } from '../features/login/service.ts'
import { createPasswordsService } from '../features/passwords/service.ts'
import { createRegistrationService } from '../features/registration/service.ts'
import { createSessionsService } from '../features/sessions/service.ts'
import { createFlows } from '../features/social/flow.ts'
import { createSocialService } from '../features/social/service.ts'
import { createTwoFactorService } from '../features/two-factor/service.ts'
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
    presence,
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
      outbox,
      secret,
      clock,
      config,
    }),
    login: createLoginService({ accounts, passwords, limits, signIn, config }),
    twoFactor: createTwoFactorService({
      accounts,
      sessions,
      passwords,
      proofs,
      secondFactor,
      limits,
      config,
    }),
    authentication: createAuthentication({ store: sessionStore, accessTokens, clock }),
    sessions: createSessionsService({
      store: sessionStore,
      accessTokens,
      refreshTokens,
      notices,
      outbox,
      clock,
      config,
    }),
    passwords: createPasswordsService({
      accounts,
      store: createPasswordStore(database),
      codes,
      limits,
      hashing,
      presence,
      notices,
      outbox,
      clock,
      config,
    }),
    factors: createFactorsService({ presence, factors, secondFactor, codes, limits, outbox, config }),
    contacts: createContactsService({
      store: createContactStore(database),
      codes,
      limits,
      presence,
      notices,
      outbox,
      clock,
      config,
    }),
    account: createAccountService({ store: createErasureStore(database), presence, config }),
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
    identities: createIdentitiesService({
      store: identityStore,
      identities,
      proofs: identityProofs,
      providers,
      presence,
    }),
  }
}
