/**
 * "Something happened to your account": the messages to its owner, for each proved contact one, to be queued by the
 * statement that makes it happen. Never holds a code.
 */

import type { NewMessage, NoticePurpose } from '../delivery/message.ts'
import { parseIdentifier } from '../identifiers/identifier.ts'
import type { Services } from '../services.ts'
import { type Account, type Contact, verifiedContacts } from './account.ts'

export interface OwnerNotices {
  /** Counted as sent, without those that a limit forbids now. `contacts`: instead of all the proved ones. */
  about(account: Account, purpose: NoticePurpose, contacts?: Contact[]): Promise<NewMessage[]>
}

type Needs = Pick<Services, 'limits' | 'config'>

export function createOwnerNotices({ limits, config }: Needs): OwnerNotices {
  const { defaultCountry } = config.accounts
  return {
    async about(account, purpose, contacts = verifiedContacts(account)) {
      const { language } = account
      const notices: NewMessage[] = []
      for (const { channel, destination } of contacts) {
        const identifier = parseIdentifier(destination, defaultCountry)
        if (identifier && (await limits.admitsNotice(identifier, purpose))) {
          notices.push({ channel, destination, purpose, language, accountUuid: account.uuid })
        }
      }
      return notices
    },
  }
}
