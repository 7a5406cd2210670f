/**
 * Decides which calls reach an administrator. Neither support staff nor a token may make them. The service that acts on a
 * path also says here whom the path names, so that both read it alike. A text that cannot be read is refused.
 */

import { readAccountUuid } from '../access/access.ts'
import type { AdministratorService } from './service.ts'

/** Gives the uuids of the accounts that a call with this text in its path reaches; it throws where it cannot be read. */
type Reader = (named: string) => Promise<string[]>

interface Needs {
  administrators: Pick<AdministratorService, 'isAdministrator'>
  limitLifts: { reached: Reader }
  messageLog: { reached: Reader }
}

const account: Reader = async (named) => [readAccountUuid(named)]
const nobody: Reader = async () => []

export function createAdministratorReach({ administrators, limitLifts, messageLog }: Needs) {
  /** Each reads the first parameter of the paths that begin so. */
  const readers: Record<string, Reader> = {
    '/admin/v1/accounts/': account,
    '/admin/v1/limits/': limitLifts.reached,
    '/admin/v1/messages/': messageLog.reached,
    '/admin/v1/invitations/': nobody,
    '/admin/v1/sms/prefixes/': nobody,
    '/admin/v1/tokens/': nobody,
    '/admin/v1/webhooks/': nobody,
    '/admin/v1/applications/': nobody,
  }

  return {
    /** `params`: of the path that is called. A path that nobody reads counts as one that names an administrator. */
    async reaches(route: string, params: Record<string, string | undefined>): Promise<boolean> {
      const [beginning, parameter] = route.split(/:(\w+)/) as [string, string | undefined]
      if (parameter === undefined) return false
      const reached = await readers[beginning]?.(params[parameter] ?? '')
      if (reached === undefined) return true
      const found = await Promise.all([...new Set(reached)].map(administrators.isAdministrator))
      return found.includes(true)
    },
  }
}
