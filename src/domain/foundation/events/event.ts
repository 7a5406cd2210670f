/**
 * The kinds of events, for the owner's history and the operator's audit trail. Never holds a password, a code or a
 * token.
 */

import type { EventData } from './event-data-schema.ts'

export const eventTypes = [
  'account.registered',
  'account.created',
  'account.invited',
  'account.viewed',
  'accounts.listed',
  'account.confirmed',
  'account.updated',
  'account.locked',
  'account.unlocked',
  'account.erased',
  'account.exported',
  'login.succeeded',
  'login.failed',
  'login.locked_out',
  'two_factor.enabled',
  'two_factor.disabled',
  'two_factor.failed',
  'recovery_code.used',
  'recovery_codes.replaced',
  'passkey.added',
  'passkey.removed',
  'passkey.used',
  'password.changed',
  'password.reset_requested',
  'password.reset',
  'identifier.added',
  'identifier.changed',
  'identifier.removed',
  'invitation.created',
  'invitation.revoked',
  'invitation.accepted',
  'identity.linked',
  'identity.unlinked',
  'session.started',
  'session.ended',
  'session.reuse_detected',
  'trusted_device.added',
  'trusted_device.used',
  'trusted_device.removed',
  'test_identity.used',
  'recovery.created',
  'limits.lifted',
  'registration.contested',
  'administrator.added',
  'administrator.removed',
  'administrator.role_changed',
  'administrator.signed_in',
  'administrator.sign_in_failed',
  'token.created',
  'token.revoked',
  'token.refused',
  'token.incomplete',
  'token.claim_omitted',
  'key.rotated',
  'key.revoked',
  'message.refused',
  'message.retried',
  'undo.used',
  'backup.created',
  'backup.failed',
  'backup.restored',
  'backup.moved',
] as const
export type EventType = (typeof eventTypes)[number]

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

export const actorTypes = ['account', 'administrator', 'token', 'operator', 'system'] as const

/** The one who did it. `operator`: somebody at the command line; `system`: the service itself. */
export interface Actor {
  type: (typeof actorTypes)[number]
  id: string | null
  name: string | null
}

export interface NewEvent {
  type: EventType
  /** The uuid of the account that the event is about. */
  account: string | null
  /** Default: the session of the request. */
  sessionId?: string | null
  /** Default: the caller that the request works for. */
  actor?: Actor
  data?: EventData
}

export interface StoredEvent {
  id: number
  type: EventType
  createdAt: Date
  outcome: 'success' | 'failure'
  account: string | null
  actor: Actor
  sessionId: string | null
  requestId: string | null
  address: string | null
  device: string | null
  data: EventData
}
