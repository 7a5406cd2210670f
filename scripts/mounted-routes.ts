/** The routes that an app really has. */
import { createAdminApp, createAdminListener } from '../src/compose/admin-app.ts'
import { type AppPages, createApp } from '../src/compose/app.ts'
import { createApplicationRoutes } from '../src/pages/applications/routes.ts'
import { systemClock } from '../src/platform/clock.ts'
import { createLogger } from '../src/platform/log/logging.ts'
import { createCatalog } from '../src/texts/catalog.ts'

/** Mounting calls no service: whatever a routes file asks for is there. */
const services: never = new Proxy(() => {}, {
  get: (_, key) => (typeof key === 'symbol' || key === 'then' ? undefined : services),
}) as never

const common = {
  catalog: createCatalog({ language: 'en' }),
  logger: createLogger({ clock: systemClock, write: () => {} }),
  trustedProxies: [],
}

/** The hand-over alone, with an application for OpenID: every other page is for browsers. */
const pages: AppPages = {
  routes: [
    (httpBase) =>
      createApplicationRoutes(httpBase, {
        ...{ config: services, visits: services, userinfo: services },
        applications: { list: [{ own: false }] },
      } as never),
  ],
  unreached: services,
  signInAs: null,
}

/**
 * The public app without services. Passkeys are on, without any of the files that name apps and pages, and there is an
 * application.
 */
export const createBareApp = (
  baseUrl: string,
  documentation: Parameters<typeof createApp>[1]['documentation'] = null,
) =>
  createApp(services, {
    ...common,
    ...{ baseUrl, documentation, corsOrigins: [], devRoutes: null, pages, secureCookies: true },
    passkeys: {
      rpId: new URL(baseUrl).hostname,
      rpName: null,
      origins: [],
      iosApps: [],
      androidApps: [],
      enrollUrl: null,
      manageUrl: null,
      changePasswordUrl: null,
      allowRpIdChange: false,
    },
  })

/** The listener of administration without services. */
export const createBareListener = (baseUrl: string | null, version: string) =>
  createAdminListener(services, {
    ...common,
    ...{
      baseUrl,
      version,
      clock: systemClock,
      brand: { name: 'Poterne', colour: '#0f5f6b', logo: null, darkLogo: null },
    },
    listen: { host: '127.0.0.1', port: 8081 },
  })

/** The routes of the public interface, without those that browsers alone call. */
export function mountedRoutes() {
  const app = createBareApp('https://auth.example.com')
  return routesOf(app).map(({ detail, ...route }) => ({ ...route, authentication: authenticationOf(detail) }))
}

/** The routes of administration, on either server. */
export const mountedAdminRoutes = () =>
  [createAdminApp(services, common), createBareListener(null, '0.0.0')]
    .flatMap(routesOf)
    .map(({ method, path, operation }) => ({ method, path, operation }))

interface RouteDetail {
  operationId?: string
  security?: object[]
  hide?: boolean
}

function routesOf(app: { routes: { method: string; path: string; hooks: unknown }[] }) {
  return app.routes.flatMap(({ method, path, hooks }) => {
    const { detail } = hooks as { detail?: RouteDetail }
    return detail?.hide ? [] : [{ method, path, operation: detail?.operationId ?? '', detail }]
  })
}

/** `optional`: an access token is one of several ways to authenticate. */
function authenticationOf(detail: RouteDetail | undefined): 'none' | 'bearer' | 'optional' {
  const { security = [] } = detail ?? {}
  if (security.length === 0) return 'none'
  return security.some((scheme) => Object.keys(scheme).length === 0) ? 'optional' : 'bearer'
}
