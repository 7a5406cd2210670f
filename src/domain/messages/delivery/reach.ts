/** Decides which identifiers a message could reach at all, by the configuration and by their kind and number alone. */
import type { Config } from '../../../platform/config/types.ts'
import type { Identifier } from '../../foundation/identifiers/identifier.ts'
import { parsePhone, takesSms } from '../../foundation/identifiers/phone.ts'
import { covers } from '../sms-gateways/gateways.ts'

export type Reaches = (identifier: Identifier) => boolean

/** `intoMailbox`: with --dev every message lands in the mailbox. */
export function createReach({ smtp, sms }: Pick<Config, 'smtp' | 'sms'>, intoMailbox: boolean): Reaches {
  return (identifier) => {
    if (intoMailbox) return true
    if (identifier.kind === 'email') return smtp !== null
    return sms.gateways.some((gateway) => covers(gateway, identifier.key))
  }
}

/**
 * Reads a phone number that somebody wants to be reached at. It is null also for a number whose type takes no SMS (a
 * landline, a premium number), unless a voice gateway covers it. The same holds with --dev, so that the rule shows
 * before production.
 */
export function parseReachablePhone(input: string, { accounts, sms }: Pick<Config, 'accounts' | 'sms'>) {
  const phone = parsePhone(input, accounts.defaultCountry)
  if (phone === null || takesSms(phone.key)) return phone
  return sms.gateways.some((gateway) => covers(gateway, phone.key)) ? phone : null
}
