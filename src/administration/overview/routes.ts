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

const failure = namedObject(
  'LastError',
  {
    channel: t.String({ enum: outboxChannels }),
    gateway: nullable(t.String(), {
      description: 'Null for mail servers, and where no gateway covers a number',
    }),
    at: timeField(),
    cause: t.String({ examples: ['smtp_connection', 'acme:401'] }),
    meaning: t.String({ examples: ['the mail server could not be reached'] }),
    reply: nullable(t.String(), { description: 'The words of the server, where it said some' }),
  },
  'The last error of a gateway or a mail server.',
)

export function createOverviewRoutes(base: AdminBase, overview: Overview) {
  return new Elysia({ name: 'overview', prefix: '/admin/v1' })
    .use(base)
    .get('/statistics', async ({ client }) => success(await overview.statistics(client.language)), {
      response: {
        200: answer(
          'Statistics',
          {
            accounts: t.Object({ total: integer(), confirmed: integer(), locked: integer() }),
            hours: t.Array(hour, { description: 'The last 48, oldest first' }),
            waiting: t.Object(
              {
                count: integer(),
                oldest_seconds: nullable(integer(), {
                  description: 'The age of the oldest; null: none waits',
                }),
              },
              { description: 'Messages that wait to be sent' },
            ),
            errors: t.Array(failure, {
              description: 'The last error of each gateway and of the mail servers within 48 hours',
            }),
            limited: integer({ description: 'Accounts whose password or codes are refused now' }),
            removals: t.Array(t.Object({ account: t.String({ format: 'uuid' }), due_at: timeField() }), {
              description: 'Accounts of which two factors will be turned off, the next first; 20 at most',
            }),
          },
          'Numbers of the service.',
        ),
        ...errorResponses(),
      },
      detail: detail('readStatistics', 'Count accounts, logins, refusals and messages, hour by hour'),
    })
}
