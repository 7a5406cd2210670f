/** Events as answers show them. */
import { t } from 'elysia'
import { listAnswer } from '../../../platform/http/answers.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { integer, nullable, timeField } from '../../../platform/http/schemas.ts'
import { actorTypes, eventTypes } from './event.ts'
import { eventDataSchema } from './event-data-schema.ts'
import type { StoredEvent } from './store.ts'

/** Both are strings; `readPage` refuses a `limit` that is not a number and names the field. */
export const pageQuery = {
  limit: t.Optional(
    t.String({ description: 'Items of one page: 1 to 200; default 50', pattern: '^[0-9]{1,16}$' }),
  ),
  cursor: t.Optional(t.String({ description: '`next_cursor` of the page before', maxLength: 200 })),
}

export const eventSchema = namedObject(
  'Event',
  {
    id: integer(),
    // Only described, not checked: a replica of a later version may have stored a type that this one does not know.
    type: t.String({
      enum: [...eventTypes],
      examples: ['login.succeeded'],
      description: 'What happened: see docs/events.md. Later versions may add types',
    }),
    created_at: timeField(),
    outcome: t.Union([t.Literal('success'), t.Literal('failure')]),
    account: nullable(
      t.String({
        description: 'The uuid of the account',
        examples: ['0f8f1e52-6c0e-4b6a-9c57-0a4f2f5c7d11'],
      }),
    ),
    actor: t.Object({
      type: t.String({ enum: [...actorTypes] }),
      id: nullable(t.String()),
      name: nullable(t.String()),
    }),
    session_id: nullable(t.String()),
    request_id: nullable(t.String()),
    address: nullable(t.String()),
    device: nullable(t.String()),
    data: eventDataSchema,
  },
  'Something that happened to an account.',
)

export const eventsAnswer = listAnswer('EventPage', eventSchema, 'One page of events, newest first.')

/** Clients and operators see an event in this form. */
export function eventRecord({ createdAt, sessionId, requestId, ...event }: StoredEvent) {
  const { id, type, outcome, account, actor, address, device, data } = event
  return {
    id,
    type,
    created_at: createdAt.toISOString(),
    outcome,
    account,
    actor,
    session_id: sessionId,
    request_id: requestId,
    address,
    device,
    data,
  }
}
export type EventRecord = ReturnType<typeof eventRecord>
