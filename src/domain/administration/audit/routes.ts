/** The audit trail, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { listAnswer, success } from '../../../platform/http/answers.ts'
import { component } from '../../../platform/http/components.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import { nullable } from '../../../platform/http/schemas.ts'
import { actorTypes, eventTypes } from '../../foundation/events/event.ts'
import { eventSchema, eventsAnswer, pageQuery } from '../../foundation/events/event-schema.ts'
import { type AdminBase, type AdminCaller, scopesOf } from '../access/access.ts'
import { detail, numberText, queryText, queryWord, timeText } from '../access/operation-schema.ts'
import type { AuditTrail } from './service.ts'

const span = {
  type: queryWord('Only events of this type', eventTypes),
  since: timeText('Only events from this time on'),
  until: timeText('Only events before this time'),
}

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
const auditAnswer = listAnswer('AuditPage', auditEvent, 'One page of the audit trail, newest first.')
const seesPeople = (caller: AdminCaller) => scopesOf(caller).includes('accounts:read')

export function createAuditTrailRoutes(base: AdminBase, auditTrail: AuditTrail) {
  return new Elysia({ name: 'audit', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/accounts/:uuid/events',
      async ({ params, query, caller }) =>
        success(
          await auditTrail.list({ ...query, account: params.uuid }, { seesPeople: seesPeople(caller) }),
        ),
      {
        query: t.Object({ ...pageQuery, ...span }),
        response: { 200: eventsAnswer, ...errorResponses('validation_failed') },
        detail: detail('listAccountEvents', 'Read the history of an account'),
      },
    )
    .get(
      '/events',
      async ({ query, request: { signal }, caller, readmit }) => {
        const found = await auditTrail.list(query, { seesPeople: seesPeople(caller), signal })
        // The caller who waited may have been shut out meanwhile.
        if (query.wait !== undefined && found.items.length > 0) await readmit()
        return success(found)
      },
      {
        query: t.Object({
          ...pageQuery,
          account: queryText(
            'The uuid of an account; without `after` also any part of a contact or a name, which finds 20 accounts at most',
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
        }),
        response: {
          200: auditAnswer,
          ...errorResponses('validation_failed', 'too_many_requests'),
        },
        detail: detail('listAllEvents', 'Read the audit trail'),
      },
    )
}
