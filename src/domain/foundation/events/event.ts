/**
 * The kinds of events, for the owner's history and the operator's audit trail. Never holds a password, a code or a
 * token.
 */

import type { EventType } from '../../../texts/event-types.ts'
import type { EventData } from './event-data-schema.ts'

export {
  type CountedType,
  countedTypes,
  type EventType,
  entity,
  eventTypes,
  failureTypes,
  type Meaning,
  meanings,
  OTHER,
  readEventTypes,
} from '../../../texts/event-types.ts'

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
