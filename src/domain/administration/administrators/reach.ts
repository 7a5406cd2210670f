/**
 * Decides which calls reach an administrator: by the uuid, by an identifier, or by a message. Neither support staff nor
 * a token may make them.
 */

import type { Config } from '../../../platform/config/types.ts'
import { parseWholeNumber } from '../../../platform/http/read-values.ts'
import type { AccountStore } from '../../accounts/accounts/store.ts'
import { parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { MessageStore } from '../../messages/outbox/store.ts'
import type { AdministratorService } from './service.ts'

interface Needs {
  administrators: AdministratorService
  config: Config
  stores: { accounts: AccountStore; messages: MessageStore }
}

const MESSAGES = '/admin/v1/messages/'

export function createAdministratorReach({ administrators, config, stores }: Needs) {
  const { accounts, messages } = stores

  async function ownerOf(typed: string): Promise<string | undefined> {
    const identifier = parseIdentifier(typed, config.accounts.defaultCountry)
    return identifier ? (await accounts.findByIdentifier(identifier, 'login'))?.uuid : undefined
  }

  const recipientOf = async (id: string) =>
    (await messages.findAccount(parseWholeNumber(id) ?? 0)) ?? undefined

  return {
    /** `params`: of the path that is called. */
    async reaches(route: string, { uuid, identifier, id }: Record<string, string | undefined>) {
      const reached =
        uuid ??
        (identifier !== undefined ? await ownerOf(identifier) : undefined) ??
        (route.startsWith(MESSAGES) && id !== undefined ? await recipientOf(id) : undefined)
      return reached !== undefined && administrators.isAdministrator(reached)
    },
  }
}
