/**
 * THE table of events: what happens to an account or to the service, and what a log collector takes it for. It imports
 * nothing, since the configuration names types too.
 */

/** The class and activity as which log collectors read an event: see ocsf.ts. */
export interface Meaning {
  class: 3001 | 3002 | 3004
  activity: number
  /** The name of an activity that the class has no number for (99). */
  name?: string
}

export const OTHER = 99

const meaningOf =
  (number: Meaning['class']) =>
  (activity: number, name?: string): Meaning => ({ class: number, activity, ...(name && { name }) })
const account = meaningOf(3001)
const login = meaningOf(3002)
export const entity = meaningOf(3004)

/** THE table of events. */
export const meanings = {
  'account.registered': account(1),
  'account.created': account(1),
  'confirmation.resent': account(OTHER, 'Confirmation sent again'),
  'account.invited': account(OTHER, 'Invite'),
  'account.viewed': entity(2),
  'accounts.listed': entity(2),
  'accounts.imported': entity(1),
  'accounts.exported': entity(2),
  'account.confirmed': account(2),
  'account.updated': account(OTHER, 'Update'),
  'account.locked': account(9),
  'account.unlocked': account(12),
  'account.erased': account(6),
  'account.exported': entity(2),
  'login.succeeded': login(1),
  'login.failed': login(1),
  'login.locked_out': login(1),
  'two_factor.enabled': account(10),
  'two_factor.disabled': account(11),
  'two_factor.failed': login(1),
  'recovery_code.used': login(OTHER, 'Use of a recovery code'),
  'recovery_codes.replaced': account(OTHER, 'New recovery codes'),
  'passkey.added': account(10),
  'passkey.removed': account(11),
  'passkey.used': login(OTHER, 'Use of a passkey'),
  'password.changed': account(3),
  'password.reset_requested': account(OTHER, 'Request of a password reset'),
  'password.reset': account(4),
  'identifier.added': account(OTHER, 'New contact'),
  'identifier.changed': account(OTHER, 'Change of a contact'),
  'identifier.removed': account(OTHER, 'Removal of a contact'),
  'invitation.created': entity(1),
  'invitation.revoked': entity(4),
  'invitation.accepted': account(OTHER, 'Groups of an invitation joined'),
  'identity.linked': account(OTHER, 'Link of an identity'),
  'identity.unlinked': account(OTHER, 'Unlink of an identity'),
  'session.started': login(OTHER, 'Start of a session'),
  'session.ended': login(2),
  'session.reuse_detected': login(OTHER, 'Reuse of a refresh token'),
  'trusted_device.added': account(OTHER, 'Trust in a device'),
  'trusted_device.used': login(OTHER, 'Use of a trusted device'),
  'trusted_device.removed': account(OTHER, 'End of the trust in a device'),
  'test_identity.used': login(OTHER, 'Use of a test identity'),
  'recovery.created': account(OTHER, 'Temporary access code'),
  'limits.lifted': entity(3),
  'prefix.closed': entity(1),
  'prefix.opened': entity(4),
  'registration.contested': account(OTHER, 'Contested registration'),
  'administrator.added': account(OTHER, 'New administrator'),
  'administrator.removed': account(OTHER, 'Removal of an administrator'),
  'administrator.role_changed': account(OTHER, 'Change of a role'),
  'administrator.signed_in': login(1),
  'administrator.sign_in_failed': login(1),
  'token.created': entity(1),
  'token.revoked': entity(4),
  'token.refused': entity(OTHER, 'Refusal of a token'),
  'token.incomplete': login(1),
  'token.claim_omitted': account(OTHER, 'Claim left out of a token'),
  'key.rotated': entity(1),
  'key.revoked': entity(4),
  'message.refused': entity(OTHER, 'Refusal of a message'),
  'message.retried': entity(3),
  'webhook.retried': entity(3),
  'webhook.replayed': entity(3),
  'undo.used': account(OTHER, 'Undo'),
  'backup.created': entity(1),
  'backup.failed': entity(1),
  'backup.restored': entity(3),
}
export type EventType = keyof typeof meanings
export const eventTypes = Object.keys(meanings) as EventType[]

const MAXIMUM_NAMED = 20

/** The types that `session.ended,account.*` names; null where one of them does not exist, or where there are more than 20. */
export function readEventTypes(text: string): EventType[] | null {
  const names = text.split(',')
  const found = names.map((name) => eventTypes.filter((type) => type === name || isOfKind(type, name)))
  if (names.length > MAXIMUM_NAMED || found.some((types) => types.length === 0)) return null
  return [...new Set(found.flat())]
}

/** `session.*` names a kind. */
const isOfKind = (type: EventType, name: string) => name.endsWith('.*') && type.startsWith(name.slice(0, -1))

/** Failures that change no row: gathered in memory, see gathered-events.ts. */
export const failureTypes = [
  'login.failed',
  'login.locked_out',
  'two_factor.failed',
  'administrator.sign_in_failed',
  'token.refused',
  'token.incomplete',
  'token.claim_omitted',
] as const satisfies EventType[]

/** The types that are counted, one event for each account, hour and address: their `count` still grows after they were written. */
export const countedTypes = [
  ...failureTypes,
  'accounts.listed',
  'accounts.imported',
  'accounts.exported',
  'password.reset_requested',
  'registration.contested',
  'test_identity.used',
] as const satisfies EventType[]
export type CountedType = (typeof countedTypes)[number]

/** Webhooks never tell these: counts that still grow, and who looked at whom. */
const untold: readonly EventType[] = [...countedTypes, 'account.viewed']

/** The types that webhooks tell of those that the names name. */
export const toldTypes = (names: readonly string[]): EventType[] =>
  eventTypes.filter(
    (type) => !untold.includes(type) && names.some((name) => type === name || isOfKind(type, name)),
  )
