/**
 * Which calls reach an administrator: by the uuid, by an identifier, or by a message. Neither support staff nor a token
 * may make them.
 */
import { parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { Services, Stores } from '../../services.ts'

export interface AdministratorReach {
  /** `params`: of the path that is called. */
  reaches(route: string, params: Record<string, string | undefined>): Promise<boolean>
}

type Needs = Pick<Services, 'administrators' | 'config'> & {
  stores: Pick<Stores, 'accounts' | 'messages'>
}

const MESSAGES = '/admin/v1/messages/'

export function createAdministratorReach({ administrators, config, stores }: Needs): AdministratorReach {
  const { accounts, messages } = stores

  async function ownerOf(typed: string): Promise<string | undefined> {
    const identifier = parseIdentifier(typed, config.accounts.defaultCountry)
    return identifier ? (await accounts.findByIdentifier(identifier, 'login'))?.uuid : undefined
  }

  const recipientOf = async (id: string) =>
    /^\d{1,15}$/.test(id) ? ((await messages.findAccount(Number(id))) ?? undefined) : undefined

  return {
    async reaches(route, { uuid, identifier, id }) {
      const reached =
        uuid ??
        (identifier !== undefined ? await ownerOf(identifier) : undefined) ??
        (route.startsWith(MESSAGES) && id !== undefined ? await recipientOf(id) : undefined)
      return reached !== undefined && administrators.isAdministrator(reached)
    },
  }
}
