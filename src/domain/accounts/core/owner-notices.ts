/**
 * Notices to the owner of an account: one for each verified contact, queued by the statement that makes the change.
 * They never contain a code.
 */

import type { Config } from '../../../platform/config/types.ts'
import { addressOfPerson } from '../../../platform/request-context.ts'
import { parseIdentifier } from '../../foundation/identifiers/identifier.ts'
import type { LimitService } from '../../foundation/limits/service.ts'
import type { NewMessage, NoticePurpose } from '../../messages/outbox/message.ts'
import { type Addressee, type Contact, verifiedContacts } from './account.ts'

/** The notice to this destination carries an undo link. */
export interface UndoNotice {
  destination: string
  seed: string
  expiresAt: Date
}

interface NoticeOptions {
  /** They replace the verified contacts. */
  contacts?: Contact[]
  undo?: UndoNotice | null
  /** More values for the texts. */
  values?: Record<string, string>
}

export type OwnerNotices = ReturnType<typeof createOwnerNotices>

export function createOwnerNotices({ limits, config }: { limits: LimitService; config: Config }) {
  const { defaultCountry } = config.accounts
  return {
    /** The messages that the limits allow now, counted as sent. */
    async about(
      account: Addressee,
      purpose: NoticePurpose,
      { contacts = verifiedContacts(account), undo = null, values }: NoticeOptions = {},
    ): Promise<NewMessage[]> {
      const { language } = account
      const address = addressOfPerson()
      const notices: NewMessage[] = []
      for (const { channel, destination } of contacts) {
        const identifier = parseIdentifier(destination, defaultCountry)
        if (identifier === null) continue
        const isUndo = undo?.destination === destination
        const isAdmitted = isUndo
          ? limits.admitsUndoNotice(identifier)
          : limits.admitsNotice(identifier, purpose)
        if (!(await isAdmitted)) continue
        const notice = { channel, destination, purpose, language, accountUuid: account.uuid }
        const link = isUndo && { undo: undo.seed, expires_at: undo.expiresAt.toISOString() }
        const facts = { ...link, ...(address && { address }) }
        notices.push({ ...notice, values: { ...facts, ...values } })
      }
      return notices
    },
  }
}
