/** Gateways report here what became of an SMS: POST and GET /api/v1/sms/receipts/:gateway. */
import { Elysia, t } from 'elysia'
import { answer, success } from '../../../platform/http/answers.ts'
import { documented } from '../../../platform/http/documented.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import type { HttpBase } from '../../../platform/http/http-base.ts'
import { declare } from '../../../platform/http/route-traits.ts'
import type { ReceiptService } from './receipts.ts'

const params = t.Object({
  gateway: t.String({ maxLength: 32, description: 'The name of the gateway in the configuration' }),
})
const response = {
  200: answer('ReceiptTaken', {}, 'The receipt was taken, or was of no use.'),
  ...errorResponses('invalid_token', 'route_not_found', 'too_many_requests'),
}
const detail = documented('Operation')
const description =
  'For the SMS gateway of that name, in the form that `receipts` of its configuration describes: JSON, a form or the query. Its secret comes as `Authorization: Bearer`, as the password of Basic authentication, as `X-Poterne-Secret` or as `key` in the query. A receipt for an unknown message changes nothing and answers 200.'

export function createReceiptRoutes(httpBase: HttpBase, receipts: ReceiptService) {
  return new Elysia({ name: 'sms-funnel', prefix: '/api/v1/sms/receipts' })
    .use(httpBase)
    .post(
      '/:gateway',
      async ({ params: { gateway }, request, headers, query, body, client }) => {
        await receipts.take(gateway, { target: targetOf(request), headers, query, body }, client)
        return success({})
      },
      {
        params,
        response,
        detail: {
          ...detail('putReceipt', 'Report what became of an SMS', description),
          ...declare({ takes: 'any' }),
        },
      },
    )
    .get(
      '/:gateway',
      async ({ params: { gateway }, request, headers, query, client }) => {
        await receipts.take(gateway, { target: targetOf(request), headers, query, body: {} }, client)
        return success({})
      },
      {
        params,
        response,
        detail: detail('putReceiptByQuery', 'Report what became of an SMS, in the query', description),
      },
    )
}

/** Path and query, whatever host the request named. */
function targetOf({ url }: Request): string {
  const { pathname, search } = new URL(url, 'http://receipts')
  return pathname + search
}
