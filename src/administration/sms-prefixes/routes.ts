/** Prefixes of telephone numbers that are closed to SMS, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import type { SmsClosing } from '../../domain/messages/sms-funnel/closing-store.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { nullable, timeField } from '../../platform/http/schemas.ts'
import type { AdminBase } from '../access/access.ts'
import { detail, done, doneAnswer } from '../access/operation-schema.ts'
import type { Once } from '../idempotency/service.ts'
import type { SmsPrefixes } from './service.ts'

const fields = {
  prefix: t.String({ description: 'What the numbers begin with', examples: ['+3712'] }),
  closed_by: t.String({
    enum: ['hand', 'guard'],
    description:
      'By hand: nobody gets an SMS there. By the guard (`sms.pumping_guard`): a few for each network that asked there',
  }),
  closed_until: timeField(),
  reason: nullable(t.String(), { description: 'Null where the guard closed it', examples: ['pumping'] }),
  created_at: nullable(timeField()),
  created_by: nullable(
    t.Object({
      type: t.String({ enum: ['operator', 'administrator', 'token'] }),
      id: nullable(t.String()),
      name: nullable(t.String()),
    }),
  ),
}
const closing = namedObject('SmsPrefix', fields, 'Numbers to which no SMS is sent.')
export type SmsPrefixRecord = typeof closing.static

const record = (one: SmsClosing): SmsPrefixRecord => ({
  prefix: one.prefix,
  closed_by: one.reason === null ? 'guard' : 'hand',
  closed_until: one.closedUntil.toISOString(),
  reason: one.reason,
  created_at: one.createdAt?.toISOString() ?? null,
  created_by:
    one.creatorType === null ? null : { type: one.creatorType, id: one.creatorId, name: one.creatorName },
})

const body = t.Object({
  prefix: t.String({
    maxLength: 40,
    description:
      'With the plus and the country code. A whole block of numbers (all but their last four digits) is the least',
    examples: ['+371 2'],
  }),
  reason: t.String({ maxLength: 500, examples: ['pumping: 300 codes in an hour, none entered'] }),
  expires_in: t.String({ description: 'A duration of 30 days at most', maxLength: 20, examples: ['7d'] }),
})

export function createSmsPrefixRoutes(base: AdminBase, once: Once, prefixes: SmsPrefixes) {
  return new Elysia({ name: 'sms-prefixes', prefix: '/admin/v1' })
    .use(base)
    .get('/sms/prefixes', async ({ query }) => success(recordsOf(await prefixes.list(query), record)), {
      query: t.Object(pageQuery),
      response: {
        200: listAnswer('SmsPrefixes', closing, 'What is closed now, by the prefix.'),
        ...errorResponses('validation_failed'),
      },
      detail: detail('listSmsPrefixes', 'List the prefixes of numbers that are closed to SMS'),
    })
    .post(
      '/sms/prefixes',
      async ({ body, caller, headers, path, status }) => {
        const told = await once({
          ...{ headers, caller, path, body },
          async make() {
            const closed = await prefixes.close(caller, { ...body, expiresIn: body.expires_in })
            return { id: closed.prefix, answer: { status: 201 as const, ...record(closed) } }
          },
          repeat: async (prefix) => ({ status: 201 as const, ...record(await prefixes.get(prefix)) }),
        })
        return status(201, told)
      },
      {
        body,
        response: {
          201: answer('SmsPrefixClosed', fields, 'Nobody gets an SMS there from now on.', 201),
          ...errorResponses('validation_failed', 'prefix_not_found'),
        },
        detail: detail(
          'closeSmsPrefix',
          'Close a prefix of numbers to SMS',
          'Nobody gets an SMS there until it ends, owners of accounts included. One that is closed gets the new reason and end.',
        ),
      },
    )
    .delete('/sms/prefixes/:prefix', async ({ params }) => done(prefixes.open(params.prefix)), {
      response: { 200: doneAnswer, ...errorResponses('prefix_not_found') },
      detail: detail(
        'openSmsPrefix',
        'Open a prefix of numbers again',
        'Also one that the guard closed: the codes for which it did close it no more.',
      ),
    })
}
