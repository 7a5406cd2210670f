/**
 * Events in the form of the Open Cybersecurity Schema Framework (https://schema.ocsf.io/1.8.0), which log collectors read:
 * authentication (3002), changes of accounts (3001), and everything else as management of an entity (3004).
 */
import type { EventType } from './event.ts'
import type { EventRecord } from './event-schema.ts'

interface Meaning {
  class: 3001 | 3002 | 3004
  activity: number
  /** The name of an activity that the class has no number for (99). */
  name?: string
}

const CATEGORY = 3
const OTHER = 99

const account = (activity: number, name?: string): Meaning => ({
  class: 3001,
  activity,
  ...(name && { name }),
})
const login = (activity: number, name?: string): Meaning => ({ class: 3002, activity, ...(name && { name }) })
const entity = (activity: number, name?: string): Meaning => ({
  class: 3004,
  activity,
  ...(name && { name }),
})

const meanings: Record<EventType, Meaning> = {
  'account.registered': account(1),
  'account.created': account(1),
  'account.invited': account(OTHER, 'Invite'),
  'account.viewed': entity(2),
  'accounts.listed': entity(2),
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
  'identity.linked': account(OTHER, 'Link of an identity'),
  'identity.unlinked': account(OTHER, 'Unlink of an identity'),
  'trusted_device.added': account(OTHER, 'Trust in a device'),
  'trusted_device.used': login(OTHER, 'Use of a trusted device'),
  'trusted_device.removed': account(OTHER, 'End of the trust in a device'),
  'test_identity.used': login(OTHER, 'Use of a test identity'),
  'session.started': login(OTHER, 'Start of a session'),
  'session.ended': login(2),
  'session.reuse_detected': login(OTHER, 'Reuse of a refresh token'),
  'recovery.created': account(OTHER, 'Temporary access code'),
  'limits.lifted': entity(3),
  'registration.contested': account(OTHER, 'Contested registration'),
  'administrator.added': account(OTHER, 'New administrator'),
  'administrator.removed': account(OTHER, 'Removal of an administrator'),
  'administrator.role_changed': account(OTHER, 'Change of a role'),
  'administrator.signed_in': login(1),
  'administrator.sign_in_failed': login(1),
  'invitation.created': entity(1),
  'invitation.revoked': entity(4),
  'invitation.accepted': account(OTHER, 'Groups of an invitation joined'),
  'token.created': entity(1),
  'token.revoked': entity(4),
  'token.refused': entity(OTHER, 'Refusal of a token'),
  'token.incomplete': login(1),
  'token.claim_omitted': account(OTHER, 'Claim left out of a token'),
  'key.rotated': entity(1),
  'key.revoked': entity(4),
  'message.refused': entity(OTHER, 'Refusal of a message'),
  'message.retried': entity(3),
  'undo.used': account(OTHER, 'Undo'),
  'backup.created': entity(1),
  'backup.failed': entity(1),
  'backup.restored': entity(3),
  'backup.moved': entity(3),
}

/** 1: informational, 3: medium. */
const MEDIUM = new Set<EventType>(['session.reuse_detected', 'login.locked_out', 'registration.contested'])

/** Makes the value that `poterne events list --format ocsf` prints on one line. */
export function toOcsf(event: EventRecord, version: string) {
  const type = event.type as EventType
  const { class: classUid, activity, name } = meanings[type] ?? entity(OTHER, type)
  const failed = event.outcome === 'failure'
  const { count } = event.data
  return {
    category_uid: CATEGORY,
    class_uid: classUid,
    activity_id: activity,
    ...(name !== undefined && { activity_name: name }),
    type_uid: classUid * 100 + activity,
    time: Date.parse(event.created_at),
    severity_id: MEDIUM.has(type) ? 3 : failed ? 2 : 1,
    status_id: failed ? 2 : 1,
    ...(typeof count === 'number' && { count }),
    metadata: {
      version: '1.8.0',
      product: { name: 'poterne', vendor_name: 'poterne', version },
      uid: String(event.id),
      event_code: type,
      ...(event.request_id !== null && { correlation_uid: event.request_id }),
    },
    ...whom(classUid, event),
    ...(event.session_id !== null && { session: { uid: event.session_id } }),
    actor: {
      user: { uid: event.actor.id ?? event.actor.type, name: event.actor.name ?? event.actor.type },
      app_name: event.actor.type,
    },
    ...(event.address !== null && { src_endpoint: { ip: event.address } }),
    ...(event.device !== null && { device: { type_id: 0, name: event.device } }),
    unmapped: event.data,
  }
}

/** The user, whom every account and login has, or the entity. A login names the service besides. */
function whom(classUid: Meaning['class'], { account: uuid, type }: EventRecord) {
  const user = { uid: uuid ?? 'unknown', type_id: 1 }
  if (classUid === 3001) return { user }
  if (classUid === 3002) return { user, service: { name: 'poterne' } }
  const kind = type.split('.', 1)[0] as string
  return { entity: { name: kind, type: kind, ...(uuid !== null && { uid: uuid }) } }
}
