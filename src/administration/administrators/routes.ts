/** The administrators: for owners on the page and for the operator, never for a token. */

import { Elysia, t } from 'elysia'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import { answer, created, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { iso, isoOrNull, recordOf } from '../../platform/http/records.ts'
import { integer, nullable, timeField } from '../../platform/http/schemas.ts'
import type { AdminBase } from '../access/access.ts'
import { administratorRoleField, detail } from '../access/operation-schema.ts'
import type { Once } from '../idempotency/service.ts'
import type { AdministratorService } from './service.ts'
import type { Administrator } from './store.ts'

const listed = recordOf<Administrator>()({
  uuid: [
    t.String({ description: 'Of the account', examples: ['0f8f1e52-3c7a-4b1d-9a60-5e2f7c8d9b01'] }),
    ({ uuid }) => uuid,
  ],
  email: [nullable(t.String({ examples: ['ada@example.com'] })), ({ email }) => email],
  phone: [nullable(t.String({ examples: ['+33612345678'] })), ({ phone }) => phone],
  role: [administratorRoleField, ({ role }) => role],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  last_signed_in_at: [nullable(timeField()), ({ lastSignedInAt }) => isoOrNull(lastSignedInAt)],
})
const administrator = namedObject(
  'Administrator',
  listed.fields,
  'An account that may sign in on the page of administration.',
)
const administratorRecord = listed.read

export type AdministratorRecord = ReturnType<typeof administratorRecord>

/** Only where it is not 0. */
const revokedTokens = t.Optional(
  integer({
    description: 'How many tokens were revoked that the administrator made; absent where none was',
  }),
)
const revokedOnly = (revoked: number | undefined) => (revoked ? { revoked_tokens: revoked } : {})

const changedAnswer = answer(
  'AdministratorAnswer',
  { administrator, revoked_tokens: revokedTokens },
  'It was an administrator, and has this role now.',
)

const addedAnswer = answer('AdministratorAdded', { administrator }, 'It is an administrator now.', 201)

const administratorsAnswer = listAnswer('AdministratorPage', administrator, 'One page of administrators.')

const removedAnswer = answer(
  'AdministratorRemoved',
  { revoked_tokens: revokedTokens },
  'The account is an administrator no longer.',
)

interface PutAnswer {
  status: 200 | 201
  administrator: Administrator
  /** Unknown where the call was sent again. */
  revokedTokens?: number
}

export function createAdministratorRoutes(base: AdminBase, once: Once, administrators: AdministratorService) {
  return new Elysia({ name: 'administrators', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/administrators',
      async ({ query }) => success(recordsOf(await administrators.list(query), administratorRecord)),
      {
        query: t.Object(pageQuery),
        response: { 200: administratorsAnswer, ...errorResponses('validation_failed') },
        detail: detail(
          'listAdministrators',
          'List the administrators',
          'Those of the newest accounts first.',
        ),
      },
    )
    .post(
      '/administrators',
      async ({ body, caller, headers, path }) => {
        const put = await once<PutAnswer>({
          ...{ headers, caller, path, body },
          async make() {
            const { administrator, isNew, revokedTokens } = await administrators.put(body.account, body.role)
            const status = isNew ? 201 : 200
            return { id: administrator.uuid, answer: { status, administrator, revokedTokens } }
          },
          repeat: async (id, kept) => ({
            status: kept === 200 ? 200 : 201,
            administrator: await administrators.get(id),
          }),
        })
        const administrator = administratorRecord(put.administrator)
        return put.status === 201
          ? created({ administrator })
          : success({ administrator, ...revokedOnly(put.revokedTokens) })
      },
      {
        body: t.Object({
          account: t.String({
            maxLength: 300,
            description: 'Its uuid, or an e-mail address or a phone number that it verified',
            examples: ['ada@example.com'],
          }),
          role: administratorRoleField,
        }),
        response: {
          200: changedAnswer,
          201: addedAnswer,
          ...errorResponses(
            'account_not_found',
            'test_identity',
            'account_unconfirmed',
            'account_locked',
            'password_not_set',
            'no_verified_contact',
          ),
        },
        detail: detail(
          'addAdministrator',
          'Add an administrator, or change a role',
          'The account is confirmed, and has a verified contact and a password. Tokens that it made are revoked where they may do more than its new role.',
        ),
      },
    )
    .delete(
      '/administrators/:uuid',
      async ({ params }) => {
        const { revokedTokens } = await administrators.remove(params.uuid)
        return success(revokedOnly(revokedTokens))
      },
      {
        response: { 200: removedAnswer, ...errorResponses('administrator_not_found') },
        detail: detail(
          'removeAdministrator',
          'Remove an administrator',
          'The account stays as it is; its sessions on the page end, and the tokens that it made are revoked.',
        ),
      },
    )
}
