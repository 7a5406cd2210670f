/** Every route of the product on one screen. Knows neither SQL nor configuration: services come in, an app goes out. */
import { Elysia } from 'elysia'
import { createContactRoutes } from './domain/contacts/routes.ts'
import type { Mailbox } from './domain/dev/mailbox.ts'
import { createDevRoutes } from './domain/dev/routes.ts'
import { createHealthRoutes } from './domain/health/routes.ts'
import { createIdentityRoutes } from './domain/identities/routes.ts'
import { createLoginRoutes } from './domain/login/routes.ts'
import { createLoginByCodeRoutes } from './domain/login-by-code/routes.ts'
import { createAccountRoutes } from './domain/me/routes.ts'
import { createPasswordRoutes } from './domain/passwords/routes.ts'
import { createRegistrationRoutes } from './domain/registration/routes.ts'
import type { Services } from './domain/services.ts'
import { createSessionRoutes } from './domain/sessions/routes.ts'
import { createSocialRoutes } from './domain/social/routes.ts'
import type { KeyService } from './domain/tokens/key-service.ts'
import { createDiscoveryRoutes, createKeyRoutes } from './domain/tokens/routes.ts'
import { createTwoFactorRoutes } from './domain/two-factor/routes.ts'
import { createBearer } from './platform/http/bearer.ts'
import { createDocumentation, type DocumentationOptions } from './platform/http/documentation.ts'
import { appSettings, createHttpBase, type HttpBaseOptions } from './platform/http/http-base.ts'

/** What the routes call. */
export type AppServices = Pick<
  Services,
  | 'registration'
  | 'login'
  | 'loginByCode'
  | 'authentication'
  | 'sessions'
  | 'me'
  | 'twoFactor'
  | 'passwords'
  | 'contacts'
  | 'social'
  | 'identities'
> & {
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

export function createApp(services: AppServices, appOptions: AppOptions) {
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
    .use(createLoginByCodeRoutes(httpBase, services.authentication.authenticate, services.loginByCode))
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
