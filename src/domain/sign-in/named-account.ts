/**
 * The account that a call of the second step names: by e-mail or phone, or by its uuid. A login through another
 * provider types no identifier, so its answer hands out the uuid, which shows nothing of the account's contacts.
 */

import { type Account, verifiedContacts } from '../accounts/account.ts'
import type { AccountStore } from '../accounts/store.ts'
import { type Identifier, nobody, parseIdentifier, readIdentifier } from '../identifiers/identifier.ts'

export interface NamedAccount {
  identifier: Identifier
  /** What was typed, in comparable form: the tries with it count on it. */
  key: string
  /** Null: nobody has it. */
  account: Account | null
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export async function findNamedAccount(
  accounts: AccountStore,
  typed: string,
  defaultCountry: string,
): Promise<NamedAccount> {
  if (UUID.test(typed)) {
    const account = await accounts.findByUuid(typed)
    const { key } = nobody(typed)
    return { identifier: account ? mainIdentifier(account, defaultCountry) : nobody(typed), key, account }
  }
  const identifier = readIdentifier(typed, defaultCountry)
  const account = await accounts.findByIdentifier(identifier, 'second_step')
  return { identifier, key: identifier.key, account }
}

/** A proved contact, the e-mail first; for an account without any a stand-in that no message is ever sent to. */
export function mainIdentifier(account: Account, defaultCountry: string): Identifier {
  const [contact] = verifiedContacts(account)
  const identifier = contact && parseIdentifier(contact.destination, defaultCountry)
  return identifier ?? { kind: 'email', destination: account.uuid, key: account.uuid }
}
