/** Accounts as administrators see and change them, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { listAnswer, success } from '../../../platform/http/answers.ts'
import { namedObject } from '../../../platform/http/components.ts'
import { errorResponses } from '../../../platform/http/error-responses.ts'
import { nullable, timeField } from '../../../platform/http/schemas.ts'
import type { Language } from '../../../texts/languages.ts'
import { profileBody } from '../../accounts/accounts/account-schema.ts'
import { pageQuery } from '../../foundation/events/event-schema.ts'
import { recordsOf } from '../../foundation/events/page.ts'
import { exportAnswer } from '../../self-service/me/me-schema.ts'
import { sessionRecord } from '../../sessions/sessions/session-schema.ts'
import type { AdminBase } from '../access/access.ts'
import { detail, done, doneAnswer, queryText, queryWord, timeText } from '../access/operation-schema.ts'
import { accountableField, groupNames, roleField, usernameField } from './account-fields.ts'
import { administeredAccountAnswer, listedAccount } from './administered-account-schema.ts'
import type { Directory } from './service.ts'

const session = namedObject(
  'AccountSession',
  {
    id: t.String(),
    device_type: nullable(t.String()),
    device_name: nullable(t.String()),
    device_os: nullable(t.String()),
    ip: nullable(t.String()),
    created_at: timeField(),
    last_used_at: timeField(),
    expires_at: timeField(),
  },
  'A signed-in device of an account.',
)
export type AccountSessionRecord = typeof session.static

export function createDirectoryRoutes(base: AdminBase, accounts: Directory, languages: readonly Language[]) {
  const notFound = errorResponses('account_not_found')
  return new Elysia({ name: 'directory', prefix: '/admin/v1' })
    .use(base)
    .get('/accounts', async ({ query }) => success(await accounts.list(query)), {
      query: t.Object({
        ...pageQuery,
        query: queryText(
          'At least three characters of a contact, a name or a username; a phone number in any spelling; a uuid, or its first characters; an id',
        ),
        locked: queryWord('Only those that are locked, or only those that are not', ['true', 'false']),
        confirmed: queryWord('Only those that are confirmed, or only those that are not', ['true', 'false']),
        role_id: t.Optional(
          t.String({
            description: 'The number of a role, or its name',
            pattern: '^[0-9]{1,16}$|^[A-Za-z]',
            maxLength: 300,
          }),
        ),
        created_after: timeText(),
        created_before: timeText(),
      }),
      response: {
        200: listAnswer('AccountPage', listedAccount, 'One page of accounts, newest first.'),
        ...errorResponses('validation_failed'),
      },
      detail: detail('listAccounts', 'Search accounts'),
    })
    .get('/accounts/:uuid', async ({ params }) => success({ account: await accounts.get(params.uuid) }), {
      response: { 200: administeredAccountAnswer, ...notFound },
      detail: detail('showAccount', 'Read an account'),
    })
    .patch(
      '/accounts/:uuid',
      async ({ params, body }) => success({ account: await accounts.change(params.uuid, body) }),
      {
        body: t.Object({
          role_id: t.Optional(roleField()),
          accountable_type: t.Optional(t.String({ minLength: 1, maxLength: 100 })),
          accountable_id: t.Optional(accountableField()),
          metadata: t.Optional(t.Unknown({ description: 'A JSON object to 4 KiB' })),
          language: t.Optional(t.Union(languages.map((tag) => t.Literal(tag)))),
          locked: t.Optional(t.Boolean()),
          locked_reason: t.Optional(nullable(t.String({ maxLength: 500 }))),
          profile: t.Optional(profileBody),
          username: usernameField(),
          groups: t.Optional(
            t.Union([groupNames, t.Object({ add: t.Optional(groupNames), remove: t.Optional(groupNames) })], {
              description: 'All groups, at most 32, or some to join and to leave',
            }),
          ),
          end_tokens: t.Optional(
            t.Literal(true, {
              description:
                'Refuses the access tokens that were signed before the present second; sessions go on',
            }),
          ),
          confirmed: t.Optional(
            t.Literal(true, { description: 'Confirms the account, and verifies the contact it waits for' }),
          ),
        }),
        response: {
          200: administeredAccountAnswer,
          ...errorResponses(
            'account_not_found',
            'test_identity',
            'no_verified_contact',
            'identifier_taken',
            'username_taken',
            'claims_too_large',
            'validation_failed',
          ),
        },
        detail: detail('changeAccount', 'Change, lock or unlock an account'),
      },
    )
    .delete('/accounts/:uuid', async ({ params }) => done(accounts.erase(params.uuid)), {
      response: { 200: doneAnswer, ...notFound },
      detail: detail('eraseAccount', 'Erase an account'),
    })
    .get('/accounts/:uuid/export', async ({ params }) => success(await accounts.export(params.uuid)), {
      response: { 200: exportAnswer, ...notFound },
      detail: detail('exportAccountData', 'Read everything stored about a person'),
    })
    .get(
      '/accounts/:uuid/sessions',
      async ({ params, query }) =>
        success(recordsOf(await accounts.listSessions(params.uuid, query), sessionRecord)),
      {
        query: t.Object(pageQuery),
        response: {
          200: listAnswer('AccountSessions', session, 'The sessions of the account, last used first.'),
          ...errorResponses('account_not_found', 'validation_failed'),
        },
        detail: detail('listAccountSessions', 'List the sessions of an account'),
      },
    )
    .delete('/accounts/:uuid/sessions', async ({ params }) => done(accounts.endSessions(params.uuid)), {
      response: { 200: doneAnswer, ...notFound },
      detail: detail('endAccountSessions', 'End all sessions of an account'),
    })
    .delete(
      '/accounts/:uuid/sessions/:id',
      async ({ params }) => done(accounts.endSession(params.uuid, params.id)),
      {
        response: { 200: doneAnswer, ...errorResponses('account_not_found', 'session_not_found') },
        detail: detail('endAccountSession', 'End a session of an account'),
      },
    )
}
