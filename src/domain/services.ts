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
import type { AccountCodes } from './account-codes/service.ts'
import type { AccountCodeStore } from './account-codes/store.ts'
import type { OwnerNotices } from './accounts/owner-notices.ts'
import type { AccountStore } from './accounts/store.ts'
import type { AccountAdministration } from './administration-accounts/service.ts'
import type { AccountAdministrationStore } from './administration-accounts/store.ts'
import type { AuditTrail } from './administration-events/service.ts'
import type { AuditTrailStore } from './administration-events/store.ts'
import type { AccountFactors } from './administration-factors/service.ts'
import type { AccountFactorStore } from './administration-factors/store.ts'
import type { LimitAdministration } from './administration-limits/service.ts'
import type { MessageAdministration } from './administration-messages/service.ts'
import type { MessageAdministrationStore } from './administration-messages/store.ts'
import type { Overview } from './administration-overview/service.ts'
import type { OverviewStore } from './administration-overview/store.ts'
import type { PeopleService } from './administration-people/service.ts'
import type { PeopleStore } from './administration-people/store.ts'
import type { PageSessions } from './administration-sessions/service.ts'
import type { PageSessionStore } from './administration-sessions/store.ts'
import type { TokenService } from './administration-tokens/service.ts'
import type { TokenStore } from './administration-tokens/store.ts'
import type { AdministratorReach } from './administrators/reach.ts'
import type { AdministratorService } from './administrators/service.ts'
import type { AdministratorStore } from './administrators/store.ts'
import type { Attempts } from './attempts/service.ts'
import type { AttemptStore } from './attempts/store.ts'
import type { EnrolmentStore } from './authenticators/enrolment-store.ts'
import type { Authenticators } from './authenticators/service.ts'
import type { FactorStore } from './authenticators/store.ts'
import type { BackupService } from './backups/service.ts'
import type { BackupStore } from './backups/store.ts'
import type { CodeService } from './codes/service.ts'
import type { CodeStore } from './codes/store.ts'
import type { ContactsService } from './contacts/service.ts'
import type { ContactStore } from './contacts/store.ts'
import type { RefusedAddressStore } from './delivery/refused-address-store.ts'
import type { RefusedAddresses } from './delivery/refused-addresses.ts'
import type { KnownDevices } from './devices/service.ts'
import type { KnownDeviceStore } from './devices/store.ts'
import type { EventTail } from './events/event-tail.ts'
import type { GatheredEvents } from './events/gathered-events.ts'
import type { EventStore } from './events/store.ts'
import type { HashService } from './hashing/service.ts'
import type { DigestStore } from './hashing/store.ts'
import type { HousekeepingStore } from './housekeeping/store.ts'
import type { Idempotency } from './idempotency/service.ts'
import type { IdempotencyStore } from './idempotency/store.ts'
import type { IdentityProofs } from './identities/proof.ts'
import type { IdentityResolver } from './identities/resolver.ts'
import type { IdentityService } from './identities/service.ts'
import type { SpentTokenStore } from './identities/spent-token-store.ts'
import type { IdentityStore } from './identities/store.ts'
import type { LimitService } from './limits/service.ts'
import type { LimitStore } from './limits/store.ts'
import type { LoginService } from './login/service.ts'
import type { LoginByCodeService } from './login-by-code/service.ts'
import type { ExportStore } from './me/export-store.ts'
import type { Exports } from './me/exports.ts'
import type { AccountService } from './me/service.ts'
import type { ErasureStore } from './me/store.ts'
import type { Metrics } from './metrics/metrics.ts'
import type { Outbox } from './outbox/service.ts'
import type { MessageStore } from './outbox/store.ts'
import type { PasskeyService } from './passkeys/service.ts'
import type { PasskeyStore } from './passkeys/store.ts'
import type { PasswordsService } from './passwords/service.ts'
import type { PasswordStore } from './passwords/store.ts'
import type { ProviderService } from './providers/service.ts'
import type { RegistrationService } from './registration/service.ts'
import type { RegistrationStore } from './registration/store.ts'
import type { Secrets } from './secrets/service.ts'
import type { SecretStore } from './secrets/store.ts'
import type { Authentication } from './sessions/authentication.ts'
import type { FamilyStore } from './sessions/family-store.ts'
import type { SessionService } from './sessions/service.ts'
import type { SessionOpener } from './sessions/session-opener.ts'
import type { SessionStore } from './sessions/store.ts'
import type { FirstFactorProofs } from './sign-in/first-factor-proof.ts'
import type { PasswordCheck } from './sign-in/password-check.ts'
import type { ConfirmByPasskey, Reauthentication } from './sign-in/reauthentication.ts'
import type { SecondFactor } from './sign-in/second-factor.ts'
import type { SignInService } from './sign-in/service.ts'
import type { Funnel } from './sms-funnel/funnel.ts'
import type { ReceiptService } from './sms-funnel/receipts.ts'
import type { SmsFunnelStore } from './sms-funnel/store.ts'
import type { SocialService } from './social/service.ts'
import type { TicketStore } from './tickets/store.ts'
import type { AccessTokenService } from './tokens/access-token.ts'
import type { KeyService } from './tokens/key-service.ts'
import type { KeyStore } from './tokens/key-store.ts'
import type { RefreshTokens } from './tokens/refresh-token.ts'
import type { TwoFactorService } from './two-factor/service.ts'
import type { TwoFactorRemovals } from './two-factor-removals/service.ts'
import type { TwoFactorRemovalStore } from './two-factor-removals/store.ts'
import type { UndoLinks } from './undo/links.ts'
import type { UndoService } from './undo/service.ts'
import type { UndoStore } from './undo/store.ts'

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
