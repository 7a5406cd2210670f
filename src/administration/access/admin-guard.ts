/** A way into administration: says who calls, and refuses what they may not do. */

import type { GuardedRequest } from '../../platform/http/guard.ts'
import { setCurrentActor } from '../../platform/request-context.ts'
import { AppError } from '../../texts/errors.ts'
import { type AdminCaller, type AdminRoute, isKeptFromAdministrators, requireAccess } from './access.ts'

export const ANONYMOUS: AdminCaller = { type: 'nobody', id: null, name: null }

export interface AdminGuardRules {
  routes: readonly AdminRoute[]
  /** Tells whether a call with these parameters of its path reaches an administrator. */
  reachesAdministrator: (route: string, params: GuardedRequest['params']) => Promise<boolean>
}

/** `recognize` says who calls, or throws. */
export function createAdminGuard(
  { routes, reachesAdministrator }: AdminGuardRules,
  recognize: (request: GuardedRequest, route: AdminRoute) => Promise<AdminCaller>,
) {
  const table = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))

  return async (request: GuardedRequest): Promise<AdminCaller> => {
    // HEAD is answered by the routes of GET.
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const route = table.get(`${method} ${request.route}`)
    // A path that the table does not list is open to nobody.
    if (!route) throw new AppError('route_not_found')
    const caller = await recognize(request, route)
    if (caller.type !== 'nobody') setCurrentActor({ type: caller.type, id: caller.id, name: caller.name })
    const body = typeof request.body === 'object' ? (request.body as Record<string, unknown> | null) : null
    requireAccess(caller, route, body)
    if (isKeptFromAdministrators(caller) && (await reachesAdministrator(request.route, request.params)))
      throw new AppError('insufficient_scope')
    return caller
  }
}

/** The Unix socket: anybody who may open it may do everything. */
export const createSocketGuard = (rules: AdminGuardRules) =>
  createAdminGuard(rules, async ({ headers }) => {
    const name = headers['x-operator']?.slice(0, 64) ?? null
    return { type: 'operator', id: name, name }
  })
