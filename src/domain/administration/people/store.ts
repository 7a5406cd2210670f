/** Accounts that an administrator makes: PostgreSQL, in every storage shape. */
import type { Language } from '../../../texts/languages.ts'
import type { PreparedCode } from '../../accounts/account-codes/store.ts'
import type { Account } from '../../accounts/accounts/account.ts'
import type { Email } from '../../foundation/identifiers/email.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import type { Phone } from '../../foundation/identifiers/phone.ts'
import type { NewMessage } from '../../messages/outbox/message.ts'

export interface MadeAccount {
  uuid: string
  email: Email | null
  phone: Phone | null
  passwordDigest: string | null
  /** The administrator vouches for the contacts; the account is confirmed. */
  verified: boolean
  accountableType: string
  accountableId: number | null
  roleId: number
  metadata: Record<string, unknown> | undefined
  language: Language
}

export interface PeopleStore {
  /**
   * Registrations that wait for one of its contacts end, and with `verified` every claim to them. The invitation is made
   * with the account or not at all. False if one of the contacts belongs to another account.
   */
  create(
    account: MadeAccount,
    identifiers: Identifier[],
    invitation: PreparedCode | null,
    now: Date,
  ): Promise<boolean>
  /**
   * The contact in place of the one before, which stays verified where it is the same one. Pending changes of the account's
   * own end. An account that nobody confirmed waits for the new contact, or with `verified` is confirmed.
   */
  putContact(
    account: Account,
    identifier: Email | Phone,
    verified: boolean,
    notices: NewMessage[],
    now: Date,
  ): Promise<'put' | 'taken' | 'gone'>
  /** `last`: it is the only verified contact. */
  removeContact(
    account: Account,
    kind: Identifier['kind'],
    notices: NewMessage[],
    now: Date,
  ): Promise<'removed' | 'not_found' | 'last' | 'gone'>
}
