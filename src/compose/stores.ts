/** Every store, made once. */

import { createAdministratorSessionStore } from '../administration/administrator-sessions/store.ts'
import { createAdministratorStore } from '../administration/administrators/store.ts'
import { createTokenStore } from '../administration/api-tokens/store.ts'
import { createAuditTrailStore } from '../administration/audit/store.ts'
import { createDirectoryStore } from '../administration/directory/store.ts'
import { createIdempotencyStore } from '../administration/idempotency/store.ts'
import { createAccountExportStore } from '../administration/imports/export-store.ts'
import { createImportStore } from '../administration/imports/store.ts'
import { createLimitLiftStore } from '../administration/limit-lifts/store.ts'
import { createMessageLogStore } from '../administration/message-log/store.ts'
import { createOverviewStore } from '../administration/overview/store.ts'
import { createPeopleStore } from '../administration/people/store.ts'
import { createAccountCodeStore } from '../domain/accounts/account-codes/store.ts'
import { createInvitationStore } from '../domain/accounts/admission/store.ts'
import { createAccountStore } from '../domain/accounts/core/store.ts'
import { createKnownDeviceStore } from '../domain/accounts/devices/store.ts'
import { createTrustedDeviceStore } from '../domain/accounts/devices/trusted-device-store.ts'
import { createEnrolmentStore } from '../domain/credentials/authenticators/enrolment-store.ts'
import { createFactorStore } from '../domain/credentials/authenticators/store.ts'
import { createSecretStore } from '../domain/credentials/secrets/store.ts'
import { createEventStore } from '../domain/foundation/events/store.ts'
import { createDigestStore } from '../domain/foundation/hashing/store.ts'
import { createPostgresLimitStore } from '../domain/foundation/limits/store-postgres.ts'
import { createRedisLimitStore } from '../domain/foundation/limits/store-redis.ts'
import { createTestIdentityStore } from '../domain/foundation/test-identities/store.ts'
import { createPostgresTicketStore } from '../domain/foundation/tickets/store-postgres.ts'
import { createRedisTicketStore } from '../domain/foundation/tickets/store-redis.ts'
import { createAttemptStore } from '../domain/messages/codes/attempt-store.ts'
import { createPostgresCodeStore } from '../domain/messages/codes/store-postgres.ts'
import { createRedisCodeStore } from '../domain/messages/codes/store-redis.ts'
import { createRefusedAddressStore } from '../domain/messages/delivery/refused-address-store.ts'
import { createBackChannelStore } from '../domain/messages/outbox/back-channel-store.ts'
import { createMessageStore } from '../domain/messages/outbox/store.ts'
import { createSmsClosingStore } from '../domain/messages/sms-funnel/closing-store.ts'
import { createSmsFunnelStore } from '../domain/messages/sms-funnel/store.ts'
import { createContactStore } from '../domain/self-service/contacts/store.ts'
import { createMembershipStore } from '../domain/self-service/invitations/store.ts'
import { createExportStore } from '../domain/self-service/me/export-store.ts'
import { createErasureStore } from '../domain/self-service/me/store.ts'
import { createTwoFactorRemovalStore } from '../domain/self-service/two-factor-removals/store.ts'
import { createApplicationLogStore } from '../domain/sessions/application-log/store.ts'
import { createBrowserSessionStore } from '../domain/sessions/browser-sessions/store.ts'
import { createFamilyStore } from '../domain/sessions/core/family-store.ts'
import { createSessionStore } from '../domain/sessions/core/store.ts'
import { createKeyStore } from '../domain/sessions/tokens/key-store.ts'
import { createSpentTokenStore } from '../domain/sign-in/identities/spent-token-store.ts'
import { createIdentityStore } from '../domain/sign-in/identities/store.ts'
import { createPasskeyStore } from '../domain/sign-in/passkeys/store.ts'
import { createPasswordStore } from '../domain/sign-in/passwords/store.ts'
import { createRegistrationStore } from '../domain/sign-in/registration/store.ts'
import { createUndoStore } from '../domain/sign-in/undo/store.ts'
import { createBackupStore } from '../operations/backups/store.ts'
import { createHousekeepingStore } from '../operations/housekeeping/store.ts'
import { createWebhookStateStore } from '../operations/webhooks/state-store.ts'
import { createWebhookStore } from '../operations/webhooks/store.ts'
import { createApplicationStore } from '../pages/applications/store.ts'

import type { Config } from '../platform/config/types.ts'
import type { Database } from '../platform/postgres/database.ts'
import { daysBefore, type Sweep } from '../platform/postgres/sweep.ts'
import type { RedisConnection } from '../platform/redis/connection.ts'

/** `redis` null: codes, limits and tickets are kept in the database too. */
export function createStores(
  config: Pick<Config, 'events'>,
  database: Database,
  redis: RedisConnection | null,
) {
  return {
    accountCodes: createAccountCodeStore(database),
    directory: createDirectoryStore(database),
    limitLifts: createLimitLiftStore(database),
    accounts: createAccountStore(database),
    administrationTokens: createTokenStore(database),
    administrators: createAdministratorStore(database),
    applications: createApplicationStore(database),
    attempts: createAttemptStore(database),
    auditTrail: createAuditTrailStore(database),
    authenticators: createFactorStore(database),
    applicationLog: createApplicationLogStore(database),
    backChannels: createBackChannelStore(database),
    backups: createBackupStore(database),
    browserSessions: createBrowserSessionStore(database),
    codes: redis ? createRedisCodeStore(redis) : createPostgresCodeStore(database),
    contacts: createContactStore(database),
    devices: createKnownDeviceStore(database),
    digests: createDigestStore(database),
    enrolments: createEnrolmentStore(database),
    erasure: createErasureStore(database),
    events: createEventStore(database, config.events),
    exports: createExportStore(database),
    families: createFamilyStore(database),
    housekeeping: createHousekeepingStore(database),
    invitations: createInvitationStore(database),
    idempotency: createIdempotencyStore(database),
    identities: createIdentityStore(database),
    identityKeys: createKeyStore(database, 'RS256'),
    limits: redis ? createRedisLimitStore(redis) : createPostgresLimitStore(database),
    memberships: createMembershipStore(database),
    messageLog: createMessageLogStore(database),
    messages: createMessageStore(database),
    administratorSessions: createAdministratorSessionStore(database),
    overview: createOverviewStore(database),
    passkeys: createPasskeyStore(database),
    passwords: createPasswordStore(database),
    people: createPeopleStore(database),
    imports: createImportStore(database),
    exportedAccounts: createAccountExportStore(database),
    refusedAddresses: createRefusedAddressStore(database),
    registrations: createRegistrationStore(database),
    secrets: createSecretStore(database),
    sessions: createSessionStore(database),
    signingKeys: createKeyStore(database),
    smsClosings: createSmsClosingStore(database),
    smsFunnel: createSmsFunnelStore(database),
    spentTokens: createSpentTokenStore(database),
    testIdentities: createTestIdentityStore(database),
    tickets: redis ? createRedisTicketStore(redis) : createPostgresTicketStore(database),
    trustedDevices: createTrustedDeviceStore(database),
    twoFactorRemovals: createTwoFactorRemovalStore(database),
    undo: createUndoStore(database),
    webhooks: createWebhookStore(database),
    webhookStates: createWebhookStateStore(database),
  }
}

/** Every store by its name in compose/. A room names the ones that it needs by their own types. */
export type Stores = ReturnType<typeof createStores>

/** "Did it go out?" is asked within weeks. */
const MESSAGE_DAYS = 30

/** The sweeps of housekeeping, by the names in its log. */
export const sweepsOf = (stores: Stores): Record<string, Sweep> => ({
  registrations: stores.registrations.sweep,
  registration_claims: stores.registrations.sweepClaims,
  sessions: stores.sessions.sweep,
  authorization_codes: stores.applications.sweep,
  messages: (now, limit) => stores.messages.sweep(daysBefore(now, MESSAGE_DAYS), limit),
  sms_closings: stores.smsClosings.sweep,
  sms_funnel: stores.smsFunnel.sweep,
  refused_addresses: stores.refusedAddresses.sweep,
  contact_changes: stores.contacts.sweep,
  replaced_contacts: stores.undo.sweep,
  totp_enrolments: stores.enrolments.sweep,
  codes: stores.codes.sweep,
  invitations: stores.invitations.sweep,
  account_codes: stores.accountCodes.sweep,
  limits: stores.limits.sweep,
  tickets: stores.tickets.sweep,
  wrong_codes: stores.attempts.sweep,
  known_devices: stores.devices.sweep,
  trusted_devices: stores.trustedDevices.sweep,
  spent_id_tokens: stores.spentTokens.sweep,
  spent_challenges: stores.passkeys.sweep,
  idempotency_keys: stores.idempotency.sweep,
  administration_tokens: stores.administrationTokens.sweep,
  event_addresses: stores.events.sweepDetails,
  events: stores.events.sweep,
})
