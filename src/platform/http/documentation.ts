/**
 * The API's documentation, from inside the executable: a page, its script and the OpenAPI document. The page asks
 * nothing of any other host, and its policy forbids it to. The content is loaded for the first who asks.
 */
import { Elysia } from 'elysia'
import type { DocumentationOptions, RoutesOf } from './described-interface.ts'
import type { createDocumentationPages } from './documentation-pages.ts'
import { hidden } from './route-traits.ts'

export { errorResponses } from './error-responses.ts'

/** The description of the public interface: all but what differs between services. */
export const publicDocumentation = {
  addresses: { page: '/swagger', document: '/swagger/json', script: '/swagger/reference.js' },
  title: 'Poterne',
  description: async () => (await import('./public-interface.ts')).publicInterface,
}

/** Adds the three addresses to the app that uses it; used after the httpBase, before or after the routes. */
export function createDocumentation(options: DocumentationOptions) {
  const { page, document, script } = options.addresses
  const app = new Elysia({ name: 'documentation' })
  const host = app as unknown as RoutesOf
  let loaded: Promise<ReturnType<typeof createDocumentationPages>> | undefined
  const pages = () => {
    loaded ??= import('./documentation-pages.ts').then(({ createDocumentationPages }) =>
      createDocumentationPages(options, {
        getGlobalRoutes: () => host.getGlobalRoutes(),
        getGlobalDefinitions: () => host.getGlobalDefinitions(),
      }),
    )
    return loaded
  }
  return app
    .get(page, async () => (await pages()).page(), hidden({ answers: 'page' }))
    .get(document, async () => (await pages()).document(), hidden())
    .get(script, async ({ headers }) => (await pages()).script(headers['accept-encoding'] ?? ''), hidden())
}
