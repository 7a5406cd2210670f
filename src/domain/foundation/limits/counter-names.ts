/**
 * THE names of the counters, each with whose it is when the limits of somebody are lifted by hand. A charge has a key that
 * begins with one of them, which the types hold: nobody adds a counter without saying what lifts it.
 */
import type { Charge } from './store.ts'

/** `stays`: no person's, or one that refuses nobody; the counts of a client's address stay, too. */
type Owner =
  | 'identifier'
  | 'identifier, by address'
  | 'identifier, by purpose'
  | 'account'
  | 'account, by address'
  | 'device'
  | 'stays'

const owners = {
  'wrong-passwords': 'identifier, by address',
  'wrong-passwords-all': 'identifier',
  'wrong-passwords-device': 'device',
  'recovery-codes': 'account, by address',
  'wrong-second-factors': 'stays',
  'wrong-codes-of-minute': 'stays',
  'own-changes-in-hour': 'account',
  'exports-in-day': 'account',
  // Codes to an owner have the account behind their purpose: `askers`.
  code: 'identifier, by purpose',
  'codes-in-hour': 'identifier',
  'codes-in-day': 'identifier',
  'codes-with-password': 'account',
  'owner-codes-in-hour': 'account',
  'owner-codes-in-day': 'account',
  'session-codes-in-hour': 'account',
  'session-codes-in-day': 'account',
  'contact-codes-in-hour': 'account',
  'contact-codes-in-day': 'account',
  'own-codes-in-hour': 'device',
  'own-codes-in-day': 'device',
  notice: 'identifier, by purpose',
  'notices-in-day': 'identifier',
  'undo-notices-in-day': 'identifier',
  'removal-notices-in-day': 'identifier',
  'removal-notices-again': 'identifier',
  'new-devices-in-day': 'stays',
  'once-a-day': 'stays',
  'operator-notices': 'stays',
  'lasting-notices': 'stays',
  'lifts-in-day': 'stays',
  'invitation-mails-in-day': 'stays',
  authorizations: 'stays',
  // By client address.
  register: 'stays',
  'register-in-hour': 'stays',
  'code-requests': 'stays',
  'code-requests-in-hour': 'stays',
  logins: 'stays',
  'login-device': 'stays',
  verifications: 'stays',
  'verification-device': 'stays',
  'passkey-options': 'stays',
  'passkey-attempts': 'stays',
  'refused-tokens': 'stays',
  'wrong-invitations': 'stays',
  receipts: 'stays',
  'token-calls': 'stays',
  'undo-visits': 'stays',
  // What the service sends in all, and to networks and ranges of numbers.
  'sms-of-day': 'stays',
  'sms-codes-of-day': 'stays',
  'sms-newcomers-pool': 'stays',
  'sms-verified-pool': 'stays',
  'email-newcomers-pool': 'stays',
  'email-verified-pool': 'stays',
  'network-sms-accounts': 'stays',
  'network-sms-newcomers': 'stays',
  'network-sms-verified': 'stays',
  'network-email-accounts': 'stays',
  'network-email-newcomers': 'stays',
  'network-email-verified': 'stays',
  'sms-prefix-hour': 'stays',
  'sms-prefix-day': 'stays',
  'sms-range-hour': 'stays',
} as const satisfies Record<string, Owner>

export type ChargeName = keyof typeof owners
export type ChargeKey = ChargeName | `${ChargeName}:${string}`
export interface NamedCharge extends Charge {
  key: ChargeKey
}

export const namesOf = (owner: Owner) =>
  Object.keys(owners).filter((name) => owners[name as ChargeName] === owner)

/** By what an owner who asks for a code is known; each has counters of its own. */
export const askers = ['owner', 'session'] as const
