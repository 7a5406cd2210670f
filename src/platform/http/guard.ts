/**
 * Asks who calls, before every route of an app: `.use(guard)` in a routes file gives `caller` to its handlers, and `readmit`,
 * which asks again, to those that wait. It is global, so that a routes file which forgets it is guarded all the same.
 */
import { Elysia } from 'elysia'
import type { HttpBase } from './http-base.ts'

export interface GuardedRequest {
  method: string
  route: string
  params: Record<string, string | undefined>
  body: unknown
  headers: Record<string, string | undefined>
  client: { address: string; addressBucket: string }
}

export type Guard<Caller> = ReturnType<typeof createGuard<Caller>>

/** `admit` throws if the request may not pass. */
export function createGuard<Caller>(httpBase: HttpBase, admit: (request: GuardedRequest) => Promise<Caller>) {
  return new Elysia({ name: 'guard' })
    .use(httpBase)
    .derive({ as: 'global' }, async ({ request, route, params, body, headers, client }) => {
      const guarded: GuardedRequest = {
        method: request.method,
        route,
        // Absent where the path has none.
        params: (params as Record<string, string | undefined> | undefined) ?? {},
        body,
        headers,
        client,
      }
      return { caller: await admit(guarded), readmit: () => admit(guarded) }
    })
}
