/**
 * The account that a call of the second step names, by e-mail address or phone number, or by its uuid. In a sign-in
 * through a provider nobody types an identifier, so its answer contains the uuid, which reveals no contact.
 */

import { type Account, verifiedContacts } from '../../accounts/core/account.ts'
import type { AccountStore } from '../../accounts/core/store.ts'
import { decoyContact, decoyIdentifier } from '../../foundation/decoys/decoys.ts'
import {
  type Identifier,
  isUuid,
  parseIdentifier,
  readIdentifier,
} from '../../foundation/identifiers/identifier.ts'

export type NamedAccount = Awaited<ReturnType<typeof findNamedAccount>>

/** `key` is the typed name in comparable form, on which attempts are counted. */
export async function findNamedAccount(
  accounts: AccountStore,
  typed: string,
  defaultCountry: string,
  use: 'second_step' | 'provider' = 'second_step',
) {
  if (isUuid(typed)) {
    const account = await accounts.findByUuid(typed)
    const decoy = decoyIdentifier(typed)
    const identifier = account ? mainIdentifier(account, defaultCountry) : decoy
    return { identifier, key: decoy.key, account }
  }
  const identifier = readIdentifier(typed, defaultCountry)
  const account = await accounts.findByIdentifier(identifier, use)
  return { identifier, key: identifier.key, account }
}

/** A verified contact, the e-mail address first; a decoy for an account without any. */
export function mainIdentifier(account: Account, defaultCountry: string): Identifier {
  const [contact] = verifiedContacts(account)
  const identifier = contact && parseIdentifier(contact.destination, defaultCountry)
  return identifier ?? decoyContact(account.uuid)
}
