/**
 * Decides who may sign in on the page of administration, and with which role. Owners and the operator decide it, no
 * token.
 */

import { type Account, requireOrdinary, verifiedContacts } from '../../domain/accounts/core/account.ts'
import type { AccountStore } from '../../domain/accounts/core/store.ts'
import { type Page, type PageQuery, readPage, toPage } from '../../domain/foundation/events/page.ts'
import { isUuid, parseIdentifier } from '../../domain/foundation/identifiers/identifier.ts'
import type { TellOperator } from '../../domain/messages/outbox/operator-notices.ts'
import type { Ground } from '../../platform/ground.ts'
import { AppError } from '../../texts/errors.ts'
import { type Role, roles } from '../access/access.ts'
import type { Administrator, AdministratorStore } from './store.ts'

interface Needs extends Pick<Ground, 'clock' | 'config'> {
  tellOperator: TellOperator
  stores: { accounts: AccountStore; administrators: AdministratorStore }
}

export type AdministratorService = ReturnType<typeof createAdministratorService>

export function createAdministratorService({ clock, config, stores, tellOperator }: Needs) {
  const { accounts, administrators } = stores

  async function findAccount(named: string): Promise<Account> {
    const identifier = parseIdentifier(named, config.accounts.defaultCountry)
    const account = isUuid(named)
      ? await accounts.findByUuid(named)
      : identifier && (await accounts.findByIdentifier(identifier, 'provider'))
    if (!account) throw new AppError('account_not_found')
    return account
  }

  async function get(uuid: string): Promise<Administrator> {
    const found = isUuid(uuid) ? await administrators.find(uuid) : null
    if (found === null) throw new AppError('administrator_not_found')
    return found
  }

  return {
    async list(query: PageQuery): Promise<Page<Administrator>> {
      const { limit, after } = readPage(query)
      return toPage(await administrators.list(after, limit + 1), limit, (row) => row)
    },
    /**
     * `named`: a uuid, or an e-mail address or a phone number that it verified. `isNew` false: it was one, and has
     * this role now. `revokedTokens`: how many that they made may do more than the role.
     */
    async put(
      named: string,
      role: Role,
    ): Promise<{ administrator: Administrator; isNew: boolean; revokedTokens: number }> {
      const account = await findAccount(named)
      requireFit(account)
      const put = await administrators.put(account, role, clock.now())
      if (put === null) throw new AppError('account_not_found')
      const { was, revokedTokens } = put
      if (was === null || roles.indexOf(role) > roles.indexOf(was)) tellOperator('operator_access_granted')
      return { administrator: await get(account.uuid), isNew: was === null, revokedTokens }
    },
    get,
    /** The account stays; its sessions on the page end, and the tokens that they made are revoked. */
    async remove(uuid: string): Promise<{ revokedTokens: number }> {
      const removed = isUuid(uuid) ? await administrators.remove(uuid, clock.now()) : null
      if (removed === null) throw new AppError('administrator_not_found')
      return removed
    },
    isAdministrator: async (uuid: string): Promise<boolean> =>
      isUuid(uuid) && (await administrators.find(uuid)) !== null,
  }
}

/** An administrator signs in with a password, and a notice must reach them. */
function requireFit(account: Account): void {
  requireOrdinary(account)
  if (account.accountConfirmedAt === null) throw new AppError('account_unconfirmed')
  if (account.lockedAt !== null) throw new AppError('account_locked')
  if (account.passwordDigest === null) throw new AppError('password_not_set')
  if (verifiedContacts(account).length === 0) throw new AppError('no_verified_contact')
}
