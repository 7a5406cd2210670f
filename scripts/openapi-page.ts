/** docs/openapi.json: the interface description as every service publishes it at /swagger/json, for one base address. */
import packageJson from '../package.json' with { type: 'json' }
import { createAdminListener } from '../src/admin-app.ts'
import { createApp } from '../src/app.ts'
import { systemClock } from '../src/platform/clock.ts'
import { createLogger } from '../src/platform/http/logging.ts'
import { createCatalog } from '../src/texts/catalog.ts'

const BASE_URL = 'https://auth.example.com'

/** Passkeys are on, without any of the files that name apps and pages. */
const passkeys = {
  rpId: 'auth.example.com',
  rpName: null,
  origins: [],
  iosApps: [],
  androidApps: [],
  enrollUrl: null,
  manageUrl: null,
  changePasswordUrl: null,
  allowRpIdChange: false,
}

/** Routes ask a service for its parts when they are made, and for work only when a request comes: here none does. */
const absent: unknown = new Proxy(() => {}, { get: () => absent })

export async function openapiPage(): Promise<string> {
  const app = createApp(absent as Parameters<typeof createApp>[0], {
    baseUrl: BASE_URL,
    passkeys,
    catalog: createCatalog({ language: 'en' }),
    trustedProxies: [],
    corsOrigins: [],
    logger: createLogger({ clock: systemClock, write: () => {} }),
    devRoutes: null,
    pages: null,
    documentation: { baseUrl: BASE_URL, version: packageJson.version },
    secureCookies: true,
  })
  app.listen({ hostname: '127.0.0.1', port: 0 })
  try {
    const answer = await fetch(`http://127.0.0.1:${app.server?.port}/swagger/json`)
    return `${shortOnesOnOneLine(JSON.stringify(await answer.json(), null, 2))}\n`
  } finally {
    await app.server?.stop(true)
  }
}

/** A list or an object that holds only text and numbers takes one line, where it fits. */
const shortOnesOnOneLine = (json: string) =>
  json.replace(
    /[[{]\n(?: +(?:"[^"\\\n]+": )?(?:"(?:[^"\\]|\\.)*"|[\d.]+|null|true|false),?\n)+ +[\]}]/g,
    (whole) => {
      const line = whole.replace(/\n +/g, ' ').replace(/^\[ /, '[').replace(/ \]$/, ']')
      return line.length <= 100 ? line : whole
    },
  )

const ADMIN_URL = 'https://admin.example.com'

/** The description of the interface of administration, as its listener publishes it. */
export async function adminOpenapiPage(): Promise<string> {
  const listener = createAdminListener(absent as Parameters<typeof createAdminListener>[0], {
    catalog: createCatalog({ language: 'en' }),
    logger: createLogger({ clock: systemClock, write: () => {} }),
    listen: { host: '127.0.0.1', port: 8081 },
    baseUrl: ADMIN_URL,
    trustedProxies: [],
    clock: systemClock,
    version: packageJson.version,
    serviceName: 'Poterne',
  })
  listener.listen({ hostname: '127.0.0.1', port: 0 })
  try {
    const url = `http://127.0.0.1:${listener.server?.port}/admin/v1/openapi.json`
    return await (await fetch(url, { headers: { host: new URL(ADMIN_URL).host } })).text()
  } finally {
    await listener.server?.stop(true)
  }
}
