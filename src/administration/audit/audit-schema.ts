/** The audit trail, as it is asked for and shown. */
import { t } from 'elysia'
import { actorTypes } from '../../domain/foundation/events/event.ts'
import { type EventRecord, eventSchema, pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { listAnswer } from '../../platform/http/answers.ts'
import { component } from '../../platform/http/components.ts'
import { nullable } from '../../platform/http/schemas.ts'
import { numberText, queryText, queryWord, timeText } from '../access/operation-schema.ts'

const span = {
  type: t.Optional(
    t.String({
      description:
        'Only events of these types (docs/events.md): up to 20 with commas between; `session.*` means all of a kind',
      examples: ['session.ended', 'session.*,account.erased'],
      maxLength: 1000,
    }),
  ),
  since: timeText('Only events from this time on'),
  until: timeText('Only events before this time'),
}

export const accountEventQuery = t.Object({ ...pageQuery, ...span })

export const eventQuery = t.Object({
  ...pageQuery,
  account: queryText(
    'The uuid of an account; without `after` also any part of a contact or a name, which finds 20 accounts at most and asks for `accounts:read` too',
  ),
  ...span,
  actor: queryText(
    'The `actor.id` of an event: who did it; without `after` also any part of a contact or a name of administrators',
  ),
  actor_type: queryWord('Only what such an actor did', actorTypes),
  after: numberText('The id of an event (`0`: from the beginning): those after it, oldest first'),
  wait: numberText('With `after`: how many seconds to wait for an event, at most 25'),
  names: queryWord(
    'Without `after`: `true` adds `account_name` to each event. It asks for `accounts:read` too, and the people are counted as in every list of accounts',
    ['true', 'false'],
  ),
})
export type EventQuery = typeof eventQuery.static

const auditEvent = component(
  'AuditEvent',
  t.Composite(
    [
      eventSchema,
      t.Object({
        account_name: t.Optional(
          nullable(t.String(), {
            description:
              'Only there with `names`: the e-mail address, the phone number or the uuid of the account; null where it is gone',
          }),
        ),
      }),
    ],
    { description: 'Something that happened, and to whom.' },
  ),
)
export const auditAnswer = listAnswer('AuditPage', auditEvent, 'One page of the audit trail, newest first.')

/** `account_name` is null where the event is about no account, or about one that is gone. */
export type AuditRecord = EventRecord & { account_name?: string | null }
