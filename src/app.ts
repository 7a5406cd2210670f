/** The public routes: the table below, and the plugins that are mounted. Knows neither SQL nor configuration: services come in, an app goes out. */

import { type AnyElysia, Elysia } from 'elysia'
import type { ReceiptService } from './domain/messages/sms-funnel/receipts.ts'
import { createReceiptRoutes } from './domain/messages/sms-funnel/routes.ts'
import type { ClientSettings } from './domain/operations/client-settings/routes.ts'
import { createClientSettingsRoutes } from './domain/operations/client-settings/routes.ts'
import type { createDevRoutes } from './domain/operations/dev/routes.ts'
import { createHealthRoutes } from './domain/operations/health/routes.ts'
import { createContactRoutes } from './domain/self-service/contacts/routes.ts'
import type { ContactsService } from './domain/self-service/contacts/service.ts'
import { createMembershipRoutes } from './domain/self-service/invitations/routes.ts'
import type { Memberships } from './domain/self-service/invitations/service.ts'
import type { Exports } from './domain/self-service/me/exports.ts'
import { createMeRoutes } from './domain/self-service/me/routes.ts'
import type { MeService } from './domain/self-service/me/service.ts'
import { createTwoFactorRemovalRoutes } from './domain/self-service/two-factor-removals/routes.ts'
import type { TwoFactorRemovals } from './domain/self-service/two-factor-removals/service.ts'
import type { Authentication } from './domain/sessions/sessions/authentication.ts'
import { createSessionRoutes } from './domain/sessions/sessions/routes.ts'
import type { SessionService } from './domain/sessions/sessions/service.ts'
import { requireMayCall } from './domain/sessions/sessions/test-accounts.ts'
import type { KeyService } from './domain/sessions/tokens/key-service.ts'
import { createDiscoveryRoutes, createKeyRoutes } from './domain/sessions/tokens/routes.ts'
import { createIdentityRoutes } from './domain/sign-in/identities/routes.ts'
import type { IdentityService } from './domain/sign-in/identities/service.ts'
import { createLoginRoutes } from './domain/sign-in/login/routes.ts'
import type { LoginService } from './domain/sign-in/login/service.ts'
import { createLoginByCodeRoutes } from './domain/sign-in/login-by-code/routes.ts'
import type { LoginByCodeService } from './domain/sign-in/login-by-code/service.ts'
import { createPasskeyRoutes, createWellKnownRoutes } from './domain/sign-in/passkeys/routes.ts'
import type { PasskeyService } from './domain/sign-in/passkeys/service.ts'
import { wellKnownFiles } from './domain/sign-in/passkeys/well-known.ts'
import { createPasswordRoutes } from './domain/sign-in/passwords/routes.ts'
import type { PasswordsService } from './domain/sign-in/passwords/service.ts'
import { createRegistrationRoutes } from './domain/sign-in/registration/routes.ts'
import type { RegistrationService } from './domain/sign-in/registration/service.ts'
import { createSocialRoutes } from './domain/sign-in/social/routes.ts'
import type { SocialService } from './domain/sign-in/social/service.ts'
import { createTwoFactorRoutes } from './domain/sign-in/two-factor/routes.ts'
import type { TwoFactorService } from './domain/sign-in/two-factor/service.ts'
import { createUndoRoutes } from './domain/sign-in/undo/routes.ts'
import type { UndoService } from './domain/sign-in/undo/service.ts'
import type { Config } from './platform/config/types.ts'
import { createBearer } from './platform/http/bearer.ts'
import type { DocumentationOptions } from './platform/http/described-interface.ts'
import { createDocumentation, publicDocumentation } from './platform/http/documentation.ts'
import {
  appSettings,
  createHttpBase,
  type HttpBase,
  type HttpBaseOptions,
} from './platform/http/http-base.ts'

/** The services that the routes call. */
interface AppServices {
  registration: RegistrationService
  login: LoginService
  loginByCode: LoginByCodeService
  authentication: Authentication
  sessions: SessionService
  me: MeService
  exports: Exports
  twoFactor: TwoFactorService
  twoFactorRemovals: TwoFactorRemovals
  passkeys: PasskeyService
  passwords: PasswordsService
  contacts: ContactsService
  memberships: Memberships
  social: SocialService
  identities: IdentityService
  receipts: ReceiptService
  undo: UndoService
  keys: Pick<KeyService, 'published'>
  clientSettings: ClientSettings
  /** Throws when a store does not answer. */
  ping: () => Promise<void>
}

export interface AppRoute {
  method: string
  path: string
  /** The name in the OpenAPI document. */
  operation: string
  /** `optional`: an access token is one of several ways to authenticate. */
  authentication: 'none' | 'bearer' | 'optional'
  file: string
}

/** Method, path, operation, authentication, room. `bun run check` compares it with what is mounted. */
const table = `
  GET     /healthz                                 healthz                  none      operations/health
  GET     /readyz                                  readyz                   none      operations/health
  GET     /.well-known/jwks.json                   listKeys                 none      sessions/tokens
  GET     /.well-known/oauth-authorization-server  describeIssuer           none      sessions/tokens
  GET     /.well-known/openid-configuration        describeIssuerToOpenId   none      sessions/tokens
  GET     /api/v1/auth/settings                    getSettings              none      operations/client-settings
  POST    /api/v1/auth/register                    register                 none      sign-in/registration
  POST    /api/v1/auth/verify-account              verifyAccount            none      sign-in/registration
  POST    /api/v1/auth/resend-verification         resendVerification       none      sign-in/registration
  POST    /api/v1/auth/resend-confirmation         resendConfirmation       none      sign-in/registration
  POST    /api/v1/auth/login                       logIn                    none      sign-in/login
  POST    /api/v1/auth/2fa/request-otp             sendCode                 optional  sign-in/login-by-code
  POST    /api/v1/auth/2fa/verify                  signInWithCode           none      sign-in/login-by-code
  POST    /api/v1/auth/refresh                     refresh                  none      sessions/sessions
  POST    /api/v1/auth/logout                      logOut                   optional  sessions/sessions
  POST    /api/v1/auth/logout-all                  logOutEverywhere         bearer    sessions/sessions
  GET     /api/v1/auth/sessions                    listSessions             bearer    sessions/sessions
  DELETE  /api/v1/auth/sessions/:id                endSession               bearer    sessions/sessions
  DELETE  /api/v1/auth/sessions/:id/trusted-device    forgetTrustedDevice      bearer    sessions/sessions
  GET     /api/v1/auth/me                          getAccount               bearer    self-service/me
  PATCH   /api/v1/auth/me                          changeOwnAccount         bearer    self-service/me
  GET     /api/v1/auth/me/security                 getAccountSecurity       bearer    self-service/me
  GET     /api/v1/auth/me/export                   exportAccount            bearer    self-service/me
  POST    /api/v1/auth/invitations/accept          acceptInvitation         bearer    self-service/invitations
  GET     /api/v1/auth/events                      listEvents               bearer    self-service/me
  DELETE  /api/v1/auth/me                          eraseAccount             bearer    self-service/me
  POST    /api/v1/auth/me/remove                   eraseAccountByPost       bearer    self-service/me
  POST    /api/v1/auth/2fa/enable                  enableTwoFactor          bearer    sign-in/two-factor
  POST    /api/v1/auth/2fa/enable/confirm          confirmTwoFactor         bearer    sign-in/two-factor
  POST    /api/v1/auth/2fa/totp                    requestAuthenticatorApp  bearer    sign-in/two-factor
  POST    /api/v1/auth/2fa/totp/confirm            confirmAuthenticatorApp  bearer    sign-in/two-factor
  POST    /api/v1/auth/2fa/disable                 disableTwoFactor         bearer    sign-in/two-factor
  POST    /api/v1/auth/2fa/recovery-codes          replaceRecoveryCodes     bearer    sign-in/two-factor
  POST    /api/v1/auth/password/forgot             forgotPassword           none      sign-in/passwords
  POST    /api/v1/auth/password/reset              resetPassword            none      sign-in/passwords
  POST    /api/v1/auth/password/change             changePassword           bearer    sign-in/passwords
  POST    /api/v1/auth/email/change                changeEmail              bearer    self-service/contacts
  POST    /api/v1/auth/email/confirm               confirmEmail             bearer    self-service/contacts
  POST    /api/v1/auth/phone/change                changePhone              bearer    self-service/contacts
  POST    /api/v1/auth/phone/confirm               confirmPhone             bearer    self-service/contacts
  DELETE  /api/v1/auth/email                       removeEmail              bearer    self-service/contacts
  POST    /api/v1/auth/email/remove                removeEmailByPost        bearer    self-service/contacts
  DELETE  /api/v1/auth/phone                       removePhone              bearer    self-service/contacts
  POST    /api/v1/auth/phone/remove                removePhoneByPost        bearer    self-service/contacts
  GET     /api/v1/auth/social                      listProviders            none      sign-in/social
  GET     /api/v1/auth/social/:provider/authorize  authorizeProvider        none      sign-in/social
  GET     /api/v1/auth/social/:provider/callback   finishProvider           none      sign-in/social
  POST    /api/v1/auth/social/:provider/callback   finishProviderByForm     none      sign-in/social
  POST    /api/v1/auth/social/exchange             exchangeSocialCode       none      sign-in/social
  POST    /api/v1/auth/social/:provider/token      signInNatively           none      sign-in/social
  GET     /api/v1/auth/identities                  listIdentities           bearer    sign-in/identities
  POST    /api/v1/auth/identities/:provider        linkIdentity             bearer    sign-in/identities
  DELETE  /api/v1/auth/identities/:provider        unlinkIdentity           bearer    sign-in/identities
  POST    /api/v1/auth/identities/:provider/remove unlinkIdentityByPost     bearer    sign-in/identities
  POST    /api/v1/auth/passkeys/login/options      passkeyLogInOptions         none      sign-in/passkeys
  POST    /api/v1/auth/passkeys/login              logInWithPasskey            none      sign-in/passkeys
  POST    /api/v1/auth/passkeys/registration/options passkeyRegistrationOptions  bearer    sign-in/passkeys
  POST    /api/v1/auth/passkeys/registration       addPasskey                  bearer    sign-in/passkeys
  POST    /api/v1/auth/passkeys/step-up/options    passkeyStepUpOptions        bearer    sign-in/passkeys
  GET     /api/v1/auth/passkeys                    listPasskeys                bearer    sign-in/passkeys
  PATCH   /api/v1/auth/passkeys/:id                renamePasskey               bearer    sign-in/passkeys
  DELETE  /api/v1/auth/passkeys/:id                removePasskey               bearer    sign-in/passkeys
  POST    /api/v1/auth/passkeys/:id/remove         removePasskeyByPost      bearer    sign-in/passkeys
  POST    /api/v1/sms/receipts/:gateway            putReceipt               none      messages/sms-funnel
  GET     /api/v1/sms/receipts/:gateway            putReceiptByQuery        none      messages/sms-funnel
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

/** Routes that browsers alone call, so that no document describes them. */
type FormRoutes = ((httpBase: HttpBase) => AnyElysia)[]

/** The pages for people, and the page that says an address does not exist. */
export interface AppPages {
  routes: FormRoutes
  missing: NonNullable<HttpBaseOptions['missingPage']>
}

interface AppOptions extends Omit<HttpBaseOptions, 'missingPage'> {
  /** Clients reach the service there; it is also the issuer of its tokens. */
  baseUrl: string
  passkeys: Config['passkeys']
  /** Cookies only over TLS. */
  secureCookies: boolean
  /** It is null without pages for people. */
  pages: AppPages | null
  /** True if applications are handed who signed in. */
  handsOver?: boolean
  /** It is null without --dev. */
  devRoutes: ReturnType<typeof createDevRoutes> | null
  /** It is null if there is no documentation. */
  documentation: Pick<DocumentationOptions, 'baseUrl' | 'version'> | null
}

export function createApp(services: AppServices, appOptions: AppOptions) {
  const {
    baseUrl,
    handsOver = false,
    devRoutes,
    documentation,
    pages,
    passkeys,
    secureCookies,
    ...options
  } = appOptions
  const httpBase = createHttpBase({ ...options, ...(pages && { missingPage: pages.missing }) })
  const bearer = createBearer(services.authentication.authenticate, requireMayCall)
  const app = new Elysia(appSettings)
    .use(httpBase)
    .use(createHealthRoutes(services.ping))
    .use(createKeyRoutes(services.keys))
    .use(createDiscoveryRoutes(baseUrl, { handsOver }))
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
    .use(createTwoFactorRemovalRoutes(httpBase, services.twoFactorRemovals))
    .use(createUndoRoutes(httpBase, services.undo, options.catalog))
  if (passkeys.rpId !== null) app.use(createPasskeyRoutes(httpBase, bearer, services.passkeys))
  app.use(createWellKnownRoutes(wellKnownFiles(passkeys)))
  for (const createRoutes of pages?.routes ?? []) app.use(createRoutes(httpBase))
  if (devRoutes) app.use(devRoutes)
  if (documentation) app.use(createDocumentation({ ...documentation, ...publicDocumentation }))
  return app
}
