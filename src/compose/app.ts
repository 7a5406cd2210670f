/** The public routes, which `bun run routes` prints. Knows neither SQL nor configuration: services come in, an app goes out. */

import { type AnyElysia, Elysia } from 'elysia'
import { createEndedTokensRoutes } from '../administration/ended-tokens/routes.ts'
import { createReceiptRoutes } from '../domain/messages/sms-funnel/routes.ts'
import { createContactRoutes } from '../domain/self-service/contacts/routes.ts'
import { createMembershipRoutes } from '../domain/self-service/invitations/routes.ts'
import { createMeRoutes } from '../domain/self-service/me/routes.ts'
import { createTwoFactorRemovalRoutes } from '../domain/self-service/two-factor-removals/routes.ts'
import { createSessionRoutes } from '../domain/sessions/core/routes.ts'
import { requireMayCall } from '../domain/sessions/core/test-accounts.ts'
import { createDiscoveryRoutes, createKeyRoutes } from '../domain/sessions/tokens/routes.ts'
import { createIdentityRoutes } from '../domain/sign-in/identities/routes.ts'
import { createLoginRoutes } from '../domain/sign-in/login/routes.ts'
import { createLoginByCodeRoutes } from '../domain/sign-in/login-by-code/routes.ts'
import { createPasskeyRoutes, createWellKnownRoutes } from '../domain/sign-in/passkeys/routes.ts'
import { wellKnownFiles } from '../domain/sign-in/passkeys/well-known.ts'
import { createPasswordRoutes } from '../domain/sign-in/passwords/routes.ts'
import { createRegistrationRoutes } from '../domain/sign-in/registration/routes.ts'
import { createSocialRoutes } from '../domain/sign-in/social/routes.ts'
import { createTwoFactorRoutes } from '../domain/sign-in/two-factor/routes.ts'
import { createUndoRoutes } from '../domain/sign-in/undo/routes.ts'
import { type ClientSettings, createClientSettingsRoutes } from '../operations/client-settings/routes.ts'
import type { SignInAs } from '../operations/dev/sign-in-as.ts'
import { createHealthRoutes } from '../operations/health/routes.ts'
import type { Config } from '../platform/config/types.ts'
import { createBearer } from '../platform/http/bearer.ts'
import type { DocumentationOptions } from '../platform/http/described-interface.ts'
import { createDocumentation, publicDocumentation } from '../platform/http/documentation.ts'
import {
  appSettings,
  createHttpBase,
  type HttpBase,
  type HttpBaseOptions,
} from '../platform/http/http-base.ts'
import { createIconRoute } from '../platform/http/icon.ts'
import type { Services } from './services.ts'

/** The services that the routes call. */
interface AppServices extends Services {
  clientSettings: ClientSettings
  /** Throws when a store does not answer. */
  ping: () => Promise<void>
}

/** Routes that browsers alone call, so that no document describes them. */
type FormRoutes = ((httpBase: HttpBase) => AnyElysia)[]

/** The pages for people, and the page that says why none was reached. */
export interface AppPages {
  routes: FormRoutes
  unreached: NonNullable<HttpBaseOptions['unreachedPage']>
  /** Only with --dev. */
  signInAs: SignInAs | null
}

interface AppOptions extends Omit<HttpBaseOptions, 'unreachedPage'> {
  /** Clients reach the service there; it is also the issuer of its tokens. */
  baseUrl: string
  passkeys: Config['passkeys']
  /** Cookies only over TLS. */
  secureCookies: boolean
  /** It is null without pages for people. */
  pages: AppPages | null
  /** True if applications are handed who signed in. */
  handsOver?: boolean
  /** See createDiscoveryRoutes. */
  onOpenId?: (() => void) | null
  /** It is null without --dev. */
  devRoutes: ((httpBase: HttpBase) => AnyElysia) | null
  /** It is null if there is no documentation. */
  documentation: Pick<DocumentationOptions, 'baseUrl' | 'version'> | null
}

export function createApp(services: AppServices, appOptions: AppOptions) {
  const {
    baseUrl,
    handsOver = false,
    onOpenId = null,
    devRoutes,
    documentation,
    pages,
    passkeys,
    secureCookies,
    ...options
  } = appOptions
  const httpBase = createHttpBase({
    ...options,
    // Applications sign people in with a window of their own, so the ways in go without.
    isolated: /^\/account(\/|$)/,
    ...(pages && { unreachedPage: pages.unreached }),
  })
  const bearer = createBearer(services.authentication.authenticate, requireMayCall)
  const app = new Elysia(appSettings)
    .use(httpBase)
    .use(createIconRoute())
    .use(createHealthRoutes(services.ping))
    .use(createKeyRoutes(services.keys))
    .use(createDiscoveryRoutes(baseUrl, { handsOver, ...(onOpenId && { onOpenId }) }))
    .use(createClientSettingsRoutes(services.clientSettings))
    .use(createRegistrationRoutes(httpBase, services.registration))
    .use(createLoginRoutes(httpBase, services.login))
    .use(createLoginByCodeRoutes(httpBase, services.authentication.authenticate, services.loginByCode))
    .use(createSessionRoutes(httpBase, bearer, services.sessions))
    .use(createMeRoutes(httpBase, bearer, services.me, services.exports, options.catalog.tags))
    .use(createTwoFactorRoutes(httpBase, bearer, services.twoFactor))
    .use(createPasswordRoutes(httpBase, bearer, services.passwords))
    .use(createMembershipRoutes(httpBase, bearer, services.memberships, services.me))
    .use(createContactRoutes(httpBase, bearer, services.contacts))
  app
    .use(createSocialRoutes(httpBase, services.social, { secure: secureCookies }))
    .use(createIdentityRoutes(httpBase, bearer, services.identities))
    .use(createReceiptRoutes(httpBase, services.receipts))
    .use(createEndedTokensRoutes(httpBase, services.endedTokens))
    .use(createTwoFactorRemovalRoutes(httpBase, services.twoFactorRemovals))
    .use(createUndoRoutes(httpBase, services.undo, options.catalog))
  if (passkeys.rpId !== null) app.use(createPasskeyRoutes(httpBase, bearer, services.passkeys))
  app.use(createWellKnownRoutes(wellKnownFiles(passkeys)))
  for (const createRoutes of pages?.routes ?? []) app.use(createRoutes(httpBase))
  if (devRoutes) app.use(devRoutes(httpBase))
  if (documentation) app.use(createDocumentation({ ...documentation, ...publicDocumentation }))
  return app
}
