/** The public routes: the table below, and the plugins that are mounted. Knows neither SQL nor configuration: services come in, an app goes out. */
import { Elysia } from 'elysia'
import { createContactRoutes } from './domain/contacts/routes.ts'
import type { createDevRoutes } from './domain/dev/routes.ts'
import { createHealthRoutes } from './domain/health/routes.ts'
import { createIdentityRoutes } from './domain/identities/routes.ts'
import { createLoginRoutes } from './domain/login/routes.ts'
import { createLoginByCodeRoutes } from './domain/login-by-code/routes.ts'
import { createAccountRoutes } from './domain/me/routes.ts'
import { createPasskeyRoutes, createWellKnownRoutes } from './domain/passkeys/routes.ts'
import { wellKnownFiles } from './domain/passkeys/well-known.ts'
import { createPasswordRoutes } from './domain/passwords/routes.ts'
import { createRegistrationRoutes } from './domain/registration/routes.ts'
import type { Services } from './domain/services.ts'
import { createSessionRoutes } from './domain/sessions/routes.ts'
import { createReceiptRoutes } from './domain/sms-funnel/routes.ts'
import { createSocialRoutes } from './domain/social/routes.ts'
import type { KeyService } from './domain/tokens/key-service.ts'
import { createDiscoveryRoutes, createKeyRoutes } from './domain/tokens/routes.ts'
import { createTwoFactorRoutes } from './domain/two-factor/routes.ts'
import { createTwoFactorRemovalRoutes } from './domain/two-factor-removals/routes.ts'
import { createUndoRoutes } from './domain/undo/routes.ts'
import type { Config } from './platform/config/types.ts'
import { createBearer } from './platform/http/bearer.ts'
import type { DocumentationOptions } from './platform/http/described-interface.ts'
import { createDocumentation, publicDocumentation } from './platform/http/documentation.ts'
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
  | 'exports'
  | 'twoFactor'
  | 'twoFactorRemovals'
  | 'passkeys'
  | 'passwords'
  | 'contacts'
  | 'social'
  | 'identities'
  | 'receipts'
  | 'undo'
> & {
  keys: Pick<KeyService, 'published'>
  /** Throws when a store does not answer. */
  ping: () => Promise<void>
}

export interface AppRoute {
  method: string
  path: string
  /** As in the OpenAPI document. */
  operation: string
  /** `optional`: an access token is one of several ways to authenticate. */
  authentication: 'none' | 'bearer' | 'optional'
  file: string
}

/** Method, path, operation, authentication, room. `bun run check` compares it with what is mounted. */
const table = `
  GET     /healthz                                 healthz                  none      health
  GET     /readyz                                  readyz                   none      health
  GET     /.well-known/jwks.json                   listKeys                 none      tokens
  GET     /.well-known/oauth-authorization-server  describeIssuer           none      tokens
  GET     /.well-known/openid-configuration        describeIssuerToOpenId   none      tokens
  POST    /api/v1/auth/register                    register                 none      registration
  POST    /api/v1/auth/verify-account              verifyAccount            none      registration
  POST    /api/v1/auth/resend-verification         resendVerification       none      registration
  POST    /api/v1/auth/resend-confirmation         resendConfirmation       none      registration
  POST    /api/v1/auth/login                       logIn                    none      login
  POST    /api/v1/auth/2fa/request-otp             requestTwoFactorCode     optional  login-by-code
  POST    /api/v1/auth/2fa/verify                  verifyTwoFactor          none      login-by-code
  POST    /api/v1/auth/refresh                     refresh                  none      sessions
  POST    /api/v1/auth/logout                      logOut                   optional  sessions
  POST    /api/v1/auth/logout-all                  logOutEverywhere         bearer    sessions
  GET     /api/v1/auth/sessions                    listSessions             bearer    sessions
  DELETE  /api/v1/auth/sessions/:id                endSession               bearer    sessions
  GET     /api/v1/auth/me                          getAccount               bearer    me
  PATCH   /api/v1/auth/me                          changeAccountLanguage    bearer    me
  GET     /api/v1/auth/me/security                 getAccountSecurity       bearer    me
  GET     /api/v1/auth/me/export                   exportAccount            bearer    me
  GET     /api/v1/auth/events                      listEvents               bearer    me
  DELETE  /api/v1/auth/me                          eraseAccount             bearer    me
  POST    /api/v1/auth/2fa/enable                  requestTwoFactor         bearer    two-factor
  POST    /api/v1/auth/2fa/enable/confirm          confirmTwoFactor         bearer    two-factor
  POST    /api/v1/auth/2fa/totp                    requestAuthenticatorApp  bearer    two-factor
  POST    /api/v1/auth/2fa/totp/confirm            confirmAuthenticatorApp  bearer    two-factor
  POST    /api/v1/auth/2fa/disable                 disableTwoFactor         bearer    two-factor
  POST    /api/v1/auth/2fa/recovery-codes          replaceRecoveryCodes     bearer    two-factor
  POST    /api/v1/auth/password/forgot             forgotPassword           none      passwords
  POST    /api/v1/auth/password/reset              resetPassword            none      passwords
  POST    /api/v1/auth/password/change             changePassword           bearer    passwords
  POST    /api/v1/auth/email/change                changeEmail              bearer    contacts
  POST    /api/v1/auth/email/confirm               confirmEmail             bearer    contacts
  POST    /api/v1/auth/phone/change                changePhone              bearer    contacts
  POST    /api/v1/auth/phone/confirm               confirmPhone             bearer    contacts
  DELETE  /api/v1/auth/email                       removeEmail              bearer    contacts
  DELETE  /api/v1/auth/phone                       removePhone              bearer    contacts
  GET     /api/v1/auth/social                      listProviders            none      social
  GET     /api/v1/auth/social/:provider/authorize  authorizeProvider        none      social
  GET     /api/v1/auth/social/:provider/callback   finishProvider           none      social
  POST    /api/v1/auth/social/:provider/callback   finishProviderByForm     none      social
  POST    /api/v1/auth/social/exchange             exchangeSocialCode       none      social
  POST    /api/v1/auth/social/:provider/token      signInNatively           none      social
  GET     /api/v1/auth/identities                  listIdentities           bearer    identities
  POST    /api/v1/auth/identities/:provider        linkIdentity             bearer    identities
  DELETE  /api/v1/auth/identities/:provider        unlinkIdentity           bearer    identities
  POST    /api/v1/auth/passkeys/login/options      passkeyLogInOptions         none      passkeys
  POST    /api/v1/auth/passkeys/login              logInWithPasskey            none      passkeys
  POST    /api/v1/auth/passkeys/registration/options passkeyRegistrationOptions  bearer    passkeys
  POST    /api/v1/auth/passkeys/registration       addPasskey                  bearer    passkeys
  POST    /api/v1/auth/passkeys/step-up/options    passkeyStepUpOptions        bearer    passkeys
  GET     /api/v1/auth/passkeys                    listPasskeys                bearer    passkeys
  PATCH   /api/v1/auth/passkeys/:id                renamePasskey               bearer    passkeys
  DELETE  /api/v1/auth/passkeys/:id                removePasskey               bearer    passkeys
  POST    /api/v1/sms/receipts/:gateway            putReceipt               none      sms-funnel
  GET     /api/v1/sms/receipts/:gateway            putReceiptByQuery        none      sms-funnel
`

export const readRoutes = (): AppRoute[] =>
  table
    .trim()
    .split('\n')
    .map((line) => {
      const [method, path, operation, authentication, room] = line.trim().split(/\s+/) as [
        string,
        string,
        string,
        AppRoute['authentication'],
        string,
      ]
      return { method, path, operation, authentication, file: `src/domain/${room}/routes.ts` }
    })

export interface AppOptions extends HttpBaseOptions {
  /** Where clients reach the service; the issuer of its tokens. */
  baseUrl: string
  passkeys: Config['passkeys']
  /** Cookies only over TLS. */
  secureCookies: boolean
  /** Null: without --dev. */
  devRoutes: ReturnType<typeof createDevRoutes> | null
  /** Null: no documentation. */
  documentation: Pick<DocumentationOptions, 'baseUrl' | 'version'> | null
}

export function createApp(services: AppServices, appOptions: AppOptions) {
  const { baseUrl, devRoutes, documentation, passkeys, secureCookies, ...options } = appOptions
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
    .use(createAccountRoutes(httpBase, bearer, services.me, services.exports, options.catalog.tags))
    .use(createTwoFactorRoutes(httpBase, bearer, services.twoFactor))
    .use(createPasswordRoutes(httpBase, bearer, services.passwords))
    .use(createContactRoutes(httpBase, bearer, services.contacts))
  app
    .use(createSocialRoutes(httpBase, services.social, { secure: secureCookies }))
    .use(createIdentityRoutes(httpBase, bearer, services.identities))
    .use(createReceiptRoutes(httpBase, services.receipts))
    .use(createTwoFactorRemovalRoutes(httpBase, services.twoFactorRemovals))
    .use(createUndoRoutes(httpBase, services.undo, options.catalog))
  if (passkeys.rpId !== null) app.use(createPasskeyRoutes(httpBase, bearer, services.passkeys))
  app.use(createWellKnownRoutes(wellKnownFiles(passkeys)))
  if (devRoutes) app.use(devRoutes)
  if (documentation) app.use(createDocumentation({ ...documentation, ...publicDocumentation }))
  return app
}
