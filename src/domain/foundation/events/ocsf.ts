/**
 * Events in the form of the Open Cybersecurity Schema Framework (https://schema.ocsf.io/1.8.0), which log collectors read:
 * authentication (3002), changes of accounts (3001), and everything else as management of an entity (3004).
 */
import { type EventType, entity, type Meaning, meanings, OTHER } from './event.ts'
import type { EventRecord } from './event-schema.ts'

const CATEGORY = 3

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
