/** Which identifiers a message could reach at all, decided by the configuration and by their kind and number alone. */
import type { Config } from '../../platform/config/types.ts'
import type { Identifier } from '../identifiers/identifier.ts'
import { covers } from './sms.ts'

export type Reaches = (identifier: Identifier) => boolean

/** `intoMailbox`: with --dev every message lands in the mailbox. */
export function createReach({ smtp, sms }: Pick<Config, 'smtp' | 'sms'>, intoMailbox: boolean): Reaches {
  return (identifier) => {
    if (intoMailbox) return true
    if (identifier.kind === 'email') return smtp !== null
    return sms.gateways.some((gateway) => covers(gateway, identifier.key))
  }
}
