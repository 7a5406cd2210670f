/** Every route of the product on one screen. Knows neither SQL nor configuration: services come in, an app goes out. */
import { Elysia } from 'elysia'
import type { Mailbox } from './core/delivery/mailbox.ts'
import type { Authentication } from './core/sessions/authentication.ts'
import type { KeyService } from './core/tokens/key-service.ts'
import { createAccountRoutes } from './features/account/routes.ts'
import type { AccountService } from './features/account/service.ts'
import { createContactRoutes } from './features/contacts/routes.ts'
import type { ContactsService } from './features/contacts/service.ts'
import { createFactorRoutes } from './features/factors/routes.ts'
import type { FactorsService } from './features/factors/service.ts'
import { createHealthRoutes } from './features/health/routes.ts'
import { createIdentityRoutes } from './features/identities/routes.ts'
import type { IdentitiesService } from './features/identities/service.ts'
import { createKeyRoutes } from './features/keys/routes.ts'
import { createLoginRoutes } from './features/login/routes.ts'
import type { LoginService } from './features/login/service.ts'
import { createMailboxRoutes } from './features/mailbox/routes.ts'
import { createPasswordRoutes } from './features/passwords/routes.ts'
import type { PasswordsService } from './features/passwords/service.ts'
import { createRegistrationRoutes } from './features/registration/routes.ts'
import type { RegistrationService } from './features/registration/service.ts'
import { createSessionRoutes } from './features/sessions/routes.ts'
import type { SessionsService } from './features/sessions/service.ts'
import { createSocialRoutes } from './features/social/routes.ts'
import type { SocialService } from './features/social/service.ts'
import { createTwoFactorRoutes } from './features/two-factor/routes.ts'
import type { TwoFactorService } from './features/two-factor/service.ts'
import { createBearer } from './platform/http/bearer.ts'
import { createDocumentation, type DocumentationOptions } from './platform/http/documentation.ts'
import { appSettings, createEnvelope, type EnvelopeOptions } from './platform/http/envelope.ts'

export interface Services {
  registration: RegistrationService
  login: LoginService
  twoFactor: TwoFactorService
  authentication: Authentication
  sessions: SessionsService
  account: AccountService
  factors: FactorsService
  passwords: PasswordsService
  contacts: ContactsService
  social: SocialService
  identities: IdentitiesService
  keys: Pick<KeyService, 'published'>
  /** Throws when a store does not answer. */
  ping: () => Promise<void>
  /** Only with --dev. */
  mailbox: Mailbox | null
}

export interface AppOptions extends EnvelopeOptions {
  /** Cookies only over TLS. */
  secureCookies: boolean
  /** Null: no documentation. */
  documentation: DocumentationOptions | null
}

export function createApp(services: Services, { documentation, secureCookies, ...options }: AppOptions) {
  const envelope = createEnvelope(options)
  const bearer = createBearer(services.authentication.authenticate)
  const app = new Elysia(appSettings)
    .use(envelope)
    .use(createHealthRoutes(services.ping))
    .use(createKeyRoutes(services.keys))
    .use(createRegistrationRoutes(envelope, services.registration))
    .use(createLoginRoutes(envelope, services.login))
    .use(createTwoFactorRoutes(envelope, services.twoFactor))
    .use(createSessionRoutes(envelope, bearer, services.sessions))
    .use(createAccountRoutes(envelope, bearer, services.account))
    .use(createFactorRoutes(envelope, bearer, services.factors))
    .use(createPasswordRoutes(envelope, bearer, services.passwords))
    .use(createContactRoutes(envelope, bearer, services.contacts))
  app
    .use(createSocialRoutes(envelope, services.social, { secure: secureCookies }))
    .use(createIdentityRoutes(envelope, bearer, services.identities))
  if (services.mailbox) app.use(createMailboxRoutes(services.mailbox, options.language))
  if (documentation) app.use(createDocumentation(documentation))
  return app
}
