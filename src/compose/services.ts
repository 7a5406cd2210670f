/** Every service, folder by folder in the order in which they need each other. Nothing runs and nothing is written here. */

import {
  createAdministrationPolicy,
  pageRelyingParty,
  recentProof,
} from '../administration/administrator-sessions/policy.ts'
import { createAdministratorSessions } from '../administration/administrator-sessions/service.ts'
import { createAdministratorReach } from '../administration/administrators/reach.ts'
import { createAdministratorService } from '../administration/administrators/service.ts'
import { createTokenService } from '../administration/api-tokens/service.ts'
import { createAuditTrail } from '../administration/audit/service.ts'
import { createDirectory } from '../administration/directory/service.ts'
import { createEndedTokensFeed } from '../administration/ended-tokens/service.ts'
import { createAccountFactors } from '../administration/factors/service.ts'
import { createIdempotency } from '../administration/idempotency/service.ts'
import { createImportService } from '../administration/imports/service.ts'
import { createInvitationService } from '../administration/invitations/service.ts'
import { createLimitLifts } from '../administration/limit-lifts/service.ts'
import { createMessageLog } from '../administration/message-log/service.ts'
import { createOverview } from '../administration/overview/service.ts'
import { createPeopleService } from '../administration/people/service.ts'
import { createAccountCodeSending, createAccountCodes } from '../domain/accounts/account-codes/service.ts'
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
import { createEventTail } from '../domain/foundation/events/event-tail.ts'
import { createGatheredEvents } from '../domain/foundation/events/gathered-events.ts'
import { createHashing } from '../domain/foundation/hashing/service.ts'
import type { Identifier } from '../domain/foundation/identifiers/identifier.ts'
import { withPumpingGuard } from '../domain/foundation/limits/pumping-guard.ts'
import { createLimitService } from '../domain/foundation/limits/service.ts'
import type { Metrics } from '../domain/foundation/metrics/metrics.ts'
import { createTestIdentities } from '../domain/foundation/test-identities/service.ts'
import { type CodeService, createCodeService } from '../domain/messages/codes/service.ts'
import {
  type AccountCodeKind,
  accountCodeKinds,
  type SentCodePurpose,
} from '../domain/messages/codes/store.ts'
import type { SendingCodes } from '../domain/messages/delivery/delivery-attempt.ts'
import type { Reaches } from '../domain/messages/delivery/reach.ts'
import { createDelivery, type TellApplication } from '../domain/messages/delivery/room.ts'
import { createOperatorNotices, type TellOperator } from '../domain/messages/outbox/operator-notices.ts'
import type { Breaker } from '../domain/messages/senders/breaker.ts'
import type { MessageSender } from '../domain/messages/senders/sender.ts'
import { createFunnel } from '../domain/messages/sms-funnel/funnel.ts'
import { createReceiptService } from '../domain/messages/sms-funnel/receipts.ts'
import { createContactsService } from '../domain/self-service/contacts/service.ts'
import { createMemberships } from '../domain/self-service/invitations/service.ts'
import { createExports } from '../domain/self-service/me/exports.ts'
import { createMeService } from '../domain/self-service/me/service.ts'
import { createRemovalLinks } from '../domain/self-service/two-factor-removals/links.ts'
import { createTwoFactorRemovals } from '../domain/self-service/two-factor-removals/service.ts'
import { createApplicationLog } from '../domain/sessions/application-log/service.ts'
import { createBrowserSessions } from '../domain/sessions/browser-sessions/service.ts'
import { createAuthentication } from '../domain/sessions/core/authentication.ts'
import { createRecentSignIn } from '../domain/sessions/core/recent-sign-in.ts'
import { createSessionService } from '../domain/sessions/core/service.ts'
import { createSessionOpener } from '../domain/sessions/core/session-opener.ts'
import { createTokens } from '../domain/sessions/tokens/room.ts'
import { createPasswordCheck } from '../domain/sign-in/core/password-check.ts'
import { createSignIn } from '../domain/sign-in/core/room.ts'
import { createIdentities } from '../domain/sign-in/identities/room.ts'
import { createLoginService } from '../domain/sign-in/login/service.ts'
import { createSecondStep } from '../domain/sign-in/login-by-code/second-step.ts'
import { createLoginByCodeService } from '../domain/sign-in/login-by-code/service.ts'
import { createPasskeyAssertions } from '../domain/sign-in/passkeys/room.ts'
import { createPasskeyService } from '../domain/sign-in/passkeys/service.ts'
import { createPasswordsService } from '../domain/sign-in/passwords/service.ts'
import { createRegistrationService } from '../domain/sign-in/registration/service.ts'
import { createSocialService } from '../domain/sign-in/social/service.ts'
import { createTwoFactorService } from '../domain/sign-in/two-factor/service.ts'
import { createUndoLinks } from '../domain/sign-in/undo/links.ts'
import { createUndoService } from '../domain/sign-in/undo/service.ts'
import { createBackupService } from '../operations/backups/service.ts'
import { createDeliver } from '../operations/webhooks/delivery.ts'
import { createWebhooks } from '../operations/webhooks/service.ts'
import { createWebhookWorker } from '../operations/webhooks/worker.ts'
import { backChannelsOf } from '../platform/config/applications.ts'
import type { Ground } from '../platform/ground.ts'
import type { Network } from '../platform/guarded-fetch.ts'
import type { Database } from '../platform/postgres/database.ts'
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

/** All parts that the services are built on. */
interface WholeGround extends Ground {
  catalog: Catalog
  metrics: Metrics
  network: Network
  database: Database
  stores: Stores
  sender: MessageSender
  reaches: Reaches
  breaker: Breaker
}

/** Each function below builds one folder of the domain on top of those before it, and gives all of them. */
function createFoundation(ground: WholeGround) {
  // A room that notices something for the operator is built before the one that sends it.
  let send: TellOperator | null = null
  const tellOperator: TellOperator = (purpose, about) => send?.(purpose, about)
  const testIdentities = createTestIdentities(ground)
  return {
    ...ground,
    testIdentities,
    // Nothing is sent there, so that no gateway is needed.
    reaches: (identifier: Identifier) => testIdentities.isNamed(identifier) || ground.reaches(identifier),
    tellOperator,
    tellOperatorBy: (sending: TellOperator) => {
      send = sending
    },
    hashing: createHashing(ground),
    events: createGatheredEvents(ground),
    eventTail: createEventTail(ground),
  }
}

/** The funnel of SMS comes with the limits, which ask it for the ranges of numbers that are closed. */
function createLimits(below: ReturnType<typeof createFoundation>) {
  const { stores, tellOperator } = below
  const funnel = createFunnel({ ...below, store: stores.smsFunnel })
  const limits = createLimitService({
    ...below,
    store: withPumpingGuard(stores.limits, { closedUntil: funnel.closedUntil }),
    onAlarm: () => tellOperator('operator_wrong_codes'),
    onDry: (pool) => tellOperator('operator_pool_dry', pool),
  })
  return { ...below, funnel, limits }
}

/** A message may carry a link of a folder above: the links are made from the secret alone. */
function createMessages(below: ReturnType<typeof createLimits>) {
  const { stores, config, funnel, limits, secret } = below
  const { baseUrl } = config.server
  const codes = createCodeService({ ...below, onRight: funnel.verified, onWrong: limits.noteWrongCode })
  const removalLinks = createRemovalLinks({ secret, baseUrl })
  const undoLinks = createUndoLinks({ secret, baseUrl })
  // The pages, which know the applications and are built last, say how one is told.
  let tell: TellApplication | null = null
  const tellApplication: TellApplication = async (message) =>
    tell === null ? { outcome: 'failed', detail: 'internal_error' } : tell(message)
  const delivery = createDelivery({
    ...below,
    ...(backChannelsOf(config).length > 0 && { tellApplication }),
    codes,
    linkOf: ({ removal, undo }) => {
      if (undo !== undefined) return undoLinks.linkTo(undo)
      return removal === undefined ? null : removalLinks.linkTo(removal)
    },
    sendingCodes: createSendingCodes(codes, createAccountCodeSending(below)),
    strangersWaitMs: limits.strangersWaitMs,
  })
  below.tellOperatorBy(createOperatorNotices({ ...below, outbox: delivery.outbox }))
  const tellApplicationsBy = (telling: TellApplication) => {
    tell = telling
  }
  const receipts = createReceiptService({ ...below, store: stores.smsFunnel })
  return { ...below, ...delivery, codes, undoLinks, receipts, tellApplicationsBy }
}

function createAccounts(below: ReturnType<typeof createMessages>) {
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

function createSessions(accounts: ReturnType<typeof createAccounts>) {
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

function createCredentials(below: ReturnType<typeof createSessions>) {
  const authenticators = createAuthenticators(below)
  return {
    ...below,
    authenticators,
    secrets: createSecrets({ ...below, authenticators }),
    providers: createProviderService(below),
  }
}

function createWaysIn(credentials: ReturnType<typeof createCredentials>) {
  const { rpId, origins } = credentials.config.passkeys
  const own = pageRelyingParty(credentials.config)?.origins ?? []
  const assertions = createPasskeyAssertions(credentials, { id: rpId ?? '', origins: [...origins, ...own] })
  const { confirmByPasskey } = assertions
  const freely = { ...credentials, confirmByPasskey, policy: null }
  const checking = { ...freely, passwordCheck: createPasswordCheck(freely) }
  const withFactors = { ...checking, ...createSignIn(checking) }
  const withIdentities = { ...withFactors, ...createIdentities(withFactors) }
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

function createSelfService(below: ReturnType<typeof createWaysIn>) {
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
function createStrictSignIn(below: ReturnType<typeof createSelfService>) {
  const policy = createAdministrationPolicy(below)
  const assertions = createPasskeyAssertions(below, pageRelyingParty(below.config) ?? { id: '', origins: [] })
  const { confirmByPasskey } = assertions
  const strictly = { ...below, policy, confirmByPasskey, recentSignIn: recentProof(below.clock) }
  const withOpener = { ...strictly, sessionOpener: createSessionOpener(strictly) }
  const withFactors = { ...withOpener, ...createSignIn(withOpener) }
  const steps = {
    ...withFactors,
    login: createLoginService(withFactors),
    loginByCode: createLoginByCodeService(withFactors),
    passkeys: createPasskeyService(withFactors, assertions),
  }
  return { ...steps, secondStep: createSecondStep(steps), me: createMeService(steps) }
}

function createAdministration(below: ReturnType<typeof createSelfService>) {
  const directory = createDirectory(below)
  const strictSignIn = createStrictSignIn(below)
  const administrators = createAdministratorService(below)
  const limitLifts = createLimitLifts(below)
  const messageLog = createMessageLog({ ...below, directory })
  const administrationTokens = createTokenService(below)
  return {
    ...below,
    directory,
    administrators,
    idempotency: createIdempotency(below),
    invitations: createInvitationService(below),
    administratorReach: createAdministratorReach({ administrators, limitLifts, messageLog }),
    strictSignIn,
    administratorSessions: createAdministratorSessions({ ...below, signIn: strictSignIn }),
    administrationTokens,
    endedTokens: createEndedTokensFeed({ ...below, administrationTokens }),
    people: createPeopleService({ ...below, directory, administrators }),
    imports: createImportService(below),
    accountFactors: createAccountFactors({ ...below, directory }),
    auditTrail: createAuditTrail({ ...below, directory }),
    overview: createOverview(below),
    limitLifts,
    messageLog,
  }
}

function createOperations(below: ReturnType<typeof createAdministration>) {
  const { stores, database, config, clock, logger } = below
  const backups = createBackupService({
    store: stores.backups,
    files: database.files,
    ...{ clock, logger, at: config.backup.at },
    make: createBackupMaker(config, database, clock),
  })
  const deliver = createDeliver(below)
  return {
    ...below,
    backups,
    webhooks: createWebhooks({ ...below, deliver }),
    webhookWorker: createWebhookWorker({ ...below, deliver }),
  }
}

/** Every service, and the worker that sends what the services queue. */
export function createServices(ground: WholeGround) {
  const foundation = createFoundation(ground)
  const waysIn = createWaysIn(
    createCredentials(createSessions(createAccounts(createMessages(createLimits(foundation))))),
  )
  const services = createOperations(createAdministration(createSelfService(waysIn)))
  return { services, worker: services.worker }
}

/** Every service by its name in compose/. A room names the ones that it needs by their own types. */
export type Services = ReturnType<typeof createServices>['services']
