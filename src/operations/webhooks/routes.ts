/** The endpoints of `[[webhooks]]`, under /admin/v1: seen, tried and told again. */
import { Elysia, t } from 'elysia'
import type { AdminBase } from '../../administration/access/access.ts'
import { detail } from '../../administration/access/operation-schema.ts'
import type { Once } from '../../administration/idempotency/service.ts'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { pageOf, recordsOf } from '../../domain/foundation/events/page.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { integer, nullable, timeField } from '../../platform/http/schemas.ts'
import type { Webhooks } from './service.ts'

const endpoint = namedObject(
  'Webhook',
  {
    name: t.String(),
    host: t.String({ description: 'Host and port of its address', examples: ['127.0.0.1:3000'] }),
    lag_seconds: integer({
      description: 'The age of the oldest event that it was not told yet; 0 without one',
    }),
    set_aside: integer({ description: 'Events that are tried again' }),
    given_up: integer({ description: 'Events that are tried no more' }),
    last_accepted_at: nullable(timeField()),
    away_since: nullable(timeField(), { description: 'Since then it has taken nothing' }),
  },
  'A program of the team that is told what happens.',
)
export type WebhookRecord = typeof endpoint.static

const waitingEvent = namedObject(
  'WaitingEvent',
  {
    event: integer({ description: 'The id of the event' }),
    type: nullable(t.String(), { description: 'Null where the event is kept no longer' }),
    attempts: integer(),
    due_at: nullable(timeField(), { description: 'When it is tried again; null: given up' }),
    last_failure: nullable(
      t.String({
        description:
          '`timeout`, `connection`, `tls`, `redirect` or `http_` and the status; null where it was not sent yet',
      }),
    ),
  },
  'An event that was set aside.',
)
export type WaitingEventRecord = typeof waitingEvent.static

const tried = {
  accepted: t.Boolean(),
  steps: t.Array(t.Object({ name: t.String(), text: t.String() })),
}
export type TriedWebhook = { accepted: boolean; steps: { name: string; text: string }[] }

export function createWebhookRoutes(base: AdminBase, once: Once, webhooks: Webhooks) {
  return new Elysia({ name: 'webhooks', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/webhooks',
      async ({ query }) =>
        success(
          pageOf(query, (await webhooks.list()).map(toEndpoint), {
            list: 'webhooks',
            keyOf: ({ name }) => name,
          }),
        ),
      {
        query: t.Object(pageQuery),
        response: {
          200: listAnswer('Webhooks', endpoint, 'The webhooks, by name.'),
          ...errorResponses('validation_failed'),
        },
        detail: detail('listWebhooks', 'List the webhooks, and how far each was told'),
      },
    )
    .get(
      '/webhooks/:name/waiting',
      async ({ params, query }) => success(recordsOf(await webhooks.waiting(params.name, query), toWaiting)),
      {
        query: t.Object(pageQuery),
        response: {
          200: listAnswer('WaitingEvents', waitingEvent, 'What was set aside or given up, newest first.'),
          ...errorResponses('webhook_not_found', 'validation_failed'),
        },
        detail: detail('listWaitingEvents', 'List what a webhook did not take'),
      },
    )
    .post(
      '/webhooks/:name/try',
      ({ params, caller, headers, path }) =>
        once({
          ...{ headers, caller, path },
          make: async () => ({ id: params.name, answer: success(await webhooks.try(params.name)) }),
          repeat: async () => success(await webhooks.try(params.name)),
        }),
      {
        response: {
          200: answer('WebhookTried', tried, 'What came of it, step by step.'),
          ...errorResponses('webhook_not_found'),
        },
        detail: detail('tryWebhook', 'Send `webhook.test`, and say what came of it'),
      },
    )
    .post(
      '/webhooks/:name/retry',
      ({ params, body, caller, headers, path }) =>
        once({
          ...{ headers, caller, path, body },
          make: async () => ({ id: params.name, answer: await retried(params.name, body.event) }),
          repeat: async () => retried(params.name, body.event),
        }),
      {
        body: t.Object({
          event: t.Optional(
            integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Only this one' }),
          ),
        }),
        response: {
          200: answer('WebhookRetried', { events: integer() }, 'So many events are due at once.'),
          ...errorResponses('webhook_not_found', 'validation_failed'),
        },
        detail: detail('retryWebhook', 'Make due at once what a webhook did not take, given up or not'),
      },
    )
    .post(
      '/webhooks/:name/replay',
      ({ params, body, caller, headers, path }) =>
        once({
          ...{ headers, caller, path, body },
          make: async () => ({ id: params.name, answer: await replayed(params.name, body.since) }),
          repeat: async () => replayed(params.name, body.since),
        }),
      {
        body: t.Object({
          since: t.String({
            description: 'RFC 3339, or only the day; UTC where it names no zone',
            examples: ['2026-07-01T12:00:00Z'],
            maxLength: 300,
          }),
        }),
        response: {
          200: answer('WebhookReplayed', {}, 'It is told again what happened since then.'),
          ...errorResponses('webhook_not_found', 'validation_failed'),
        },
        detail: detail('replayWebhook', 'Tell a webhook again what happened since a time'),
      },
    )

  async function retried(name: string, event: number | undefined) {
    return success({ events: await webhooks.retry(name, event) })
  }
  async function replayed(name: string, since: string) {
    await webhooks.replay(name, since)
    return success({})
  }
}

const toEndpoint = (found: Awaited<ReturnType<Webhooks['list']>>[number]): WebhookRecord => ({
  name: found.name,
  host: found.host,
  lag_seconds: found.lagSeconds,
  set_aside: found.setAside,
  given_up: found.givenUp,
  last_accepted_at: found.lastAcceptedAt?.toISOString() ?? null,
  away_since: found.awaySince?.toISOString() ?? null,
})

const toWaiting = (found: {
  id: number
  type: string | null
  attempts: number
  dueAt: Date | null
  lastFailure: string | null
}): WaitingEventRecord => ({
  ...{ event: found.id, type: found.type, attempts: found.attempts },
  due_at: found.dueAt?.toISOString() ?? null,
  last_failure: found.lastFailure,
})
