/** The routes of administration, apart from the public ones: only the socket leads here. */
import { Elysia } from 'elysia'
import { createAdministrationRoutes, createSigningKeyRoutes } from './domain/administration/routes.ts'
import type { Services } from './domain/services.ts'
import { appSettings, createHttpBase, type HttpBaseOptions } from './platform/http/http-base.ts'

export function createAdminApp(
  services: Pick<Services, 'administration' | 'keys'>,
  options: Pick<HttpBaseOptions, 'language' | 'logger'>,
) {
  const httpBase = createHttpBase({ ...options, trustedProxies: [], corsOrigins: [] })
  return new Elysia(appSettings)
    .use(httpBase)
    .use(createAdministrationRoutes(httpBase, services.administration))
    .use(createSigningKeyRoutes(httpBase, services.keys))
}

export type AdminApp = ReturnType<typeof createAdminApp>
