/**
 * The answers of createDocumentation: the page, its script and the OpenAPI document, each made for the first who asks.
 * Loaded then, because a service needs none of it to start.
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { swagger } from '@elysiajs/swagger'
import { assetPaths } from '../bundled/paths.ts'
import { readAsset } from '../bundled/read.ts'
import type { DocumentationOptions, RoutesOf } from './described-interface.ts'
import { toOpenapiDocument } from './openapi-document.ts'

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

/** The routes are the same for ever: the document is made once, and every answer sends its bytes. */
export function createDocumentationPages(options: DocumentationOptions, routesOf: RoutesOf) {
  const policy = contentSecurityPolicy(new URL(options.baseUrl).origin)
  let document: Promise<Blob> | undefined
  return {
    page: () => answerPage(options, policy),
    async document() {
      document ??= describe(options, routesOf)
      return new Response(await document, { headers: { 'content-type': 'application/json;charset=utf-8' } })
    },
    script: answerScript,
  }
}

/** The plugin gathers from the app that uses it; nobody uses this one, so it is told whose routes to describe. */
async function describe(options: DocumentationOptions, routesOf: RoutesOf): Promise<Blob> {
  const { title, addresses, baseUrl, version } = options
  const { introduction, tags, securitySchemes, complete } = await options.description()
  const plugin = swagger({
    path: addresses.page,
    specPath: addresses.document,
    excludeMethods: ['OPTIONS', 'HEAD'],
    // The published keys end in .json, and are no file.
    excludeStaticFile: false,
    documentation: {
      info: {
        title,
        version,
        description: introduction,
        contact: { name: 'The operator of this service', url: baseUrl },
        license: { name: 'MIT', identifier: 'MIT' } as { name: string },
      },
      // Whoever reads it reached the service already, by whatever name.
      servers: [{ url: '/' }],
      security: [],
      components: { securitySchemes: securitySchemes as Record<string, never> },
    },
  })
  Object.assign(plugin, routesOf)
  const gathered = await plugin.handle(new Request(`http://localhost${addresses.document}`))
  return new Blob([JSON.stringify(toOpenapiDocument(complete(await gathered.json()), tags))])
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
function answerPage({ addresses, title }: DocumentationOptions, policy: string): Response {
  const settings = JSON.stringify({ url: addresses.document, ...pageSettings })
  const html = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <link rel="icon" href="data:," />
    <title>${title} API</title>
  </head>
  <body>
    <script id="api-reference" type="application/json" data-configuration='${settings}'></script>
    <script src="${addresses.script}"></script>
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

/** It asks whether the policy lets text run as code. The policy does not, and each question would be a violation of it. */
const PROBE = 'return Function(``),!0'

/**
 * 4.4 MB as it is, 1.3 MB compressed: both made once, when somebody first opens the page. Every answer sends the bytes
 * of the same two blobs (a byte array would be copied for each answer), so readers that do not read cost no memory.
 */
async function makeScriptCopies(): Promise<ScriptCopies> {
  const script = new TextDecoder().decode(await readAsset(assetPaths.referenceScript))
  const bytes = new TextEncoder().encode(script.replace(PROBE, 'return!1'))
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
