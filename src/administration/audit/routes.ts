/** The audit trail, under /admin/v1. */
import { Elysia } from 'elysia'
import { eventsAnswer } from '../../domain/foundation/events/event-schema.ts'
import { success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { type AdminBase, type AdminCaller, readAccountUuid, scopesOf } from '../access/access.ts'
import { detail } from '../access/operation-schema.ts'
import { accountEventQuery, auditAnswer, eventQuery } from './audit-schema.ts'
import type { AuditTrail } from './service.ts'

const seesPeople = (caller: AdminCaller) => scopesOf(caller).includes('accounts:read')

export function createAuditTrailRoutes(base: AdminBase, auditTrail: AuditTrail) {
  return new Elysia({ name: 'audit', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/accounts/:uuid/events',
      async ({ params, query, caller }) => {
        const account = readAccountUuid(params.uuid)
        return success(await auditTrail.list({ ...query, account }, { seesPeople: seesPeople(caller) }))
      },
      {
        query: accountEventQuery,
        response: { 200: eventsAnswer, ...errorResponses('account_not_found', 'validation_failed') },
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
        query: eventQuery,
        response: {
          200: auditAnswer,
          ...errorResponses('validation_failed', 'too_many_requests'),
        },
        detail: detail('listAllEvents', 'Read the audit trail'),
      },
    )
}
