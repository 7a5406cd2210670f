/** What the features share, built once: stores, then the services on them. */

import { createOwnerNotices } from '../domain/accounts/owner-notices.ts'
import { createAccountStore } from '../domain/accounts/store-postgres.ts'
import { createRecoveryCodes } from '../domain/authenticators/recovery-codes.ts'
import { createAuthenticators } from '../domain/authenticators/service.ts'
import { createFactorStore } from '../domain/authenticators/store-postgres.ts'
import { createTotp } from '../domain/authenticators/totp.ts'
import { createCodeBudgetStore } from '../domain/codes/budget-store-postgres.ts'
import { createCodeService } from '../domain/codes/service.ts'
import type { MessageSender } from '../domain/delivery/message.ts'
import type { Reaches } from '../domain/delivery/reach.ts'
import { serviceName } from '../domain/delivery/render.ts'
import { createDelivery } from '../domain/delivery/room.ts'
import { createMessageStore } from '../domain/delivery/store-postgres.ts'
import { createHashService } from '../domain/hashing/service.ts'
import { createDigestStore } from '../domain/hashing/store-postgres.ts'
import { createIdentityProofs } from '../domain/identities/proof.ts'
import { createIdentityResolver } from '../domain/identities/resolver.ts'
import { createSpentTokenStore } from '../domain/identities/spent-token-store-postgres.ts'
import { createIdentityStore } from '../domain/identities/store-postgres.ts'
import { createLimitService } from '../domain/limits/service.ts'
import { createStrangersTurn } from '../domain/limits/strangers-turn.ts'
import { createProviderService } from '../domain/providers/service.ts'
import { createSessionOpener } from '../domain/sessions/session-opener.ts'
import { createSessionStore } from '../domain/sessions/store-postgres.ts'
import { createFirstFactorProofs } from '../domain/sign-in/first-factor-proof.ts'
import { createPasswordCheck } from '../domain/sign-in/password-check.ts'
import { createReauthentication } from '../domain/sign-in/reauthentication.ts'
import { createSecondFactor } from '../domain/sign-in/second-factor.ts'
import { createSignInService } from '../domain/sign-in/service.ts'
import { createAccessTokenService } from '../domain/tokens/access-token.ts'
import { createKeyService } from '../domain/tokens/key-service.ts'
import { createKeyStore } from '../domain/tokens/key-store-postgres.ts'
import { createRefreshTokens } from '../domain/tokens/refresh-token.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/types.ts'
import type { Network } from '../platform/guarded-fetch.ts'
import type { Logger } from '../platform/http/logging.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { ServerSecret } from '../platform/secret.ts'
import type { Stores } from './connections.ts'

export interface CoreOptions {
  config: Config
  clock: Clock
  logger: Logger
  database: Database
  stores: Stores
  secret: ServerSecret
  sender: MessageSender
  reaches: Reaches
  network: Network
}

const SEVERAL_WORKS =
  'stored passwords have several sets of hash parameters: until their owners log in, each login costs a hash under every one of them'

export type Core = Awaited<ReturnType<typeof buildCore>>

export async function buildCore(options: CoreOptions) {
  const { config, clock, logger, database, stores, secret, sender, network } = options
  const accounts = createAccountStore(database)
  const sessionStore = createSessionStore(database)
  const budgets = createCodeBudgetStore(database)
  const messages = createMessageStore(database)
  const spentTokens = createSpentTokenStore(database)
  const { accessLifetimeSeconds } = config.tokens

  const keys = await createKeyService({
    store: createKeyStore(database),
    secret,
    clock,
    accessLifetimeSeconds,
    onRefreshFailure: () => logger.warn('the signing keys could not be read again'),
  })
  const accessTokens = createAccessTokenService({
    keys,
    clock,
    issuer: config.server.baseUrl,
    audience: config.tokens.audience,
    lifetimeSeconds: accessLifetimeSeconds,
  })
  const refreshTokens = createRefreshTokens(secret)
  const hashing = createHashService({
    memoryKib: config.password.memoryKib,
    iterations: config.password.iterations,
    concurrency: config.limits.hashConcurrency,
    queue: config.limits.hashQueue,
    reserved: config.limits.hashQueueReserved,
    store: createDigestStore(database),
    onSeveralWorks: (works) => logger.info({ works }, SEVERAL_WORKS),
  })
  const codes = createCodeService({ store: stores.codes, budgets, secret, clock, config: config.codes })
  const limits = createLimitService({ store: stores.limits, secret, clock, config, reaches: options.reaches })
  const { worker, outbox } = createDelivery({
    database,
    stores: { messages },
    codes,
    strangersTurn: createStrangersTurn({ store: stores.limits, clock, config }),
    sender,
    clock,
    logger,
    config,
  })
  const sessions = createSessionOpener({ store: sessionStore, accessTokens, refreshTokens, clock, config })
  const passwords = createPasswordCheck({ accounts, sessions: sessionStore, limits, hashing })
  const reauthentication = createReauthentication({ passwords, limits, clock })
  const proofs = createFirstFactorProofs({ tickets: stores.tickets, clock })
  const { defaultCountry } = config.accounts
  const notices = createOwnerNotices({ limits, defaultCountry })
  const factors = createAuthenticators({
    store: createFactorStore(database),
    totp: createTotp({ secret, issuer: serviceName(config) }),
    recoveryCodes: createRecoveryCodes({ secret }),
    notices,
    clock,
  })
  const secondFactor = createSecondFactor({ codes, factors, limits, outbox, defaultCountry })
  const signIn = createSignInService({
    sessions,
    proofs,
    secondFactor,
    limits,
    codeLifetimeSeconds: config.codes.lifetimeSeconds,
  })

  const providers = createProviderService({ config, clock, network })
  const identityStore = createIdentityStore(database)
  const identityProofs = createIdentityProofs({ providers, tickets: stores.tickets, spentTokens, clock })
  const identities = createIdentityResolver({
    store: identityStore,
    accounts,
    providers,
    notices,
    clock,
    config,
  })

  return {
    accounts,
    sessionStore,
    budgets,
    messages,
    spentTokens,
    keys,
    accessTokens,
    refreshTokens,
    hashing,
    codes,
    limits,
    worker,
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
  }
}
