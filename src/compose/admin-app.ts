/**
 * The routes of administration, apart from the public ones: the table below says what each asks for. Only the socket and
 * the listener of administration lead here.
 */

import { type AnyElysia, Elysia } from 'elysia'
import type { Access, AdminBase, AdminRoute } from '../administration/access/access.ts'
import { createSocketGuard } from '../administration/access/admin-guard.ts'
import { ADMIN_DOCUMENT, createListenerGuard } from '../administration/access/listener-guard.ts'
import { createPageCookies } from '../administration/access/page-cookie.ts'
import { PROVED_MS, pageRelyingParty } from '../administration/administrator-sessions/policy.ts'
import { createAdministratorSessionRoutes } from '../administration/administrator-sessions/routes.ts'
import { createAdministratorRoutes } from '../administration/administrators/routes.ts'
import { createTokenRoutes } from '../administration/api-tokens/routes.ts'
import { createApplicationsRoutes } from '../administration/applications/routes.ts'
import { createAuditTrailRoutes } from '../administration/audit/routes.ts'
import { createDirectoryRoutes } from '../administration/directory/routes.ts'
import { createAccountFactorRoutes } from '../administration/factors/routes.ts'
import { createImportRoutes } from '../administration/imports/routes.ts'
import { createInvitationRoutes } from '../administration/invitations/routes.ts'
import { createLimitRoutes } from '../administration/limit-lifts/routes.ts'
import { createMessageRoutes } from '../administration/message-log/routes.ts'
import { createOverviewRoutes } from '../administration/overview/routes.ts'
import { createPeopleRoutes } from '../administration/people/routes.ts'
import { createSigningKeyRoutes } from '../administration/signing-keys/routes.ts'
import { createSmsPrefixRoutes } from '../administration/sms-prefixes/routes.ts'
import { type Brand, createPageRoutes } from '../console/routes.ts'
import { createSecretRoutes } from '../domain/credentials/secrets/routes.ts'
import { createBackupRoutes } from '../operations/backups/routes.ts'
import { createDoctorRoutes } from '../operations/doctor/routes.ts'
import type { DoctorService } from '../operations/doctor/service.ts'
import { createWebhookRoutes } from '../operations/webhooks/routes.ts'
import type { Clock } from '../platform/clock.ts'
import { isLoopbackHost } from '../platform/config/formats.ts'
import type { Config } from '../platform/config/types.ts'
import { createDocumentation } from '../platform/http/documentation.ts'
import { createGuard } from '../platform/http/guard.ts'
import {
  appSettings,
  createHttpBase,
  type HttpBase,
  type HttpBaseOptions,
} from '../platform/http/http-base.ts'
import { adminPageRoutes } from './admin-pages.ts'
import type { Services } from './services.ts'

/**
 * Method, path under /admin/v1, operation, what it asks for (administration/access/access.ts), room; `!` marks what asks
 * for password and second factor again on the page. `bun run check` compares it with what is mounted, and the guard lets in
 * nothing else.
 */
const table = `
  GET     /accounts                                listAccounts             accounts:read     administration/directory
  GET     /accounts/:uuid                          showAccount              accounts:read     administration/directory
  GET     /groups                                  listGroups               accounts:read     administration/directory
  POST    /accounts                                createAccount            accounts:write    administration/people
  PATCH   /accounts/:uuid                          changeAccount            accounts:write    administration/directory
  DELETE  /accounts/:uuid                          eraseAccount             accounts:erase!   administration/directory
  POST    /accounts/import                         importAccounts           operator          administration/imports
  POST    /accounts/forget-hashes                  forgetHashes             operator          administration/imports
  GET     /accounts/export                         exportAccounts           operator          administration/imports
  POST    /accounts/:uuid/invite                   inviteAccount            accounts:write    administration/people
  POST    /accounts/:uuid/resend-confirmation      resendAccountConfirmation messages:write   administration/people
  POST    /accounts/:uuid/access-code              createAccessCode         accounts:recover! administration/people
  DELETE  /accounts/:uuid/two-factor               removeAccountTwoFactor   accounts:recover! administration/factors
  DELETE  /accounts/:uuid/two-factor/removal       cancelTwoFactorRemoval   accounts:recover  administration/factors
  DELETE  /accounts/:uuid/contact-changes/:id      undoContactChange        accounts:recover! administration/factors
  GET     /accounts/:uuid/passkeys                 listAccountPasskeys      accounts:read     administration/factors
  DELETE  /accounts/:uuid/passkeys/:id             removeAccountPasskey     accounts:recover! administration/factors
  GET     /accounts/:uuid/identities               listAccountIdentities    accounts:read     administration/factors
  DELETE  /accounts/:uuid/identities/:id           removeAccountIdentity    accounts:recover! administration/factors
  PUT     /accounts/:uuid/email                    putAccountEmail          accounts:write!   administration/people
  DELETE  /accounts/:uuid/email                    removeAccountEmail       accounts:write!   administration/people
  PUT     /accounts/:uuid/phone                    putAccountPhone          accounts:write!   administration/people
  DELETE  /accounts/:uuid/phone                    removeAccountPhone       accounts:write!   administration/people
  GET     /accounts/:uuid/export                   exportAccountData        accounts:export!  administration/directory
  GET     /accounts/:uuid/sessions                 listAccountSessions      accounts:read     administration/directory
  DELETE  /accounts/:uuid/sessions                 endAccountSessions       sessions:write    administration/directory
  DELETE  /accounts/:uuid/sessions/:id             endAccountSession        sessions:write    administration/directory
  GET     /accounts/:uuid/events                   listAccountEvents        events:read       administration/audit
  GET     /accounts/:uuid/messages                 listAccountMessages      messages:read     administration/message-log
  GET     /messages                                listMessages             messages:read     administration/message-log
  GET     /messages/:id                            showMessage              messages:read     administration/message-log
  POST    /messages/:id/retry                      retryMessage             messages:write    administration/message-log
  DELETE  /limits/:identifier                      liftLimits               limits:write      administration/limit-lifts
  GET     /sms/prefixes                            listSmsPrefixes          limits:write      administration/sms-prefixes
  POST    /sms/prefixes                            closeSmsPrefix           limits:write      administration/sms-prefixes
  DELETE  /sms/prefixes/:prefix                    openSmsPrefix            limits:write      administration/sms-prefixes
  GET     /sms/report                              reportSms                accounts:read     administration/message-log
  GET     /statistics                              readStatistics           accounts:read     administration/overview
  GET     /events                                  listAllEvents            events:read       administration/audit
  GET     /webhooks                                listWebhooks             events:read       operations/webhooks
  GET     /webhooks/:name/waiting                  listWaitingEvents        events:read       operations/webhooks
  POST    /webhooks/:name/try                      tryWebhook               owner             operations/webhooks
  POST    /webhooks/:name/retry                    retryWebhook             owner             operations/webhooks
  POST    /webhooks/:name/replay                   replayWebhook            owner             operations/webhooks
  GET     /applications                            listApplications         accounts:read     administration/applications
  GET     /applications/:id                        showApplication          accounts:read     administration/applications
  GET     /administrators                          listAdministrators       owner             administration/administrators
  POST    /administrators                          addAdministrator         owner!            administration/administrators
  DELETE  /administrators/:uuid                    removeAdministrator      owner!            administration/administrators
  GET     /invitations                             listInvitations          invitations:read  administration/invitations
  POST    /invitations                             createInvitation         invitations:write administration/invitations
  DELETE  /invitations/:id                         revokeInvitation         invitations:write administration/invitations
  GET     /tokens                                  listTokens               tokens:write      administration/api-tokens
  POST    /tokens                                  createToken              tokens:write!     administration/api-tokens
  DELETE  /tokens/:id                              revokeToken              tokens:write!     administration/api-tokens
  GET     /keys                                    listSigningKeys          owner             administration/signing-keys
  POST    /keys/rotate                             rotateSigningKey         owner!            administration/signing-keys
  POST    /keys/revoke                             revokeSigningKey         owner!            administration/signing-keys
  POST    /backups                                 noteBackup               operator          operations/backups
  POST    /backups/snapshot                        copyDatabase             operator          operations/backups
  GET     /doctor                                  examineStores            operator          operations/doctor
  POST    /doctor/probes                           startProbe               operator          operations/doctor
  GET     /doctor/probes/:mark                     readProbe                operator          operations/doctor
  POST    /session                                 beginAdministratorSession         open              administration/administrator-sessions
  POST    /session/app                             requestPageApp           open              administration/administrator-sessions
  POST    /session/passkey                         requestPagePasskey       open              administration/administrator-sessions
  POST    /session/verify                          verifyAdministratorSession        open              administration/administrator-sessions
  GET     /session                                 showAdministratorSession          page              administration/administrator-sessions
  POST    /session/reauthenticate                  reauthenticateAdministratorSession         page              administration/administrator-sessions
  DELETE  /session                                 endAdministratorSession           page              administration/administrator-sessions
  GET     /secret                                  showSecretStatus         owner             domain/credentials/secrets
`

export const adminRoutes: AdminRoute[] = table
  .trim()
  .split('\n')
  .map((line) => {
    const [method, path, operation, access, room] = line.trim().split(/\s+/) as [
      string,
      string,
      string,
      string,
      string,
    ]
    return {
      method,
      path: `/admin/v1${path}`,
      operation,
      access: access.replace('!', '') as Access,
      destructive: access.endsWith('!'),
      file: `src/${room}/routes.ts`,
    }
  })

type AdminAppOptions = Pick<HttpBaseOptions, 'catalog' | 'logger' | 'onInternalError'>

/** The routes behind the socket and behind the listener. */
const routesBehind = (
  httpBase: HttpBase,
  guard: AdminBase,
  services: Services,
  { catalog }: AdminAppOptions,
) => {
  const once = services.idempotency.run
  return new Elysia({ name: 'administration-operations' })
    .use(createDirectoryRoutes(guard, services.directory, catalog.tags))
    .use(createImportRoutes(guard, services.imports, services.accountExport))
    .use(createPeopleRoutes(guard, once, services.people, catalog.tags))
    .use(createMessageRoutes(guard, once, services.messageLog))
    .use(createLimitRoutes(guard, services.limitLifts))
    .use(createSmsPrefixRoutes(guard, once, services.smsPrefixes))
    .use(createOverviewRoutes(guard, services.overview))
    .use(createAccountFactorRoutes(guard, services.accountFactors))
    .use(createAdministratorRoutes(guard, once, services.administrators))
    .use(createInvitationRoutes(guard, once, services.invitations))
    .use(createTokenRoutes(guard, once, services.administrationTokens))
    .use(createAuditTrailRoutes(guard, services.auditTrail))
    .use(createWebhookRoutes(guard, once, services.webhooks))
    .use(createSigningKeyRoutes(guard, once, services.allKeys))
    .use(createApplicationsRoutes(guard, services))
    .use(createSecretRoutes(httpBase, services.secrets))
}

/**
 * Answers behind the Unix socket, and for commands that find no service: everybody who reaches it may do everything.
 */
export function createAdminApp(services: Services & { doctor: DoctorService }, options: AdminAppOptions) {
  const httpBase = createHttpBase({
    ...options,
    trustedProxies: [],
    corsOrigins: [],
    strictBelow: '/admin/v1/',
  })
  const { reaches: reachesAdministrator } = services.administratorReach
  const guard = createGuard(httpBase, createSocketGuard({ routes: adminRoutes, reachesAdministrator }))
  return new Elysia(appSettings)
    .use(guard)
    .use(routesBehind(httpBase, guard, services, options))
    .use(createBackupRoutes(guard, services.backups))
    .use(createDoctorRoutes(guard, services.doctor))
}

export interface AdminListenerOptions extends AdminAppOptions {
  listen: NonNullable<Config['admin']['listen']>
  baseUrl: string | null
  trustedProxies: string[]
  clock: Clock
  /** The version of the service, for its description. */
  version: string
  /** Absent: nothing is said about passkeys, as where only routes are counted. */
  passkeys?: Config['passkeys']
  /** The look of the page. */
  brand: Brand
  /** What every call has to pass first; it has any name then. Null where the listener has names of its own. */
  gate?: ((httpBase: HttpBase) => AnyElysia) | null
}

/** The TCP listener: scripts with tokens, and the page. */
export function createAdminListener(services: Services, listenerOptions: AdminListenerOptions) {
  const { listen, baseUrl, clock, version, brand, passkeys, gate, ...options } = listenerOptions
  const httpBase = createHttpBase({
    ...options,
    corsOrigins: [],
    strictBelow: '/admin/v1/',
    isolated: /^\/account\//,
  })
  const { administratorSessions } = services
  const cookies = createPageCookies({ secure: baseUrl !== null })
  const ownHosts = (): string[] => hostsOf(listen, app.server?.port ?? listen.port, baseUrl)
  const ownOrigins = () => (baseUrl === null ? ownHosts().map((host) => `http://${host}`) : [baseUrl])
  const adminGuard = createListenerGuard({
    routes: adminRoutes,
    reachesAdministrator: services.administratorReach.reaches,
    hosts: gate ? null : ownHosts,
    origins: ownOrigins,
    authenticateToken: services.administrationTokens.authenticate,
    async findSession(header) {
      const cookie = cookies.session.read(header)
      const administrator = await administratorSessions.find(cookie)
      if (cookie === undefined || administrator === null) return null
      return { administrator, csrfToken: administratorSessions.csrfTokenOf(cookie) }
    },
    now: clock.now,
    provedMs: PROVED_MS,
  })
  const guard: AdminBase = createGuard(httpBase, adminGuard)
  const ownUrl = baseUrl ?? `http://${hostsOf(listen, listen.port, null)[0]}`
  const [passkeyOrigin = null] =
    (passkeys && pageRelyingParty({ admin: { baseUrl, listen }, passkeys })?.origins) || []
  const passkeysUrl = passkeyOrigin && `${passkeyOrigin}/account/passkeys`
  const app = new Elysia(appSettings)
  if (gate) app.use(gate(httpBase))
  app
    .use(guard)
    .use(routesBehind(httpBase, guard, services, options))
    .use(createAdministratorSessionRoutes(guard, administratorSessions, cookies, passkeysUrl))
    .use(createPageRoutes(httpBase, brand))
    .use(createDocumentation({ version, baseUrl: ownUrl, ...documentation }))
  if (passkeysUrl !== null) {
    const place = { cookies, baseUrl: ownUrl, hosts: gate ? null : ownHosts, origins: ownOrigins }
    for (const routes of adminPageRoutes(httpBase, services, place)) app.use(routes)
  }
  return app
}

const documentation = {
  addresses: { page: '/admin/docs', document: ADMIN_DOCUMENT, script: '/admin/docs/reference.js' },
  title: 'Poterne administration',
  async description() {
    const { administrationInterface } = await import('../administration/access/interface-description.ts')
    return administrationInterface(adminRoutes)
  },
}

/**
 * The hosts by which requests may name the listener: as browsers and proxies reach it, and on loopback by any of its
 * names.
 */
function hostsOf({ host }: { host: string }, port: number, baseUrl: string | null): string[] {
  const bracketed = host.includes(':') ? `[${host}]` : host
  const names = isLoopbackHost(host) ? [bracketed, 'localhost', '127.0.0.1', '[::1]'] : []
  const local = names.map((name) => (port === 80 ? name : `${name}:${port}`.toLowerCase()))
  return [...new Set([...(baseUrl === null ? [] : [new URL(baseUrl).host]), ...local])]
}
