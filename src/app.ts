/** Every route of the product on one screen. Knows neither SQL nor configuration: services come in, an app goes out. */
import { Elysia } from 'elysia'
import { createContactRoutes } from './domain/contacts/routes.ts'
import type { ContactsService } from './domain/contacts/service.ts'
import type { Mailbox } from './domain/dev/mailbox.ts'
import { createDevRoutes } from './domain/dev/routes.ts'
import { createHealthRoutes } from './domain/health/routes.ts'
import { createIdentityRoutes } from './domain/identities/routes.ts'
import type { IdentityService } from './domain/identities/service.ts'
import { createLoginRoutes } from './domain/login/routes.ts'
import type { LoginService } from './domain/login/service.ts'
import { createLoginByCodeRoutes } from './domain/login-by-code/routes.ts'
import type { LoginByCodeService } from './domain/login-by-code/service.ts'
import { createAccountRoutes } from './domain/me/routes.ts'
import type { AccountService } from './domain/me/service.ts'
import { createPasswordRoutes } from './domain/passwords/routes.ts'
import type { PasswordsService } from './domain/passwords/service.ts'
import { createRegistrationRoutes } from './domain/registration/routes.ts'
import type { RegistrationService } from './domain/registration/service.ts'
import type { Authentication } from './domain/sessions/authentication.ts'
import { createSessionRoutes } from './domain/sessions/routes.ts'
import type { SessionService } from './domain/sessions/service.ts'
import { createSocialRoutes } from './domain/social/routes.ts'
import type { SocialService } from './domain/social/service.ts'
import type { KeyService } from './domain/tokens/key-service.ts'
import { createDiscoveryRoutes, createKeyRoutes } from './domain/tokens/routes.ts'
import { createTwoFactorRoutes } from './domain/two-factor/routes.ts'
import type { TwoFactorService } from './domain/two-factor/service.ts'
import { createBearer } from './platform/http/bearer.ts'
import { createDocumentation, type DocumentationOptions } from './platform/http/documentation.ts'
import { appSettings, createHttpBase, type HttpBaseOptions } from './platform/http/http-base.ts'

export interface Services {
  registration: RegistrationService
  login: LoginService
  loginByCode: LoginByCodeService
  authentication: Authentication
  sessions: SessionService
  me: AccountService
  twoFactor: TwoFactorService
  passwords: PasswordsService
  contacts: ContactsService
  social: SocialService
  identities: IdentityService
  keys: Pick<KeyService, 'published'>
  /** Throws when a store does not answer. */
  ping: () => Promise<void>
  /** Only with --dev. */
  mailbox: Mailbox | null
}

export interface AppOptions extends HttpBaseOptions {
  /** Where clients reach the service; the issuer of its tokens. */
  baseUrl: string
  /** Cookies only over TLS. */
  secureCookies: boolean
  /** Null: no documentation. */
  documentation: DocumentationOptions | null
}

export function createApp(services: Services, appOptions: AppOptions) {
  const { baseUrl, documentation, secureCookies, ...options } = appOptions
  const httpBase = createHttpBase(options)
  const bearer = createBearer(services.authentication.authenticate)
  const app = new Elysia(appSettings)
    .use(httpBase)
    .use(createHealthRoutes(services.ping))
    .use(createKeyRoutes(services.keys))
    .use(createDiscoveryRoutes(baseUrl))
    .use(createRegistrationRoutes(httpBase, services.registration))
    .use(createLoginRoutes(httpBase, services.login))
    .use(createLoginByCodeRoutes(httpBase, services.loginByCode))
    .use(createSessionRoutes(httpBase, bearer, services.sessions))
    .use(createAccountRoutes(httpBase, bearer, services.me))
    .use(createTwoFactorRoutes(httpBase, bearer, services.twoFactor))
    .use(createPasswordRoutes(httpBase, bearer, services.passwords))
    .use(createContactRoutes(httpBase, bearer, services.contacts))
  app
    .use(createSocialRoutes(httpBase, services.social, { secure: secureCookies }))
    .use(createIdentityRoutes(httpBase, bearer, services.identities))
  if (services.mailbox) app.use(createDevRoutes(services.mailbox, options.language))
  if (documentation) app.use(createDocumentation(documentation))
  return app
}
