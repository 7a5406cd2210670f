/** Tells load balancers and supervisors whether the process runs, and whether its stores answer. */
import { Elysia, t } from 'elysia'
import { answer, success } from '../../platform/http/answers.ts'
import { documented } from '../../platform/http/documented.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'

const alive = answer('Alive', { state: t.Literal('ok') }, 'Everything works.')
const isAlive = success({ state: 'ok' as const })
const detail = documented('Operation')

/** `ping` throws, with the reason, if a store cannot be relied on. */
export function createHealthRoutes(ping: () => Promise<void>) {
  return new Elysia({ name: 'health' })
    .get('/healthz', () => isAlive, {
      response: { 200: alive, ...errorResponses() },
      detail: detail('healthz', 'The process is running'),
    })
    .get('/readyz', () => ping().then(() => isAlive), {
      response: { 200: alive, ...errorResponses() },
      detail: detail(
        'readyz',
        'The process is running and its stores answer',
        'With 503, `reason` says why in words.',
      ),
    })
}
