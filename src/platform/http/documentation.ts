/**
 * The API's documentation, from inside the executable: the page at /swagger, its script at /swagger/reference.js and
 * the OpenAPI document at /swagger/json. The page asks nothing of any other host, and its policy forbids it to.
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { swagger } from '@elysiajs/swagger'
import { Elysia } from 'elysia'
import { builtInTags, languageName } from '../../texts/languages.ts'
import { assetPaths } from '../bundled/paths.ts'
import { readAsset } from '../bundled/read.ts'
import { toOpenapiDocument } from './openapi-document.ts'
import { journey, type Tag } from './openapi-tags.ts'

export { errorResponses } from './error-responses.ts'

export interface DocumentationOptions {
  /** Where clients reach the service; the page sends its trial requests there. */
  baseUrl: string
  version: string
  /** Default: the public interface. */
  described?: DescribedInterface
}

/** An interface that is described, and where. */
export interface DescribedInterface {
  page: string
  document: string
  title: string
  introduction: string
  tags: Tag[]
  securitySchemes: Record<string, object>
  /** Adds to what is gathered from the routes. */
  complete(gathered: unknown): unknown
}

const publicInterface: DescribedInterface = {
  page: '/swagger',
  document: '/swagger/json',
  title: 'Poterne',
  get introduction() {
    return introduction
  },
  tags: journey,
  securitySchemes: { accessToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
  complete: (gathered) => gathered,
}

const scriptOf = ({ page }: DescribedInterface) => `${page}/reference.js`
const SCRIPT_LIFETIME_SECONDS = 24 * 3600

/** The page's own switches, besides the policy: no fonts from elsewhere, no statistics, no proxy, no assistant. */
const pageSettings = {
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  customCss: '',
}

/** Adds the three addresses to the app that uses it; used after the httpBase, before or after the routes. */
export function createDocumentation({ baseUrl, version, described = publicInterface }: DocumentationOptions) {
  const { page: pagePath, document: documentPath } = described
  const policy = contentSecurityPolicy(new URL(baseUrl).origin)
  /** The routes are the same for ever: it is made for the first who asks, and every answer sends its bytes. */
  let document: Blob | undefined
  return (
    new Elysia({ name: 'documentation' })
      // Not onAfterHandle: with hooks at all four stages, Elysia hands out a constant answer past every one of them.
      .mapResponse(({ route, responseValue }) => {
        if (route === documentPath) {
          document ??= new Blob([
            JSON.stringify(toOpenapiDocument(described.complete(responseValue), described.tags)),
          ])
          return new Response(document, { headers: { 'content-type': 'application/json;charset=utf-8' } })
        }
        if (route === pagePath) return answerPage(described, policy)
      })
      .use(
        swagger({
          path: pagePath,
          specPath: documentPath,
          excludeMethods: ['OPTIONS', 'HEAD'],
          // The published keys end in .json, and are no file.
          excludeStaticFile: false,
          documentation: documentation(described, baseUrl, version),
        }),
      )
      .get(scriptOf(described), ({ headers }) => answerScript(headers['accept-encoding'] ?? ''), {
        detail: { hide: true },
      })
  )
}

const languageList = new Intl.ListFormat('en', { type: 'conjunction' }).format(builtInTags.map(languageName))

const introduction = `Registration, confirmation by one-time code, login and two-factor login, by e-mail and by phone.

**The journey of a person**

1. \`POST /api/v1/auth/register\` with an e-mail address or a phone number: a code is sent there.
2. \`POST /api/v1/auth/verify-account\` with that code; with \`password\` and \`sign_in\` it also signs in.
3. \`POST /api/v1/auth/login\`: 200 with an access token and a refresh token, or 202 if a second factor is due.
4. After a 202: \`POST /api/v1/auth/2fa/verify\` with the code.
5. \`POST /api/v1/auth/refresh\` whenever the access token has expired. Each refresh token can be used once.
6. \`POST /api/v1/auth/logout\`.

**What holds everywhere**

- Success and error bodies are JSON, and their \`status\` is the HTTP status. Decide by the \`code\` of an error, which is
  stable, and show its \`message\`, which is in the language of Accept-Language: ${languageList}, or what
  the operator adds.
- Fields of a request that are not described are ignored, and new fields may come into answers.
- Access tokens are verified with the keys at [/.well-known/jwks.json](/.well-known/jwks.json).
- This document for generators: [/swagger/json](/swagger/json).`

function documentation(described: DescribedInterface, baseUrl: string, version: string) {
  return {
    info: {
      title: described.title,
      version,
      description: described.introduction,
      contact: { name: 'The operator of this service', url: baseUrl },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: baseUrl }],
    security: [],
    components: { securitySchemes: described.securitySchemes as Record<string, never> },
  }
}

/** Styles are set by the script while it runs; scripts come from here alone. */
function contentSecurityPolicy(serviceOrigin: string): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'unsafe-inline'`,
    `img-src 'self' data:`,
    `font-src 'self' data:`,
    `connect-src 'self' ${serviceOrigin}`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ')
}

/** The plugin's own page would run a script in the page itself, which the policy forbids. */
function answerPage(described: DescribedInterface, policy: string): Response {
  const settings = JSON.stringify({ url: described.document, ...pageSettings })
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <title>${described.title} API</title>
  </head>
  <body>
    <script id="api-reference" type="application/json" data-configuration='${settings}'></script>
    <script src="${scriptOf(described)}"></script>
  </body>
</html>
`
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'referrer-policy': 'no-referrer',
    },
  })
}

interface ScriptCopies {
  plain: Blob
  compressed: Blob
}

let scriptCopies: Promise<ScriptCopies> | undefined

/**
 * 4.4 MB as it is, 1.3 MB compressed: both made once, when somebody first opens the page. Every answer sends the bytes
 * of the same two blobs (a byte array would be copied for each answer), so readers that do not read cost no memory.
 */
async function makeScriptCopies(): Promise<ScriptCopies> {
  const bytes = await readAsset(assetPaths.referenceScript)
  return { plain: new Blob([bytes]), compressed: new Blob([await promisify(gzip)(bytes)]) }
}

async function answerScript(acceptEncoding: string): Promise<Response> {
  scriptCopies ??= makeScriptCopies()
  const { plain, compressed } = await scriptCopies
  const headers = {
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': `public, max-age=${SCRIPT_LIFETIME_SECONDS}`,
    vary: 'Accept-Encoding',
  }
  if (!/\bgzip\b/i.test(acceptEncoding)) return new Response(plain, { headers })
  return new Response(compressed, { headers: { ...headers, 'content-encoding': 'gzip' } })
}
