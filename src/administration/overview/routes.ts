/** The numbers of the first screen, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { outboxChannels } from '../../domain/messages/outbox/message.ts'
import { answer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { integer, nullable, timeField } from '../../platform/http/schemas.ts'
import type { AdminBase } from '../access/access.ts'
import { detail } from '../access/operation-schema.ts'
import type { Overview } from './service.ts'

const hour = namedObject(
  'StatisticsHour',
  {
    at: timeField(),
    accounts: integer(),
    confirmations: integer(),
    logins: integer(),
    refusals: integer({ description: 'Wrong passwords, codes and tokens' }),
    messages: t.Array(
      t.Object({
        state: t.String(),
        channel: t.String({ enum: outboxChannels }),
        gateway: nullable(t.String(), { description: 'Null for e-mail, and for an SMS that none took' }),
        count: integer(),
      }),
    ),
  },
  'What happened in one hour.',
)

export function createOverviewRoutes(base: AdminBase, overview: Overview) {
  return new Elysia({ name: 'overview', prefix: '/admin/v1' })
    .use(base)
    .get('/statistics', async () => success(await overview.statistics()), {
      response: {
        200: answer(
          'Statistics',
          {
            accounts: t.Object({ total: integer(), confirmed: integer(), locked: integer() }),
            hours: t.Array(hour, { description: 'The last 48, oldest first' }),
          },
          'Numbers of the service.',
        ),
        ...errorResponses(),
      },
      detail: detail('readStatistics', 'Count accounts, logins, refusals and messages, hour by hour'),
    })
}
