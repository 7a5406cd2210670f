/** Every service, folder by folder in the order in which they need each other. Nothing runs and nothing is written here. */

import { createAdministratorSessions } from '../administration/administrator-sessions/service.ts'
import { createAdministratorReach } from '../administration/administrators/reach.ts'
import { createAdministratorService } from '../administration/administrators/service.ts'
import { createTokenService } from '../administration/api-tokens/service.ts'
import { createAuditTrail } from '../administration/audit/service.ts'
import { createDirectory } from '../administration/directory/service.ts'
import { createEndedTokensFeed } from '../administration/ended-tokens/service.ts'
import { createAccountFactors } from '../administration/factors/service.ts'
import { createIdempotency } from '../administration/idempotency/service.ts'
import { createAccountExport } from '../administration/imports/export.ts'
import { createImportService } from '../administration/imports/service.ts'
import { createInvitationService } from '../administration/invitations/service.ts'
import { createRefusals } from '../administration/limit-lifts/refusals.ts'
import { createLimitLifts } from '../administration/limit-lifts/service.ts'
import { createMessageLog } from '../administration/message-log/service.ts'
import { createOverview } from '../administration/overview/service.ts'
import { createPeopleService } from '../administration/people/service.ts'
import { createSmsPrefixes } from '../administration/sms-prefixes/service.ts'
import { createBackupService } from '../operations/backups/service.ts'
import { createDeliver } from '../operations/webhooks/delivery.ts'
import { createWebhooks } from '../operations/webhooks/service.ts'
import { createWebhookWorker } from '../operations/webhooks/worker.ts'
import { createAccounts, createCredentials, createSessions } from './accounts.ts'
import { createBackupMaker } from './backups.ts'
import { createFoundation, createLimits, createMessages, type WholeGround } from './messages.ts'
import { createSelfService, createSignIn, createStrictSignIn } from './sign-in.ts'

function createAdministration(below: ReturnType<typeof createSelfService>) {
  const refusals = createRefusals(below)
  const directory = createDirectory({ ...below, refusals })
  const strictSignIn = createStrictSignIn(below)
  const administrators = createAdministratorService(below)
  const limitLifts = createLimitLifts({ ...below, refusals })
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
    accountExport: createAccountExport(below),
    accountFactors: createAccountFactors({ ...below, directory }),
    auditTrail: createAuditTrail({ ...below, directory }),
    overview: createOverview({ ...below, refusals }),
    limitLifts,
    smsPrefixes: createSmsPrefixes(below),
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
  const signIn = createSignIn(
    createCredentials(createSessions(createAccounts(createMessages(createLimits(foundation))))),
  )
  const services = createOperations(createAdministration(createSelfService(signIn)))
  return { services, worker: services.worker }
}

/** Every service by its name in compose/. A room names the ones that it needs by their own types. */
export type Services = ReturnType<typeof createServices>['services']
