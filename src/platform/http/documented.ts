/** The description of an operation in the OpenAPI document. */
import { bearerSecurity } from './bearer.ts'

/** `tag`: the group of the operations that a room describes with the function that it gets. */
export const documented = (tag: string) => (operationId: string, summary: string, description?: string) => ({
  ...{ tags: [tag], operationId, summary },
  ...(description !== undefined && { description }),
})

/** The same for operations that ask for an access token. */
export function documentedInSession(tag: string) {
  const describe = documented(tag)
  return (...parts: Parameters<typeof describe>) => ({ ...describe(...parts), security: bearerSecurity })
}

interface RemovalDetail {
  operationId: string
  description?: string
}

/** Some clients and proxies drop the body of DELETE: each removal with one is there as `POST …/remove`, too. */
export const byPost = <Detail extends RemovalDetail>(detail: Detail): Detail => ({
  ...detail,
  operationId: `${detail.operationId}ByPost`,
  description: `Does what DELETE does, for clients that send no body with it. ${detail.description}`,
})
