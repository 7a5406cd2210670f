/** Events as answers show them. */
import { t } from 'elysia'
import { listAnswer } from '../../../platform/http/answers.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { iso, recordOf } from '../../../platform/http/records.ts'
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

/** Clients and operators see an event in this form. */
const event = recordOf<StoredEvent>()({
  id: [integer(), ({ id }) => id],
  // Only described, not checked: a replica of a later version may have stored a type that this one does not know.
  type: [
    t.String({
      enum: [...eventTypes],
      examples: ['login.succeeded'],
      description: 'What happened: see docs/events.md. Later versions may add types',
    }),
    ({ type }) => type,
  ],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  outcome: [t.Union([t.Literal('success'), t.Literal('failure')]), ({ outcome }) => outcome],
  account: [
    nullable(
      t.String({
        description: 'The uuid of the account',
        examples: ['0f8f1e52-6c0e-4b6a-9c57-0a4f2f5c7d11'],
      }),
    ),
    ({ account }) => account,
  ],
  actor: [
    t.Object({
      type: t.String({ enum: [...actorTypes] }),
      id: nullable(t.String()),
      name: nullable(t.String()),
    }),
    ({ actor }) => actor,
  ],
  session_id: [nullable(t.String()), ({ sessionId }) => sessionId],
  request_id: [nullable(t.String()), ({ requestId }) => requestId],
  address: [nullable(t.String()), ({ address }) => address],
  device: [nullable(t.String()), ({ device }) => device],
  data: [eventDataSchema, ({ data }) => data],
})
export const eventSchema = namedObject('Event', event.fields, 'Something that happened to an account.')
export const eventRecord = event.read
export type EventRecord = ReturnType<typeof eventRecord>

export const eventsAnswer = listAnswer('EventPage', eventSchema, 'One page of events, newest first.')
