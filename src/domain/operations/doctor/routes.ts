/** The answers of the running service to `poterne doctor`. */

import { Elysia, t } from 'elysia'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { nullable } from '../../../platform/http/schemas.ts'
import { detail } from '../../administration/access/operation-schema.ts'
import type { DoctorService } from './service.ts'

const finding = t.Object({
  name: t.String(),
  level: t.Union([t.Literal('ok'), t.Literal('warning'), t.Literal('failure')]),
  message: t.String(),
})
const arrival = t.Object({
  peer: nullable(t.String()),
  forwarded_for: nullable(t.String()),
  address: t.String(),
  is_trusted: t.Boolean(),
})
export type ArrivalRecord = typeof arrival.static

export function createDoctorRoutes(httpBase: HttpBase, doctor: DoctorService) {
  return new Elysia({ name: 'doctor', prefix: '/admin/v1' })
    .use(httpBase)
    .get(
      '/doctor',
      async () => {
        const { findings, publishedKeys } = await doctor.examineStores()
        return { status: 200 as const, findings, published_keys: publishedKeys }
      },
      {
        response: {
          200: t.Object({
            status: t.Literal(200),
            findings: t.Array(finding),
            published_keys: nullable(t.Array(t.String())),
          }),
          ...errorResponses(),
        },
        detail: detail('examineStores', 'Check the stores'),
      },
    )
    .post('/doctor/probes', () => ({ status: 200 as const, mark: doctor.startProbe() }), {
      response: { 200: t.Object({ status: t.Literal(200), mark: t.String() }), ...errorResponses() },
      detail: detail('startProbe', 'Expect a request with a mark'),
    })
    .get(
      '/doctor/probes/:mark',
      ({ params }) => {
        const found = doctor.readProbe(params.mark)
        if (found === null) return { status: 200 as const, arrival: null }
        const { peer, forwardedFor, address, isTrusted } = found
        return {
          status: 200 as const,
          arrival: { peer, forwarded_for: forwardedFor, address, is_trusted: isTrusted },
        }
      },
      {
        response: {
          200: t.Object({ status: t.Literal(200), arrival: nullable(arrival) }),
          ...errorResponses(),
        },
        detail: detail('readProbe', 'Say how a request with a mark arrived'),
      },
    )
}
