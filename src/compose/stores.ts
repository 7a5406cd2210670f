/** Every store, made once. */
import { createAccountCodeStore } from '../domain/account-codes/store-postgres.ts'
import { createAccountStore } from '../domain/accounts/store-postgres.ts'
import { createAccountAdministrationStore } from '../domain/administration-accounts/store-postgres.ts'
import { createAuditTrailStore } from '../domain/administration-events/store-postgres.ts'
import { createAccountFactorStore } from '../domain/administration-factors/store-postgres.ts'
import { createMessageAdministrationStore } from '../domain/administration-messages/store-postgres.ts'
import { createOverviewStore } from '../domain/administration-overview/store-postgres.ts'
import { createPeopleStore } from '../domain/administration-people/store-postgres.ts'
import { createPageSessionStore } from '../domain/administration-sessions/store-postgres.ts'
import { createTokenStore } from '../domain/administration-tokens/store-postgres.ts'
import { createAdministratorStore } from '../domain/administrators/store-postgres.ts'
import { createAttemptStore } from '../domain/attempts/store-postgres.ts'
import { createEnrolmentStore } from '../domain/authenticators/enrolment-store-postgres.ts'
import { createFactorStore } from '../domain/authenticators/store-postgres.ts'
import { createBackupStore } from '../domain/backups/store-postgres.ts'
import { createPostgresCodeStore } from '../domain/codes/store-postgres.ts'
import { createRedisCodeStore } from '../domain/codes/store-redis.ts'
import { createContactStore } from '../domain/contacts/store-postgres.ts'
import { createRefusedAddressStore } from '../domain/delivery/refused-address-store-postgres.ts'
import { createKnownDeviceStore } from '../domain/devices/store-postgres.ts'
import { createEventStore } from '../domain/events/store-postgres.ts'
import { createDigestStore } from '../domain/hashing/store-postgres.ts'
import { createHousekeepingStore } from '../domain/housekeeping/store-postgres.ts'
import { createIdempotencyStore } from '../domain/idempotency/store-postgres.ts'
import { createSpentTokenStore } from '../domain/identities/spent-token-store-postgres.ts'
import { createIdentityStore } from '../domain/identities/store-postgres.ts'
import { createPostgresLimitStore } from '../domain/limits/store-postgres.ts'
import { createRedisLimitStore } from '../domain/limits/store-redis.ts'
import { createExportStore } from '../domain/me/export-store-postgres.ts'
import { createErasureStore } from '../domain/me/store-postgres.ts'
import { createMessageStore } from '../domain/outbox/store-postgres.ts'
import { createPasskeyStore } from '../domain/passkeys/store-postgres.ts'
import { createPasswordStore } from '../domain/passwords/store-postgres.ts'
import { createRegistrationStore } from '../domain/registration/store-postgres.ts'
import { createSecretStore } from '../domain/secrets/store-postgres.ts'
import type { Stores } from '../domain/services.ts'
import { createFamilyStore } from '../domain/sessions/family-store-postgres.ts'
import { createSessionStore } from '../domain/sessions/store-postgres.ts'
import { createSmsFunnelStore } from '../domain/sms-funnel/store-postgres.ts'
import { createPostgresTicketStore } from '../domain/tickets/store-postgres.ts'
import { createRedisTicketStore } from '../domain/tickets/store-redis.ts'
import { createKeyStore } from '../domain/tokens/key-store-postgres.ts'
import { createTwoFactorRemovalStore } from '../domain/two-factor-removals/store-postgres.ts'
import { createUndoStore } from '../domain/undo/store-postgres.ts'
import type { Config } from '../platform/config/types.ts'
import type { Database } from '../platform/postgres/database.ts'
import { daysBefore, type Sweep } from '../platform/postgres/sweep.ts'
import type { RedisConnection } from '../platform/redis/connection.ts'

/** `redis` null: codes, limits and tickets are kept in the database too. */
export function createStores(
  config: Pick<Config, 'events'>,
  database: Database,
  redis: RedisConnection | null,
): Stores {
  return {
    accountCodes: createAccountCodeStore(database),
    accountFactors: createAccountFactorStore(database),
    accountAdministration: createAccountAdministrationStore(database),
    accounts: createAccountStore(database),
    administrationTokens: createTokenStore(database),
    administrators: createAdministratorStore(database),
    attempts: createAttemptStore(database),
    auditTrail: createAuditTrailStore(database),
    authenticators: createFactorStore(database),
    backups: createBackupStore(database),
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
    idempotency: createIdempotencyStore(database),
    identities: createIdentityStore(database),
    limits: redis ? createRedisLimitStore(redis) : createPostgresLimitStore(database),
    messageAdministration: createMessageAdministrationStore(database),
    messages: createMessageStore(database),
    pageSessions: createPageSessionStore(database),
    overview: createOverviewStore(database),
    passkeys: createPasskeyStore(database),
    passwords: createPasswordStore(database),
    people: createPeopleStore(database),
    refusedAddresses: createRefusedAddressStore(database),
    registrations: createRegistrationStore(database),
    secrets: createSecretStore(database),
    sessions: createSessionStore(database),
    signingKeys: createKeyStore(database),
    smsFunnel: createSmsFunnelStore(database),
    spentTokens: createSpentTokenStore(database),
    tickets: redis ? createRedisTicketStore(redis) : createPostgresTicketStore(database),
    twoFactorRemovals: createTwoFactorRemovalStore(database),
    undo: createUndoStore(database),
  }
}

/** "Did it go out?" is asked within weeks. */
const MESSAGE_DAYS = 30

/** What housekeeping sweeps, by the names in its log. */
export const choresOf = (stores: Stores): Record<string, Sweep> => ({
  registrations: stores.registrations.sweep,
  registration_claims: stores.registrations.sweepClaims,
  sessions: stores.sessions.sweep,
  messages: (now, limit) => stores.messages.sweep(daysBefore(now, MESSAGE_DAYS), limit),
  sms_funnel: stores.smsFunnel.sweep,
  refused_addresses: stores.refusedAddresses.sweep,
  contact_changes: stores.contacts.sweep,
  replaced_contacts: stores.undo.sweep,
  totp_enrolments: stores.enrolments.sweep,
  codes: stores.codes.sweep,
  account_codes: stores.accountCodes.sweep,
  limits: stores.limits.sweep,
  tickets: stores.tickets.sweep,
  wrong_codes: stores.attempts.sweep,
  known_devices: stores.devices.sweep,
  spent_id_tokens: stores.spentTokens.sweep,
  spent_challenges: stores.passkeys.sweep,
  idempotency_keys: stores.idempotency.sweep,
  administration_tokens: stores.administrationTokens.sweep,
  event_addresses: stores.events.sweepDetails,
  events: stores.events.sweep,
})
