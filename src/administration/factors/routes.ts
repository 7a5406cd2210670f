/** The ways to sign in to an account, under /admin/v1: two factors, passkeys, identities. */
import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { nullable, timeField } from '../../platform/http/schemas.ts'
import { type AdminBase, isDelayed } from '../access/access.ts'
import { detail, done, doneAnswer } from '../access/operation-schema.ts'
import { administeredAccountAnswer } from '../directory/directory-schema.ts'
import { identityRecord, identitySchema, passkeyRecord, passkeySchema } from './factor-schema.ts'
import type { AccountFactors } from './service.ts'

export function createAccountFactorRoutes(base: AdminBase, factors: AccountFactors) {
  const listErrors = errorResponses('account_not_found', 'validation_failed')
  return new Elysia({ name: 'factors', prefix: '/admin/v1' })
    .use(base)
    .delete(
      '/accounts/:uuid/two-factor',
      async ({ params, caller }) => {
        const { dueAt } = await factors.removeTwoFactor(params.uuid, { delayed: isDelayed(caller) })
        return success({ due_at: dueAt?.toISOString() ?? null })
      },
      {
        response: {
          200: answer(
            'TwoFactorRemoval',
            { due_at: nullable(timeField(), { description: 'Null where it was done at once' }) },
            'Two factors are off, or will be then.',
          ),
          ...errorResponses(
            'account_not_found',
            'two_factor_not_enabled',
            'channel_not_available',
            'too_many_requests',
          ),
        },
        detail: detail('removeAccountTwoFactor', 'Turn two factors off for somebody who lost them'),
      },
    )
    .delete(
      '/accounts/:uuid/two-factor/removal',
      async ({ params }) => done(factors.cancelRemoval(params.uuid)),
      {
        response: { 200: doneAnswer, ...errorResponses('account_not_found') },
        detail: detail('cancelTwoFactorRemoval', 'Keep two factors on whose removal waits'),
      },
    )
    .delete(
      '/accounts/:uuid/contact-changes/:id',
      async ({ params }) => success({ account: await factors.undoContactChange(params.uuid, params.id) }),
      {
        response: {
          200: administeredAccountAnswer,
          ...errorResponses('account_not_found', 'contact_not_found', 'identifier_taken'),
        },
        detail: detail('undoContactChange', 'Undo a change of contact while its link is open'),
      },
    )
    .get(
      '/accounts/:uuid/passkeys',
      async ({ params, query }) =>
        success(recordsOf(await factors.listPasskeys(params.uuid, query), passkeyRecord)),
      {
        query: t.Object(pageQuery),
        response: {
          200: listAnswer('AccountPasskeys', passkeySchema, 'The passkeys of the account.'),
          ...listErrors,
        },
        detail: detail('listAccountPasskeys', 'List the passkeys of an account'),
      },
    )
    .delete(
      '/accounts/:uuid/passkeys/:id',
      async ({ params }) => done(factors.removePasskey(params.uuid, params.id)),
      {
        response: {
          200: doneAnswer,
          ...errorResponses(
            'account_not_found',
            'passkey_not_found',
            'last_sign_in_method',
            'no_other_factor',
          ),
        },
        detail: detail('removeAccountPasskey', 'Remove a passkey of an account'),
      },
    )
    .get(
      '/accounts/:uuid/identities',
      async ({ params, query }) =>
        success(recordsOf(await factors.listIdentities(params.uuid, query), identityRecord)),
      {
        query: t.Object(pageQuery),
        response: {
          200: listAnswer('AccountIdentities', identitySchema, 'The sign-in providers of the account.'),
          ...listErrors,
        },
        detail: detail('listAccountIdentities', 'List the linked identities of an account'),
      },
    )
    .delete(
      '/accounts/:uuid/identities/:id',
      async ({ params }) => done(factors.removeIdentity(params.uuid, params.id)),
      {
        response: {
          200: doneAnswer,
          ...errorResponses('account_not_found', 'identity_not_found', 'last_sign_in_method'),
        },
        detail: detail('removeAccountIdentity', 'Unlink an identity of an account'),
      },
    )
}
