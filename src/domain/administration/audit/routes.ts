/** The audit trail, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { Guard } from '../../../platform/http/guard.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { eventTypes } from '../../foundation/events/event.ts'
import { eventsAnswer, pageQuery } from '../../foundation/events/event-schema.ts'
import type { AdminCaller } from '../access/access.ts'
import { detail, numberText, queryText, queryWord, timeText } from '../access/operation-schema.ts'
import type { AuditTrail } from './service.ts'

const eventType = queryWord('Only events of this type', eventTypes)

export function createAuditTrailRoutes(
  httpBase: HttpBase,
  guard: Guard<AdminCaller>,
  auditTrail: AuditTrail,
) {
  return new Elysia({ name: 'audit', prefix: '/admin/v1' })
    .use(httpBase)
    .use(guard)
    .get(
      '/accounts/:uuid/events',
      async ({ params, query }) => ({
        status: 200 as const,
        ...(await auditTrail.list({ ...query, account: params.uuid })),
      }),
      {
        query: t.Object({ ...pageQuery, type: eventType, since: timeText() }),
        response: { 200: eventsAnswer, ...errorResponses('validation_failed') },
        detail: detail('listAccountEvents', 'Read the history of an account'),
      },
    )
    .get(
      '/events',
      async ({ query, request: { signal }, readmit }) => {
        const found = await auditTrail.list(query, { signal })
        // The caller who waited may have been shut out meanwhile.
        if (query.wait !== undefined && found.items.length > 0) await readmit()
        return { status: 200 as const, ...found }
      },
      {
        query: t.Object({
          ...pageQuery,
          account: queryText(
            'The uuid of an account; without `after` also any part of a contact or a name, which finds 20 accounts at most',
          ),
          type: eventType,
          actor: queryText('The `actor.id` of an event: who did it'),
          since: timeText(),
          after: numberText('The id of an event (`0`: from the beginning): those after it, oldest first'),
          wait: numberText('With `after`: how many seconds to wait for an event, at most 25'),
        }),
        response: { 200: eventsAnswer, ...errorResponses('validation_failed', 'too_many_requests') },
        detail: detail('listAllEvents', 'Read the audit trail'),
      },
    )
}
