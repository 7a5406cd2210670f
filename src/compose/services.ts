/** Every service, in the order in which they need each other. Nothing runs and nothing is written here. */
import { createAccountCodeSending, createAccountCodes } from '../domain/accounts/account-codes/service.ts'
import { createOwnerNotices } from '../domain/accounts/accounts/owner-notices.ts'
import { createKnownDevices } from '../domain/accounts/devices/service.ts'
import { createPageSessions } from '../domain/administration/administrator-sessions/service.ts'
import { createAdministratorReach } from '../domain/administration/administrators/reach.ts'
import { createAdministratorService } from '../domain/administration/administrators/service.ts'
import { createTokenService } from '../domain/administration/api-tokens/service.ts'
import { createAuditTrail } from '../domain/administration/audit/service.ts'
import { createAccountAdministration } from '../domain/administration/directory/service.ts'
import { createAccountFactors } from '../domain/administration/factors/service.ts'
import { createIdempotency } from '../domain/administration/idempotency/service.ts'
import { createLimitAdministration } from '../domain/administration/limit-lifts/service.ts'
import { createMessageAdministration } from '../domain/administration/message-log/service.ts'
import { createOverview } from '../domain/administration/overview/service.ts'
import { createPeopleService } from '../domain/administration/people/service.ts'
import { createAuthenticators } from '../domain/credentials/authenticators/service.ts'
import { createProviderService } from '../domain/credentials/providers/service.ts'
import { createSecrets } from '../domain/credentials/secrets/service.ts'
import { createEventTail } from '../domain/foundation/events/event-tail.ts'
import { createGatheredEvents } from '../domain/foundation/events/gathered-events.ts'
import { createHashing } from '../domain/foundation/hashing/room.ts'
import type { Metrics } from '../domain/foundation/metrics/metrics.ts'
import { createAttempts } from '../domain/limits/attempts/service.ts'
import { withPumpingGuard } from '../domain/limits/limits/pumping-guard.ts'
import { createLimitService } from '../domain/limits/limits/service.ts'
import { type CodeService, createCodeService } from '../domain/messages/codes/service.ts'
import {
  type AccountCodeKind,
  accountCodeKinds,
  type SentCodePurpose,
} from '../domain/messages/codes/store.ts'
import type { SendingCodes } from '../domain/messages/delivery/attempt.ts'
import type { Reaches } from '../domain/messages/delivery/reach.ts'
import { createDelivery } from '../domain/messages/delivery/room.ts'
import { createOperatorNotices, type TellOperator } from '../domain/messages/outbox/operator-notices.ts'
import type { Breaker } from '../domain/messages/senders/breaker.ts'
import type { MessageSender } from '../domain/messages/senders/sender.ts'
import { createFunnel } from '../domain/messages/sms-funnel/funnel.ts'
import { createReceiptService } from '../domain/messages/sms-funnel/receipts.ts'
import { createBackupService } from '../domain/operations/backups/service.ts'
import { createContactsService } from '../domain/self-service/contacts/service.ts'
import { createExports } from '../domain/self-service/me/exports.ts'
import { createAccountService } from '../domain/self-service/me/service.ts'
import { createRemovalLinks } from '../domain/self-service/two-factor-removals/links.ts'
import { createTwoFactorRemovals } from '../domain/self-service/two-factor-removals/service.ts'
import { createAuthentication } from '../domain/sessions/sessions/authentication.ts'
import { createRecentSignIn } from '../domain/sessions/sessions/recent-sign-in.ts'
import { createSessionService } from '../domain/sessions/sessions/service.ts'
import { createSessionOpener } from '../domain/sessions/sessions/session-opener.ts'
import { createTokens } from '../domain/sessions/tokens/room.ts'
import { createIdentities } from '../domain/sign-in/identities/room.ts'
import { createLoginService } from '../domain/sign-in/login/service.ts'
import { createLoginByCodeService } from '../domain/sign-in/login-by-code/service.ts'
import { createPasskeyAssertions, createPasskeys } from '../domain/sign-in/passkeys/room.ts'
import { createPasswordsService } from '../domain/sign-in/passwords/service.ts'
import { createRegistrationService } from '../domain/sign-in/registration/service.ts'
import { createSignIn } from '../domain/sign-in/sign-in/room.ts'
import { createSocialService } from '../domain/sign-in/social/service.ts'
import { createTwoFactorService } from '../domain/sign-in/two-factor/service.ts'
import { createUndoLinks } from '../domain/sign-in/undo/links.ts'
import { createUndoService } from '../domain/sign-in/undo/service.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/types.ts'
import type { Network } from '../platform/guarded-fetch.ts'
import type { Logger } from '../platform/http/logging.ts'
import type { Database } from '../platform/postgres/database.ts'
import type { ServerSecret } from '../platform/secret.ts'
import type { Catalog } from '../texts/catalog.ts'
import { createBackupMaker } from './backups.ts'
import type { Stores } from './stores.ts'

/** Six digits or 16 letters: the purpose of a message says whose code it carries. */
function createSendingCodes(
  codes: CodeService,
  accountCodes: ReturnType<typeof createAccountCodeSending>,
): SendingCodes {
  const isAccountCode = (purpose: SentCodePurpose): purpose is AccountCodeKind =>
    (accountCodeKinds as readonly string[]).includes(purpose)
  return {
    start: ({ purpose, ...binding }, seed) =>
      isAccountCode(purpose) ? accountCodes.start(binding, seed) : codes.start({ ...binding, purpose }, seed),
    reveal: ({ purpose, ...binding }, seed) =>
      isAccountCode(purpose)
        ? accountCodes.reveal(binding, seed)
        : codes.reveal({ ...binding, purpose }, seed),
  }
}

/** What the services are built on. */
export interface Foundation {
  catalog: Catalog
  clock: Clock
  config: Config
  logger: Logger
  metrics: Metrics
  network: Network
  secret: ServerSecret
  database: Database
  stores: Stores
  sender: MessageSender
  reaches: Reaches
  breaker: Breaker
}

export function createServices(foundation: Foundation) {
  const { config, secret, clock, logger, metrics, stores, reaches, breaker } = foundation
  // What notices it is built before what sends it.
  let sendToOperator: TellOperator | null = null
  const tellOperator: TellOperator = (purpose, about) => sendToOperator?.(purpose, about)
  const funnel = createFunnel({
    store: stores.smsFunnel,
    ...{ breaker, clock, logger, metrics, config, tellOperator },
  })
  const hashing = createHashing(foundation)
  const { limits: limitStore, codes: codeStore } = stores
  const guarded = withPumpingGuard(limitStore, { closedUntil: funnel.closedUntil })
  const limits = createLimitService({
    store: guarded,
    ...{ secret, clock, logger, metrics, config, reaches },
    onAlarm: () => tellOperator('operator_wrong_codes'),
    onDry: (pool) => tellOperator('operator_pool_dry', pool),
  })
  const attempts = createAttempts({
    store: stores.attempts,
    secret,
    clock,
    attemptsPerDay: config.codes.attemptsPerDay,
    onWrong: limits.noteWrongCode,
  })
  const codes = createCodeService({
    store: codeStore,
    attempts,
    secret,
    clock,
    config: config.codes,
    metrics,
    onRight: funnel.verified,
  })
  const devices = createKnownDevices({ store: stores.devices, secret, clock })
  const events = createGatheredEvents(foundation)
  const eventTail = createEventTail(foundation)
  const { baseUrl } = config.server
  const removalLinks = createRemovalLinks({ secret, baseUrl })
  const undoLinks = createUndoLinks({ secret, baseUrl })
  const base = {
    ...foundation,
    funnel,
    events,
    eventTail,
    hashing,
    limits,
    attempts,
    codes,
    devices,
    ...createTokens(foundation),
  }
  const receipts = createReceiptService({ store: stores.smsFunnel, funnel, limits, clock, config })
  const { worker, outbox, refusedAddresses } = createDelivery({
    ...base,
    linkOf: ({ removal, undo }) => {
      if (undo !== undefined) return undoLinks.linkTo(undo)
      return removal === undefined ? null : removalLinks.linkTo(removal)
    },
    sendingCodes: createSendingCodes(codes, createAccountCodeSending(base)),
    strangersTurn: limits.strangersTurn,
  })
  sendToOperator = createOperatorNotices({ limits, outbox, config, logger })
  const notices = createOwnerNotices(base)
  const accountCodes = createAccountCodes({ ...base, notices })
  const authenticators = createAuthenticators({ ...base, notices, tellOperator })
  const recentSignIn = createRecentSignIn(base)
  const sessionOpener = createSessionOpener({ ...base, notices, outbox })
  const assertions = createPasskeyAssertions({ ...base, notices, authenticators })
  const { confirmByPasskey } = assertions
  const core = {
    ...base,
    outbox,
    receipts,
    refusedAddresses,
    undoLinks,
    notices,
    accountCodes,
    authenticators,
    secrets: createSecrets({ ...base, authenticators }),
    sessionOpener,
    recentSignIn,
    confirmByPasskey,
  }
  const signingIn = { ...core, ...createSignIn(core), providers: createProviderService(core) }
  const shared = { ...signingIn, ...createIdentities(signingIn) }
  const exports = createExports(shared)
  const accountAdministration = createAccountAdministration({ ...shared, exports })
  const administrators = createAdministratorService(shared)
  const twoFactorRemovals = createTwoFactorRemovals({ ...shared, tellOperator })
  const undo = createUndoService(shared)
  const services = {
    ...shared,
    authentication: createAuthentication(shared),
    registration: createRegistrationService(shared),
    login: createLoginService(shared),
    loginByCode: createLoginByCodeService(shared),
    sessions: createSessionService(shared),
    me: createAccountService(shared),
    exports,
    twoFactor: createTwoFactorService(shared),
    passkeys: createPasskeys(shared, assertions),
    passwords: createPasswordsService(shared),
    contacts: createContactsService({ ...shared, undo }),
    idempotency: createIdempotency(shared),
    administrators,
    administratorReach: createAdministratorReach({ ...shared, administrators }),
    pageSessions: createPageSessions(shared),
    administrationTokens: createTokenService(shared),
    undo,
    accountAdministration,
    people: createPeopleService({ ...shared, accountAdministration, administrators }),
    backups: createBackupService({
      store: stores.backups,
      files: foundation.database.files,
      ...{ clock, logger, at: config.backup.at },
      make: createBackupMaker(config, foundation.database, clock),
    }),
    accountFactors: createAccountFactors({ ...shared, accountAdministration, twoFactorRemovals }),
    twoFactorRemovals,
    auditTrail: createAuditTrail(shared),
    overview: createOverview(shared),
    limitAdministration: createLimitAdministration(shared),
    messageAdministration: createMessageAdministration({ ...shared, accountAdministration }),
    social: createSocialService(shared),
  }
  return { services, worker }
}

/** Every service by its name in compose/. A room names the ones that it needs by their own types. */
export type Services = ReturnType<typeof createServices>['services']
