/** The limits of an identifier, under /admin/v1. */
import { Elysia } from 'elysia'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { Guard } from '../../../platform/http/guard.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { type AdminCaller, liftsAreCounted } from '../access/access.ts'
import { detail, done, doneAnswer } from '../access/operation-schema.ts'
import type { LimitLifts } from './service.ts'

export function createLimitRoutes(httpBase: HttpBase, guard: Guard<AdminCaller>, limits: LimitLifts) {
  return new Elysia({ name: 'limit-lifts', prefix: '/admin/v1' })
    .use(httpBase)
    .use(guard)
    .delete(
      '/limits/:identifier',
      async ({ params, caller }) => {
        await limits.lift(params.identifier, { isCounted: liftsAreCounted(caller) })
        return done
      },
      {
        response: { 200: doneAnswer, ...errorResponses('validation_failed', 'too_many_requests') },
        detail: {
          ...detail('liftLimits', 'Lift the refusals and the budgets of the day of an identifier'),
          description: 'A token or support staff lift those of one account ten times a day.',
        },
      },
    )
}
