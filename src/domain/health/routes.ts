/** For load balancers and supervisors: does the process live, and do its stores answer. */
import { Elysia, t } from 'elysia'
import { AppError } from '../../errors.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'

const alive = t.Object({ status: t.Literal(200), state: t.Literal('ok') })

/** `ping` throws when a store does not answer. */
export function createHealthRoutes(ping: () => Promise<void>) {
  return new Elysia({ name: 'health' })
    .get('/healthz', () => ({ status: 200 as const, state: 'ok' as const }), {
      response: { 200: alive, ...errorResponses() },
      detail: { tags: ['Operation'], operationId: 'healthz', summary: 'The process lives' },
    })
    .get(
      '/readyz',
      async ({ status }) => {
        try {
          await ping()
        } catch (error) {
          throw new AppError('unavailable', { cause: error })
        }
        return status(200, { status: 200 as const, state: 'ok' as const })
      },
      {
        response: { 200: alive, ...errorResponses() },
        detail: {
          tags: ['Operation'],
          operationId: 'readyz',
          summary: 'The process lives and its stores answer',
        },
      },
    )
}
