/** docs/openapi.json: the interface description as every service publishes it at /swagger/json, for one base address. */
import packageJson from '../package.json' with { type: 'json' }
import { createBareApp, createBareListener } from './mounted-routes.ts'

const BASE_URL = 'https://auth.example.com'

export async function openapiPage(): Promise<string> {
  const app = createBareApp(BASE_URL, { baseUrl: BASE_URL, version: packageJson.version })
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
  const listener = createBareListener(ADMIN_URL, packageJson.version)
  listener.listen({ hostname: '127.0.0.1', port: 0 })
  try {
    const url = `http://127.0.0.1:${listener.server?.port}/admin/v1/openapi.json`
    return await (await fetch(url, { headers: { host: new URL(ADMIN_URL).host } })).text()
  } finally {
    await listener.server?.stop(true)
  }
}
