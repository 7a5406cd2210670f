/** Messages and the report of SMS, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import { outboxChannels } from '../../domain/messages/outbox/message.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { integer, nullable, timeField } from '../../platform/http/schemas.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import type { AdminBase } from '../access/access.ts'
import { detail, doneAnswer, numberText, queryText, queryWord, timeText } from '../access/operation-schema.ts'
import type { Once } from '../idempotency/service.ts'
import { meaningOf } from './meaning.ts'
import type { MessageLog } from './service.ts'
import { codeStates, type ListedMessage, messageStates } from './store.ts'

const message = namedObject(
  'Message',
  {
    id: integer(),
    channel: t.String({ enum: outboxChannels }),
    purpose: t.String({ examples: ['password_reset'] }),
    state: t.String({ enum: messageStates }),
    destination: t.String(),
    account: nullable(t.String()),
    gateway: nullable(t.String()),
    detail: nullable(t.String({ description: 'Which server took it, or the cause of the last failure' })),
    reply: nullable(
      t.String({
        description:
          'What servers and gateways said to the last attempt, without personal data and secrets: at most 500 characters',
      }),
    ),
    meaning: t.String({ description: 'What became of it, as a sentence in English or French' }),
    code: nullable(t.String({ enum: codeStates }), {
      description: 'What became of its code; null where it carries none',
    }),
    code_used_at: nullable(timeField()),
    attempts: integer(),
    created_at: timeField(),
    next_attempt_at: nullable(timeField()),
    finished_at: nullable(timeField()),
  },
  'A message and what became of it; never its code.',
)
const messagePage = listAnswer('MessagePage', message, 'One page of messages, newest first.')
const reportRow = namedObject(
  'SmsReportRow',
  {
    gateway: t.String({ description: 'Empty before a gateway was chosen' }),
    country: t.String({ examples: ['FR'] }),
    asked: integer(),
    given_up: integer({ description: 'No gateway took it, and it is not tried again' }),
    handed_over: integer(),
    unknown: integer({ description: 'The gateway gave no readable answer, and may have taken it' }),
    accepted: integer(),
    delivered: integer(),
    failed: integer(),
    verified: integer(),
  },
  'SMS of one gateway and country, by how far they came.',
)
const filter = {
  ...pageQuery,
  state: queryWord('The present state of the message', messageStates),
  channel: queryWord('The channel that it goes by', outboxChannels),
  gateway: queryText('The name of a gateway, as in the configuration'),
  since: timeText(),
}
const recipient = t.Optional(
  t.String({
    description: 'Any part of a contact or a name of the person, or the whole destination',
    minLength: 3,
    maxLength: 300,
  }),
)

const messageRecord = (
  { createdAt, nextAttemptAt, finishedAt, isReplaced, codeState, codeUsedAt, ...message }: ListedMessage,
  language: Language,
) => ({
  ...message,
  meaning: meaningOf({ ...message, isReplaced }, language),
  code: codeState,
  code_used_at: codeUsedAt?.toISOString() ?? null,
  created_at: createdAt.toISOString(),
  next_attempt_at: nextAttemptAt?.toISOString() ?? null,
  finished_at: finishedAt?.toISOString() ?? null,
})
const inLanguage = (language: Language) => (message: ListedMessage) => messageRecord(message, language)

export type MessageRecord = ReturnType<typeof messageRecord>

export function createMessageRoutes(base: AdminBase, once: Once, messages: MessageLog) {
  return new Elysia({ name: 'message-log', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/messages',
      async ({ query, client }) =>
        success(recordsOf(await messages.list(query), inLanguage(client.language))),
      {
        query: t.Object({ ...filter, to: recipient }),
        response: { 200: messagePage, ...errorResponses('validation_failed') },
        detail: detail('listMessages', 'List messages, newest first'),
      },
    )
    .get(
      '/messages/:id',
      async ({ params, client }) =>
        success({ message: messageRecord(await messages.get(params.id), client.language) }),
      {
        response: {
          200: answer('MessageAnswer', { message }, 'One message.'),
          ...errorResponses('message_not_found'),
        },
        detail: detail('showMessage', 'Show a message, what became of it and why'),
      },
    )
    .get(
      '/accounts/:uuid/messages',
      async ({ params, query, client }) =>
        success(recordsOf(await messages.listOfAccount(params.uuid, query), inLanguage(client.language))),
      {
        query: t.Object(filter),
        response: { 200: messagePage, ...errorResponses('account_not_found', 'validation_failed') },
        detail: detail('listAccountMessages', 'List what was sent to a person'),
      },
    )
    .post(
      '/messages/:id/retry',
      ({ params, caller, headers, path }) =>
        once({
          ...{ headers, caller, path },
          async make() {
            await messages.retry(params.id)
            return { id: params.id, answer: success({}) }
          },
          // Where it is not known what became of it, it is tried: a message that went out is not refused any more.
          repeat: async (_, status) => {
            if (status === null) throw new AppError('message_not_found')
            return success({})
          },
        }),
      {
        response: { 200: doneAnswer, ...errorResponses('message_not_found', 'not_resendable') },
        detail: detail('retryMessage', 'Send a refused message again'),
      },
    )
    .get('/sms/report', async ({ query }) => success(await messages.smsReport(query)), {
      query: t.Object({
        ...pageQuery,
        days: numberText('1 to 365, today included; default 7'),
      }),
      response: {
        200: listAnswer('SmsReport', reportRow, 'SMS by gateway and country.'),
        ...errorResponses('validation_failed'),
      },
      detail: detail('reportSms', 'Count SMS by gateway and country'),
    })
}
