/**
 * Guards the TCP listener: tokens for scripts, a cookie for the page. Refuses the requests that another site may make a
 * browser send: another host, another origin, a write without the page's token.
 */
import { timingSafeEqual } from 'node:crypto'
import type { GuardedRequest } from '../../platform/http/guard.ts'
import { AppError } from '../../texts/errors.ts'
import type { AdminCaller, AdminRoute, Role } from './access.ts'
import { type AdminGuardRules, ANONYMOUS, createAdminGuard } from './admin-guard.ts'

/** A session of the page, as its cookie names it. */
interface SignedInAdministrator {
  account: { uuid: string }
  role: Role
  sessionId: string
  authenticatedAt: Date
}

interface ListenerGuardOptions extends AdminGuardRules {
  /** `Host` names the listener so: `127.0.0.1:8081`. Null: by any name, since every call has shown a key. */
  hosts: (() => string[]) | null
  /** `Origin` names its pages so. */
  origins: () => string[]
  authenticateToken: (authorization: string, client: GuardedRequest['client']) => Promise<AdminCaller>
  /** It is null where the request brings no cookie of a living session. */
  findSession: (
    cookieHeader: string | undefined,
  ) => Promise<{ administrator: SignedInAdministrator; csrfToken: string } | null>
  now: () => Date
  /** The time for which password and second factor count as just proved. */
  provedMs: number
}

export const ADMIN_DOCUMENT = '/admin/v1/openapi.json'

const OWN_SITES = new Set([undefined, 'same-origin', 'none'])
const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

export function createListenerGuard(options: ListenerGuardOptions) {
  const { hosts, origins, authenticateToken, findSession, now, provedMs } = options

  async function recognizePage({ method, headers }: GuardedRequest, route: AdminRoute): Promise<AdminCaller> {
    const found = await findSession(headers.cookie)
    if (found === null) throw new AppError('invalid_token', { cause: 'not_signed_in' })
    const { account, role, sessionId, authenticatedAt } = found.administrator
    if (!READS.has(method) && !isSame(headers['x-csrf-token'], found.csrfToken))
      throw new AppError('insufficient_scope', { cause: 'csrf_token' })
    if (route.destructive && now().getTime() - authenticatedAt.getTime() > provedMs)
      throw new AppError('reauthentication_required')
    return { type: 'administrator', id: account.uuid, name: null, role, sessionId }
  }

  const admit = createAdminGuard(options, async (request, route) => {
    requireOwnSite(request)
    if (route.access === 'open') return ANONYMOUS
    const { authorization } = request.headers
    if (authorization !== undefined) return authenticateToken(authorization, request.client)
    return recognizePage(request, route)
  })

  function requireOwnSite({ headers }: GuardedRequest): void {
    const { origin, host } = headers
    const own = hosts === null ? [...origins(), `http://${host}`] : origins()
    const isOwn = OWN_SITES.has(headers['sec-fetch-site']) && (!origin || own.includes(origin))
    if (!isOwn) throw new AppError('insufficient_scope', { cause: 'other_site' })
  }

  return async (request: GuardedRequest): Promise<AdminCaller> => {
    // A name that somebody else's DNS leads here is not ours (DNS rebinding).
    if (hosts !== null && !hosts().includes(request.headers.host?.toLowerCase() ?? ''))
      throw new AppError('route_not_found', { cause: 'other_host' })
    // The files of the page, and the description of the interface, are the same for everybody.
    if (!request.route.startsWith('/admin/v1/') || request.route === ADMIN_DOCUMENT) return ANONYMOUS
    return admit(request)
  }
}

function isSame(sent: string | undefined, expected: string): boolean {
  const bytes = Buffer.from(sent ?? '')
  const wanted = Buffer.from(expected)
  return bytes.length === wanted.length && timingSafeEqual(bytes, wanted)
}
