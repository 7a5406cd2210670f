/** The limits of an identifier, under /admin/v1. */
import { Elysia } from 'elysia'
import { errorResponses } from '../../platform/http/error-responses.ts'
import type { HttpBase } from '../../platform/http/http-base.ts'
import { detail, done, doneAnswer } from '../administration/operation-schema.ts'
import type { LimitAdministration } from './service.ts'

export function createLimitRoutes(httpBase: HttpBase, limits: LimitAdministration) {
  return new Elysia({ name: 'administration-limits', prefix: '/admin/v1' }).use(httpBase).delete(
    '/limits/:identifier',
    async ({ params }) => {
      await limits.lift(params.identifier)
      return done
    },
    {
      response: { 200: doneAnswer, ...errorResponses('validation_failed') },
      detail: detail('liftLimits', 'Lift the refusals and the budgets of the day of an identifier'),
    },
  )
}
