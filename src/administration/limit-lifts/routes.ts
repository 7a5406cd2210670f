/** The limits of an identifier, under /admin/v1. */
import { Elysia } from 'elysia'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { type AdminBase, liftsAreCounted } from '../access/access.ts'
import { detail, done, doneAnswer } from '../access/operation-schema.ts'
import type { LimitLifts } from './service.ts'

export function createLimitRoutes(base: AdminBase, limits: LimitLifts) {
  return new Elysia({ name: 'limit-lifts', prefix: '/admin/v1' })
    .use(base)
    .delete(
      '/limits/:identifier',
      async ({ params, caller }) =>
        done(limits.lift(params.identifier, { isCounted: liftsAreCounted(caller) })),
      {
        response: { 200: doneAnswer, ...errorResponses('validation_failed', 'too_many_requests') },
        detail: {
          ...detail('liftLimits', 'Lift the refusals and the budgets of the day of an identifier'),
          description: 'A token or support staff lift those of one account ten times a day.',
        },
      },
    )
}
