/** docs/openapi.json: the interface description as every service publishes it at /swagger/json, for one base address. */
import packageJson from '../package.json' with { type: 'json' }
import { createApp } from '../src/app.ts'
import { systemClock } from '../src/platform/clock.ts'
import { createLogger } from '../src/platform/http/logging.ts'
import { createCatalog } from '../src/texts/catalog.ts'

const BASE_URL = 'https://auth.example.com'

/** On, and without any of the files that name apps and pages. */
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
  const services = new Proxy({}, { get: (_, name) => (name === 'mailbox' ? null : absent) })
  const app = createApp(services as Parameters<typeof createApp>[0], {
    baseUrl: BASE_URL,
    passkeys,
    catalog: createCatalog({ language: 'en' }),
    trustedProxies: [],
    corsOrigins: [],
    logger: createLogger({ clock: systemClock, write: () => {} }),
    documentation: { baseUrl: BASE_URL, version: packageJson.version },
    secureCookies: true,
  })
  app.listen({ hostname: '127.0.0.1', port: 0 })
  try {
    const answer = await fetch(`http://127.0.0.1:${app.server?.port}/swagger/json`)
    return `${JSON.stringify(await answer.json(), null, 2)}\n`
  } finally {
    await app.server?.stop(true)
  }
}
