/** Accounts as administrators see and change them, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import { exportAnswer } from '../../domain/self-service/me/me-schema.ts'
import { sessionRecord } from '../../domain/sessions/core/session-schema.ts'
import { listAnswer, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import type { Language } from '../../texts/languages.ts'
import { type AdminBase, requireOwner } from '../access/access.ts'
import { detail, done, doneAnswer } from '../access/operation-schema.ts'
import {
  accountPatch,
  accountQuery,
  accountSession,
  administeredAccountAnswer,
  groupsAnswer,
  listedAccount,
} from './directory-schema.ts'
import type { Directory } from './service.ts'

export function createDirectoryRoutes(base: AdminBase, accounts: Directory, languages: readonly Language[]) {
  const notFound = errorResponses('account_not_found')
  return new Elysia({ name: 'directory', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/accounts',
      async ({ query, caller }) => {
        if (query.administrator !== undefined) requireOwner(caller)
        return success(await accounts.list(query))
      },
      {
        query: accountQuery,
        response: {
          200: listAnswer('AccountPage', listedAccount, 'One page of accounts, newest first.'),
          ...errorResponses('validation_failed'),
        },
        detail: detail('listAccounts', 'Search accounts'),
      },
    )
    .get('/groups', async () => success(await accounts.roles()), {
      response: { 200: groupsAnswer },
      detail: detail(
        'listGroups',
        'List the roles that have a name, and the groups in use',
        'Groups are those that accounts are in, 500 at most. They are counted at most once a minute.',
      ),
    })
    .get('/accounts/:uuid', async ({ params }) => success({ account: await accounts.get(params.uuid) }), {
      response: { 200: administeredAccountAnswer, ...notFound },
      detail: detail('showAccount', 'Read an account'),
    })
    .patch(
      '/accounts/:uuid',
      async ({ params, body }) => success({ account: await accounts.change(params.uuid, body) }),
      {
        body: accountPatch(languages),
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
          200: listAnswer('AccountSessions', accountSession, 'The sessions of the account, last used first.'),
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
