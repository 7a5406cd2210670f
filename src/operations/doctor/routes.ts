/** The answers of the running service to `poterne doctor`. */

import { Elysia, t } from 'elysia'
import type { AdminBase } from '../../administration/access/access.ts'
import { detail } from '../../administration/access/operation-schema.ts'
import { answer, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { nullable, oneWordOf } from '../../platform/http/schemas.ts'
import { levels } from './check.ts'
import type { DoctorService } from './service.ts'

const finding = t.Object({
  name: t.String(),
  level: oneWordOf(levels, 'How bad it is'),
  message: t.String(),
})
const arrival = t.Object({
  peer: nullable(t.String()),
  forwarded_for: nullable(t.String()),
  address: t.String(),
  is_trusted: t.Boolean(),
})
export type ArrivalRecord = typeof arrival.static

const storesAnswer = answer(
  'StoreFindings',
  { findings: t.Array(finding), published_keys: nullable(t.Array(t.String())) },
  'What was found in the stores.',
)
const probeAnswer = answer('Probe', { mark: t.String() }, 'The mark that is expected.')
const arrivalAnswer = answer('Arrival', { arrival: nullable(arrival) }, 'How it arrived; null: not yet.')

export function createDoctorRoutes(base: AdminBase, doctor: DoctorService) {
  return new Elysia({ name: 'doctor', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/doctor',
      async () => {
        const { findings, publishedKeys } = await doctor.examineStores()
        return success({ findings, published_keys: publishedKeys })
      },
      {
        response: { 200: storesAnswer, ...errorResponses() },
        detail: detail('examineStores', 'Check the stores'),
      },
    )
    .post('/doctor/probes', () => success({ mark: doctor.startProbe() }), {
      response: { 200: probeAnswer, ...errorResponses() },
      detail: detail('startProbe', 'Expect a request with a mark'),
    })
    .get(
      '/doctor/probes/:mark',
      ({ params }) => {
        const found = doctor.readProbe(params.mark)
        if (found === null) return success({ arrival: null })
        const { peer, forwardedFor, address, isTrusted } = found
        return success({ arrival: { peer, forwarded_for: forwardedFor, address, is_trusted: isTrusted } })
      },
      {
        response: { 200: arrivalAnswer, ...errorResponses() },
        detail: detail('readProbe', 'Say how a request with a mark arrived'),
      },
    )
}
