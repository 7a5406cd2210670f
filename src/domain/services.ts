/**
 * Every store and every service by its one name. Types only: a room asks for what it needs with `Pick<Services, …>`,
 * and compose/ passes everything it has. A room may pick only from rooms before it in the order of
 * scripts/check-layers.ts, which reads this file.
 */
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/types.ts'
import type { Network } from '../platform/guarded-fetch.ts'
import type { Logger } from '../platform/http/logging.ts'
import type { ServerSecret } from '../platform/secret.ts'
import type { Catalog } from '../texts/catalog.ts'
import type { AccountCodes } from './accounts/account-codes/service.ts'
import type { AccountCodeStore } from './accounts/account-codes/store.ts'
import type { OwnerNotices } from './accounts/accounts/owner-notices.ts'
import type { AccountStore } from './accounts/accounts/store.ts'
import type { KnownDevices } from './accounts/devices/service.ts'
import type { KnownDeviceStore } from './accounts/devices/store.ts'
import type { PageSessions } from './administration/administrator-sessions/service.ts'
import type { PageSessionStore } from './administration/administrator-sessions/store.ts'
import type { AdministratorReach } from './administration/administrators/reach.ts'
import type { AdministratorService } from './administration/administrators/service.ts'
import type { AdministratorStore } from './administration/administrators/store.ts'
import type { TokenService } from './administration/api-tokens/service.ts'
import type { TokenStore } from './administration/api-tokens/store.ts'
import type { AuditTrail } from './administration/audit/service.ts'
import type { AuditTrailStore } from './administration/audit/store.ts'
import type { AccountAdministration } from './administration/directory/service.ts'
import type { AccountAdministrationStore } from './administration/directory/store.ts'
import type { AccountFactors } from './administration/factors/service.ts'
import type { AccountFactorStore } from './administration/factors/store.ts'
import type { Idempotency } from './administration/idempotency/service.ts'
import type { IdempotencyStore } from './administration/idempotency/store.ts'
import type { LimitAdministration } from './administration/limit-lifts/service.ts'
import type { MessageAdministration } from './administration/message-log/service.ts'
import type { MessageAdministrationStore } from './administration/message-log/store.ts'
import type { Overview } from './administration/overview/service.ts'
import type { OverviewStore } from './administration/overview/store.ts'
import type { PeopleService } from './administration/people/service.ts'
import type { PeopleStore } from './administration/people/store.ts'
import type { EnrolmentStore } from './credentials/authenticators/enrolment-store.ts'
import type { Authenticators } from './credentials/authenticators/service.ts'
import type { FactorStore } from './credentials/authenticators/store.ts'
import type { ProviderService } from './credentials/providers/service.ts'
import type { Secrets } from './credentials/secrets/service.ts'
import type { SecretStore } from './credentials/secrets/store.ts'
import type { EventTail } from './foundation/events/event-tail.ts'
import type { GatheredEvents } from './foundation/events/gathered-events.ts'
import type { EventStore } from './foundation/events/store.ts'
import type { HashService } from './foundation/hashing/service.ts'
import type { DigestStore } from './foundation/hashing/store.ts'
import type { Metrics } from './foundation/metrics/metrics.ts'
import type { TicketStore } from './foundation/tickets/store.ts'
import type { Attempts } from './limits/attempts/service.ts'
import type { AttemptStore } from './limits/attempts/store.ts'
import type { LimitService } from './limits/limits/service.ts'
import type { LimitStore } from './limits/limits/store.ts'
import type { CodeService } from './messages/codes/service.ts'
import type { CodeStore } from './messages/codes/store.ts'
import type { RefusedAddressStore } from './messages/delivery/refused-address-store.ts'
import type { RefusedAddresses } from './messages/delivery/refused-addresses.ts'
import type { Outbox } from './messages/outbox/service.ts'
import type { MessageStore } from './messages/outbox/store.ts'
import type { Funnel } from './messages/sms-funnel/funnel.ts'
import type { ReceiptService } from './messages/sms-funnel/receipts.ts'
import type { SmsFunnelStore } from './messages/sms-funnel/store.ts'
import type { BackupService } from './operations/backups/service.ts'
import type { BackupStore } from './operations/backups/store.ts'
import type { HousekeepingStore } from './operations/housekeeping/store.ts'
import type { ContactsService } from './self-service/contacts/service.ts'
import type { ContactStore } from './self-service/contacts/store.ts'
import type { ExportStore } from './self-service/me/export-store.ts'
import type { Exports } from './self-service/me/exports.ts'
import type { AccountService } from './self-service/me/service.ts'
import type { ErasureStore } from './self-service/me/store.ts'
import type { TwoFactorRemovals } from './self-service/two-factor-removals/service.ts'
import type { TwoFactorRemovalStore } from './self-service/two-factor-removals/store.ts'
import type { Authentication } from './sessions/sessions/authentication.ts'
import type { FamilyStore } from './sessions/sessions/family-store.ts'
import type { SessionService } from './sessions/sessions/service.ts'
import type { SessionOpener } from './sessions/sessions/session-opener.ts'
import type { SessionStore } from './sessions/sessions/store.ts'
import type { AccessTokenService } from './sessions/tokens/access-token.ts'
import type { KeyService } from './sessions/tokens/key-service.ts'
import type { KeyStore } from './sessions/tokens/key-store.ts'
import type { RefreshTokens } from './sessions/tokens/refresh-token.ts'
import type { IdentityProofs } from './sign-in/identities/proof.ts'
import type { IdentityResolver } from './sign-in/identities/resolver.ts'
import type { IdentityService } from './sign-in/identities/service.ts'
import type { SpentTokenStore } from './sign-in/identities/spent-token-store.ts'
import type { IdentityStore } from './sign-in/identities/store.ts'
import type { LoginService } from './sign-in/login/service.ts'
import type { LoginByCodeService } from './sign-in/login-by-code/service.ts'
import type { PasskeyService } from './sign-in/passkeys/service.ts'
import type { PasskeyStore } from './sign-in/passkeys/store.ts'
import type { PasswordsService } from './sign-in/passwords/service.ts'
import type { PasswordStore } from './sign-in/passwords/store.ts'
import type { RegistrationService } from './sign-in/registration/service.ts'
import type { RegistrationStore } from './sign-in/registration/store.ts'
import type { FirstFactorProofs } from './sign-in/sign-in/first-factor-proof.ts'
import type { PasswordCheck } from './sign-in/sign-in/password-check.ts'
import type { ConfirmByPasskey, Reauthentication } from './sign-in/sign-in/reauthentication.ts'
import type { SecondFactor } from './sign-in/sign-in/second-factor.ts'
import type { SignInService } from './sign-in/sign-in/service.ts'
import type { SocialService } from './sign-in/social/service.ts'
import type { TwoFactorService } from './sign-in/two-factor/service.ts'
import type { UndoLinks } from './sign-in/undo/links.ts'
import type { UndoService } from './sign-in/undo/service.ts'
import type { UndoStore } from './sign-in/undo/store.ts'

/** Each table belongs to one store. Codes, limits and tickets are in Redis where it is configured. */
export interface Stores {
  accountCodes: AccountCodeStore
  accountFactors: AccountFactorStore
  accountAdministration: AccountAdministrationStore
  accounts: AccountStore
  administrationTokens: TokenStore
  administrators: AdministratorStore
  attempts: AttemptStore
  auditTrail: AuditTrailStore
  authenticators: FactorStore
  backups: BackupStore
  codes: CodeStore
  contacts: ContactStore
  devices: KnownDeviceStore
  digests: DigestStore
  enrolments: EnrolmentStore
  erasure: ErasureStore
  events: EventStore
  exports: ExportStore
  families: FamilyStore
  housekeeping: HousekeepingStore
  idempotency: IdempotencyStore
  identities: IdentityStore
  limits: LimitStore
  messageAdministration: MessageAdministrationStore
  messages: MessageStore
  pageSessions: PageSessionStore
  overview: OverviewStore
  passkeys: PasskeyStore
  passwords: PasswordStore
  people: PeopleStore
  refusedAddresses: RefusedAddressStore
  registrations: RegistrationStore
  secrets: SecretStore
  sessions: SessionStore
  signingKeys: KeyStore
  smsFunnel: SmsFunnelStore
  spentTokens: SpentTokenStore
  tickets: TicketStore
  twoFactorRemovals: TwoFactorRemovalStore
  undo: UndoStore
}

export interface Services {
  config: Config
  /** The texts of every language. */
  catalog: Catalog
  clock: Clock
  logger: Logger
  metrics: Metrics
  secret: ServerSecret
  network: Network

  hashing: HashService
  keys: KeyService
  accessTokens: AccessTokenService
  refreshTokens: RefreshTokens
  limits: LimitService
  attempts: Attempts
  codes: CodeService
  devices: KnownDevices
  events: GatheredEvents
  eventTail: EventTail
  outbox: Outbox
  receipts: ReceiptService
  refusedAddresses: RefusedAddresses
  funnel: Funnel
  notices: OwnerNotices
  accountCodes: AccountCodes
  authenticators: Authenticators
  secrets: Secrets
  authentication: Authentication
  sessionOpener: SessionOpener
  passwordCheck: PasswordCheck
  reauthentication: Reauthentication
  confirmByPasskey: ConfirmByPasskey
  firstFactorProofs: FirstFactorProofs
  secondFactor: SecondFactor
  signIn: SignInService
  providers: ProviderService
  identityProofs: IdentityProofs
  identityResolver: IdentityResolver

  registration: RegistrationService
  login: LoginService
  loginByCode: LoginByCodeService
  sessions: SessionService
  me: AccountService
  exports: Exports
  twoFactor: TwoFactorService
  twoFactorRemovals: TwoFactorRemovals
  undo: UndoService
  undoLinks: UndoLinks
  passkeys: PasskeyService
  passwords: PasswordsService
  contacts: ContactsService
  idempotency: Idempotency
  administrators: AdministratorService
  pageSessions: PageSessions
  administrationTokens: TokenService
  accountAdministration: AccountAdministration
  auditTrail: AuditTrail
  administratorReach: AdministratorReach
  people: PeopleService
  limitAdministration: LimitAdministration
  messageAdministration: MessageAdministration
  overview: Overview
  backups: BackupService
  accountFactors: AccountFactors
  social: SocialService
  identities: IdentityService
}
