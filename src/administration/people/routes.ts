/** Making and inviting accounts, and letting people back in, under /admin/v1. */
import { Elysia, t } from 'elysia'
import { answer, success } from '../../platform/http/answers.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { nullable, timeField } from '../../platform/http/schemas.ts'
import { AppError } from '../../texts/errors.ts'
import type { Language } from '../../texts/languages.ts'
import { type AdminBase, correctsRegistrations } from '../access/access.ts'
import { detail, doneAnswer } from '../access/operation-schema.ts'
import { accountDetails, administeredAccountAnswer, newAccount } from '../directory/directory-schema.ts'
import type { Once } from '../idempotency/service.ts'
import type { PeopleService } from './service.ts'

const lifetime = (description: string) => t.Optional(t.String({ description, examples: ['1h'] }))
const sendingErrors = [
  'account_not_found',
  'no_verified_contact',
  'channel_not_available',
  'too_many_requests',
  'validation_failed',
] as const

const contactBody = (example: string) =>
  t.Object({
    value: t.String({ maxLength: 512, examples: [example] }),
    verified: t.Optional(t.Boolean({ description: 'The contact is known to be the person’s' })),
  })
const contacts = [
  { kind: 'email', name: 'Email', what: 'e-mail address', example: 'ada@example.com' },
  { kind: 'phone', name: 'Phone', what: 'phone number', example: '+33612345678' },
] as const
const putErrors = errorResponses(
  'account_not_found',
  'identifier_taken',
  'validation_failed',
  'test_identity',
  'channel_not_available',
  'country_not_allowed',
  'too_many_requests',
)
const removeErrors = errorResponses(
  'account_not_found',
  'contact_not_found',
  'last_sign_in_method',
  'test_identity',
)

/** The end of a code is what is kept of one that was made; an id that was only meant for it is none. */
function requireTime(kept: string): string {
  if (!/^\d{4}-\d\d-\d\dT/.test(kept)) throw new AppError('account_not_found')
  return kept
}

export function createPeopleRoutes(
  base: AdminBase,
  once: Once,
  people: PeopleService,
  languages: readonly Language[],
) {
  return contactRoutes(base, people)
    .post(
      '/accounts',
      async ({ body, caller, headers, path, status }) => {
        const created = await once({
          ...{ headers, caller, path, body },
          async make() {
            const account = await people.create(body)
            return { id: account.uuid, answer: { status: 201 as const, account } }
          },
          repeat: async (id) => ({ status: 201 as const, account: await people.show(id, caller) }),
        })
        return status(201, created)
      },
      {
        body: newAccount(languages),
        response: {
          201: answer('AccountCreated', { account: accountDetails }, 'The new account.', 201),
          ...errorResponses(
            'validation_failed',
            'claims_too_large',
            'identifier_taken',
            'username_taken',
            'channel_not_available',
            'too_many_requests',
          ),
        },
        detail: detail('createAccount', 'Make an account'),
      },
    )
    .post(
      '/accounts/:uuid/invite',
      ({ params, body, caller, headers, path }) =>
        once({
          ...{ headers, caller, path, body },
          async make() {
            const expires_at = (await people.invite(params.uuid, body)).expiresAt.toISOString()
            return { id: expires_at, answer: success({ expires_at }) }
          },
          repeat: async (id) => success({ expires_at: requireTime(id) }),
        }),
      {
        body: t.Object({ lifetime: lifetime('At most `30d`; default `7d`') }),
        response: {
          200: answer('Invited', { expires_at: timeField() }, 'The invitation is on its way.'),
          ...errorResponses('password_already_set', 'test_identity', ...sendingErrors),
        },
        detail: detail('inviteAccount', 'Send another invitation'),
      },
    )
    .post(
      '/accounts/:uuid/resend-confirmation',
      ({ params, caller, headers, path }) =>
        once({
          ...{ headers, caller, path },
          async make() {
            await people.resendConfirmation(params.uuid)
            return { id: params.uuid, answer: success({}) }
          },
          repeat: async (_, status) => {
            if (status === null) throw new AppError('account_not_found')
            return success({})
          },
        }),
      {
        response: {
          200: doneAnswer,
          ...errorResponses(
            'account_not_found',
            'not_resendable',
            'test_identity',
            'channel_not_available',
            'country_not_allowed',
            'too_many_requests',
          ),
        },
        detail: {
          ...detail(
            'resendAccountConfirmation',
            'Send the confirmation of an account that waits for it again',
          ),
          description:
            'It counts on the contact and on the account, as a code that the person asks for does.',
        },
      },
    )
    .post(
      '/accounts/:uuid/access-code',
      ({ params, body, caller, headers, path }) =>
        once({
          ...{ headers, caller, path, body },
          async make() {
            const { code, expiresAt } = await people.recover(params.uuid, {
              ...body,
              removeFactors: body.remove_factors,
            })
            const expires_at = expiresAt.toISOString()
            return { id: expires_at, answer: success({ code, expires_at }) }
          },
          repeat: async (id) => success({ code: null, expires_at: requireTime(id) }),
        }),
      {
        body: t.Object({
          send: t.Optional(t.Union([t.Literal('email'), t.Literal('sms')])),
          lifetime: lifetime('At most `24h`; default `1h`'),
          remove_factors: t.Optional(
            t.Boolean({
              description:
                'The use of the code removes every passkey and every linked provider; default `false`: none. Two factors stay on',
            }),
          ),
        }),
        response: {
          200: answer(
            'AccessCode',
            {
              code: nullable(t.String({ examples: ['7GX2-MK4D-0QVT-9A3C'] }), {
                description: 'Null where it was sent',
              }),
              expires_at: timeField(),
            },
            'A code with which the person chooses a new password.',
          ),
          ...errorResponses('test_identity', ...sendingErrors),
        },
        detail: detail('createAccessCode', 'Make a temporary access code'),
      },
    )
}

/** A contact is set and removed by the same two operations, whichever it is. */
function contactRoutes(base: AdminBase, people: PeopleService) {
  const routes = new Elysia({ name: 'people', prefix: '/admin/v1' }).use(base)
  for (const { kind, name, what, example } of contacts) {
    routes
      .put(
        `/accounts/:uuid/${kind}`,
        async ({ params, body, caller }) => {
          const how = { corrects: correctsRegistrations(caller) }
          return success({ account: await people.putContact(params.uuid, kind, body, how) })
        },
        {
          body: contactBody(example),
          response: { 200: administeredAccountAnswer, ...putErrors },
          detail: detail(`putAccount${name}`, `Set the ${what} of an account`),
        },
      )
      .delete(
        `/accounts/:uuid/${kind}`,
        async ({ params }) => success({ account: await people.removeContact(params.uuid, kind) }),
        {
          response: { 200: administeredAccountAnswer, ...removeErrors },
          detail: detail(`removeAccount${name}`, `Remove the ${what} of an account`),
        },
      )
  }
  return routes
}
