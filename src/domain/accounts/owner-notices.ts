/**
 * Notices to the owner of an account: one for each verified contact, queued by the statement that makes the change.
 * They never contain a code.
 */

import type { NewMessage, NoticePurpose } from '../delivery/message.ts'
import { parseIdentifier } from '../identifiers/identifier.ts'
import type { Services } from '../services.ts'
import { type Account, type Contact, verifiedContacts } from './account.ts'

export interface OwnerNotices {
  /** The messages that the limits allow now, counted as sent. `contacts` replaces the verified contacts. */
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
