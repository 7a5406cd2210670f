/** Tells load balancers and supervisors whether the process runs, and whether its stores answer. */
import { Elysia, t } from 'elysia'
import { namedObject } from '../../../platform/http/components.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'

const alive = namedObject('Alive', { status: t.Literal(200), state: t.Literal('ok') }, 'Everything works.')

/** `ping` throws, with the reason, if a store cannot be relied on. */
export function createHealthRoutes(ping: () => Promise<void>) {
  return new Elysia({ name: 'health' })
    .get('/healthz', () => ({ status: 200 as const, state: 'ok' as const }), {
      response: { 200: alive, ...errorResponses() },
      detail: { tags: ['Operation'], operationId: 'healthz', summary: 'The process is running' },
    })
    .get(
      '/readyz',
      async ({ status }) => {
        await ping()
        return status(200, { status: 200 as const, state: 'ok' as const })
      },
      {
        response: { 200: alive, ...errorResponses() },
        detail: {
          tags: ['Operation'],
          operationId: 'readyz',
          summary: 'The process is running and its stores answer',
          description: 'With 503, `reason` says why in words.',
        },
      },
    )
}
