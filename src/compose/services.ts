/** Every service, in the order in which they need each other. Nothing runs and nothing is written here. */
import { createAccountCodeSending, createAccountCodes } from '../domain/account-codes/service.ts'
import { createOwnerNotices } from '../domain/accounts/owner-notices.ts'
import { createAccountAdministration } from '../domain/administration-accounts/service.ts'
import { createAuditTrail } from '../domain/administration-events/service.ts'
import { createAccountFactors } from '../domain/administration-factors/service.ts'
import { createLimitAdministration } from '../domain/administration-limits/service.ts'
import { createMessageAdministration } from '../domain/administration-messages/service.ts'
import { createOverview } from '../domain/administration-overview/service.ts'
import { createPeopleService } from '../domain/administration-people/service.ts'
import { createPageSessions } from '../domain/administration-sessions/service.ts'
import { createTokenService } from '../domain/administration-tokens/service.ts'
import { createAdministratorReach } from '../domain/administrators/reach.ts'
import { createAdministratorService } from '../domain/administrators/service.ts'
import { createAttempts } from '../domain/attempts/service.ts'
import { createAuthenticators } from '../domain/authenticators/service.ts'
import { createBackupService } from '../domain/backups/service.ts'
import { type CodeService, createCodeService } from '../domain/codes/service.ts'
import { type AccountCodeKind, accountCodeKinds, type SentCodePurpose } from '../domain/codes/store.ts'
import { createContactsService } from '../domain/contacts/service.ts'
import type { SendingCodes } from '../domain/delivery/attempt.ts'
import type { Reaches } from '../domain/delivery/reach.ts'
import { createDelivery } from '../domain/delivery/room.ts'
import { createKnownDevices } from '../domain/devices/service.ts'
import { createEventTail } from '../domain/events/event-tail.ts'
import { createGatheredEvents } from '../domain/events/gathered-events.ts'
import { createHashing } from '../domain/hashing/room.ts'
import { createIdempotency } from '../domain/idempotency/service.ts'
import { createIdentities } from '../domain/identities/room.ts'
import { withPumpingGuard } from '../domain/limits/pumping-guard.ts'
import { createLimitService } from '../domain/limits/service.ts'
import { createStrangersTurn } from '../domain/limits/strangers-turn.ts'
import { createLoginService } from '../domain/login/service.ts'
import { createLoginByCodeService } from '../domain/login-by-code/service.ts'
import { createExports } from '../domain/me/exports.ts'
import { createAccountService } from '../domain/me/service.ts'
import { createOperatorNotices, type TellOperator } from '../domain/outbox/operator-notices.ts'
import { createPasskeyAssertions, createPasskeys } from '../domain/passkeys/room.ts'
import { createPasswordsService } from '../domain/passwords/service.ts'
import { createProviderService } from '../domain/providers/service.ts'
import { createRegistrationService } from '../domain/registration/service.ts'
import { createSecrets } from '../domain/secrets/service.ts'
import type { Breaker } from '../domain/senders/breaker.ts'
import type { MessageSender } from '../domain/senders/sender.ts'
import type { Services, Stores } from '../domain/services.ts'
import { createAuthentication } from '../domain/sessions/authentication.ts'
import { createSessionService } from '../domain/sessions/service.ts'
import { createSessionOpener } from '../domain/sessions/session-opener.ts'
import { createSignIn } from '../domain/sign-in/room.ts'
import { createFunnel } from '../domain/sms-funnel/funnel.ts'
import { createReceiptService } from '../domain/sms-funnel/receipts.ts'
import { createSocialService } from '../domain/social/service.ts'
import { createTokens } from '../domain/tokens/room.ts'
import { createTwoFactorService } from '../domain/two-factor/service.ts'
import { createRemovalLinks } from '../domain/two-factor-removals/links.ts'
import { createTwoFactorRemovals } from '../domain/two-factor-removals/service.ts'
import { createUndoLinks } from '../domain/undo/links.ts'
import { createUndoService } from '../domain/undo/service.ts'
import type { Database } from '../platform/postgres/database.ts'
import { createBackupMaker } from './backups.ts'

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
export type Foundation = Pick<
  Services,
  'catalog' | 'clock' | 'config' | 'logger' | 'metrics' | 'network' | 'secret'
> & {
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
  const guarded = withPumpingGuard(limitStore, { closedUntil: funnel.closedUntil, clock })
  const limits = createLimitService({
    store: guarded,
    ...{ secret, clock, logger, metrics, config, reaches },
    onAlarm: () => tellOperator('operator_wrong_codes'),
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
    strangersTurn: createStrangersTurn({ store: limitStore, clock, config }),
  })
  sendToOperator = createOperatorNotices({ limits, outbox, config, logger })
  const notices = createOwnerNotices(base)
  const accountCodes = createAccountCodes({ ...base, notices })
  const authenticators = createAuthenticators({ ...base, notices })
  const sessionOpener = createSessionOpener({ ...base, notices, outbox })
  const assertions = createPasskeyAssertions({ ...base, notices })
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
    confirmByPasskey,
  }
  const signingIn = { ...core, ...createSignIn(core), providers: createProviderService(core) }
  const shared = { ...signingIn, ...createIdentities(signingIn) }
  const exports = createExports(shared)
  const accountAdministration = createAccountAdministration({ ...shared, exports })
  const administrators = createAdministratorService(shared)
  const twoFactorRemovals = createTwoFactorRemovals({ ...shared, tellOperator })
  const undo = createUndoService(shared)
  const services: Services = {
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
