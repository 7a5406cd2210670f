/**
 * The routes of administration, apart from the public ones: the table below says what each asks for. Only the socket and
 * the listener of administration lead here.
 */
import { Elysia } from 'elysia'
import { createPeopleRoutes } from './domain/administration/people/routes.ts'
import { createAdministrationRoutes, createSigningKeyRoutes } from './domain/administration/routes.ts'
import type { Access, AdminRoute } from './domain/administrators/access.ts'
import { createSocketDoor } from './domain/administrators/door.ts'
import { createBackupRoutes } from './domain/backups/routes.ts'
import type { Services } from './domain/services.ts'
import { createGuard } from './platform/http/guard.ts'
import { appSettings, createHttpBase, type HttpBaseOptions } from './platform/http/http-base.ts'

/**
 * Method, path under /admin/v1, operation, what it asks for (domain/administrators/access.ts), room; `!` marks what asks
 * for password and second factor again on the page. `bun run check` compares it with what is mounted, and the door opens
 * for nothing else.
 */
const table = `
  GET     /accounts                                listAccounts             accounts:read     administration
  GET     /accounts/:uuid                          showAccount              accounts:read     administration
  POST    /accounts                                createAccount            accounts:write    administration/people
  PATCH   /accounts/:uuid                          changeAccount            accounts:write    administration
  DELETE  /accounts/:uuid                          eraseAccount             accounts:erase!   administration
  POST    /accounts/:uuid/invite                   inviteAccount            accounts:write    administration/people
  POST    /accounts/:uuid/recovery                 recoverAccount           accounts:recover  administration/people
  GET     /accounts/:uuid/sessions                 listAccountSessions      accounts:read     administration
  DELETE  /accounts/:uuid/sessions                 endAccountSessions       sessions:write    administration
  DELETE  /accounts/:uuid/sessions/:id             endAccountSession        sessions:write    administration
  GET     /accounts/:uuid/events                   listAccountEvents        events:read       administration
  GET     /events                                  listAllEvents            events:read       administration
  GET     /keys                                    listSigningKeys          owner             administration
  POST    /keys/rotate                             rotateSigningKey         owner!            administration
  POST    /keys/revoke                             revokeSigningKey         owner!            administration
  POST    /backups                                 noteBackup               operator          backups
  POST    /backups/snapshot                        copyDatabase             operator          backups
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
      file: `src/domain/${room}/routes.ts`,
    }
  })

export type AdminServices = Pick<Services, 'administration' | 'backups' | 'people' | 'keys'>

export function createAdminApp(
  services: AdminServices,
  options: Pick<HttpBaseOptions, 'catalog' | 'logger'>,
) {
  const httpBase = createHttpBase({ ...options, trustedProxies: [], corsOrigins: [] })
  const door = createSocketDoor({ routes: adminRoutes, isAdministrator: async () => false })
  const guard = createGuard(httpBase, door.admit)
  return new Elysia(appSettings)
    .use(httpBase)
    .use(guard)
    .use(createAdministrationRoutes(httpBase, services.administration, options.catalog.tags))
    .use(createPeopleRoutes(httpBase, services.people, options.catalog.tags))
    .use(createSigningKeyRoutes(httpBase, services.keys))
    .use(createBackupRoutes(httpBase, services.backups))
}

export type AdminApp = ReturnType<typeof createAdminApp>
