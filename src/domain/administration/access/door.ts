/** A way into administration: says who calls, and refuses what they may not do. */
import { AppError } from '../../../errors.ts'
import type { GuardedRequest } from '../../../platform/http/guard.ts'
import { setCurrentActor } from '../../../platform/request-context.ts'
import { type AdminCaller, type AdminRoute, isKeptFromAdministrators, requireAccess } from './access.ts'

/** What a door sees of a request: its body is as it was read, before it is checked. */
export type Knock = GuardedRequest

export interface Door {
  admit(knock: Knock): Promise<AdminCaller>
}

export const NOBODY: AdminCaller = { type: 'nobody', id: null, name: null }

export interface DoorRules {
  routes: readonly AdminRoute[]
  /** Whether a call with these parameters of its path reaches an administrator. */
  reachesAdministrator: (route: string, params: Knock['params']) => Promise<boolean>
}

/** `recognize` says who calls, or throws. */
export function createDoor(
  { routes, reachesAdministrator }: DoorRules,
  recognize: (knock: Knock, route: AdminRoute) => Promise<AdminCaller>,
): Door {
  const table = new Map(routes.map((route) => [`${route.method} ${route.path}`, route]))

  return {
    async admit(knock) {
      // HEAD is answered by the routes of GET.
      const method = knock.method === 'HEAD' ? 'GET' : knock.method
      const route = table.get(`${method} ${knock.route}`)
      // What the table does not know is open to nobody.
      if (!route) throw new AppError('route_not_found')
      const caller = await recognize(knock, route)
      if (caller.type !== 'nobody') setCurrentActor({ type: caller.type, id: caller.id, name: caller.name })
      const body = typeof knock.body === 'object' ? (knock.body as Record<string, unknown> | null) : null
      requireAccess(caller, route, body)
      if (isKeptFromAdministrators(caller) && (await reachesAdministrator(knock.route, knock.params)))
        throw new AppError('insufficient_scope')
      return caller
    },
  }
}

/** The Unix socket: anybody who may open it may do everything. */
export const createSocketDoor = (rules: DoorRules): Door =>
  createDoor(rules, async ({ headers }) => {
    const name = headers['x-operator']?.slice(0, 64) ?? null
    return { type: 'operator', id: name, name }
  })
