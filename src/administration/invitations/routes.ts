/** Invitations: made, listed and revoked. */

import { Elysia, t } from 'elysia'
import { roleField } from '../../domain/accounts/core/set-fields.ts'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { iso, isoOrNull, recordOf } from '../../platform/http/records.ts'
import { integer, nullable, optionalField, timeField } from '../../platform/http/schemas.ts'
import type { AdminBase } from '../access/access.ts'
import { detail, done } from '../access/operation-schema.ts'
import type { Once } from '../idempotency/service.ts'
import { type InvitationService, invitationBounds, type ShownInvitation } from './service.ts'

const { fields, read: invitationRecord } = recordOf<ShownInvitation>()({
  id: [t.String({ format: 'uuid' }), ({ uuid }) => uuid],
  role_id: [
    nullable(integer(), { description: 'The role of accounts that it opens; null: the usual one' }),
    ({ roleId }) => roleId,
  ],
  role: [nullable(t.String(), { examples: ['editor'] }), ({ role }) => role],
  groups: [t.Array(t.String(), { examples: [['staff']] }), ({ groups }) => groups],
  domain: [
    nullable(t.String(), {
      description: 'The account must have a verified e-mail address of this domain',
      examples: ['example.com'],
    }),
    ({ domain }) => domain,
  ],
  uses: [integer({ description: 'How often it can be used in all' }), ({ uses }) => uses],
  used: [integer({ description: 'How often it was used' }), ({ used }) => used],
  note: [nullable(t.String(), { examples: ['spring course'] }), ({ note }) => note],
  created_at: [timeField(), ({ createdAt }) => iso(createdAt)],
  expires_at: [timeField(), ({ expiresAt }) => iso(expiresAt)],
  revoked_at: [nullable(timeField()), ({ revokedAt }) => isoOrNull(revokedAt)],
  created_by: [
    t.Object({
      type: t.String({ enum: ['operator', 'administrator', 'token'] }),
      id: nullable(t.String()),
      name: nullable(t.String()),
    }),
    (shown) => ({ type: shown.creatorType, id: shown.creatorId, name: shown.creatorName }),
  ],
})
const invitation = namedObject('Invitation', fields, 'An invitation, without its code.')

export type InvitationRecord = ReturnType<typeof invitationRecord>

const createdAnswer = answer(
  'InvitationCreated',
  {
    code: nullable(t.String(), {
      description: 'Shown once; null when a call is repeated with its `Idempotency-Key`',
      examples: ['7K3M-9QWX-2T4V-H8ZN'],
    }),
    link: nullable(t.String(), { description: 'To the page that takes it; null where there is none' }),
    ...fields,
  },
  'The invitation, whose code is shown only here.',
  201,
)

const invitationsAnswer = listAnswer(
  'InvitationPage',
  invitation,
  'One page of invitations, newest first, until 30 days after they expired.',
)

const revokedAnswer = answer('InvitationRevoked', {}, 'Nobody uses it from now on.')

const body = t.Object({
  role_id: optionalField(roleField()),
  groups: optionalField(t.Array(t.String({ maxLength: 64 }), { maxItems: 32, examples: [['staff']] })),
  domain: optionalField(t.String({ maxLength: 253, examples: ['example.com'] })),
  uses: t.Optional(integer({ ...invitationBounds.uses, description: 'Default: 1' })),
  expires_in: t.Optional(
    integer({
      ...invitationBounds.lifetimeSeconds,
      description: 'Seconds; a year at most. Default: seven days',
      examples: [604_800],
    }),
  ),
  note: optionalField(t.String({ maxLength: 500, examples: ['spring course'] })),
})

export function createInvitationRoutes(base: AdminBase, once: Once, invitations: InvitationService) {
  return new Elysia({ name: 'invitations', prefix: '/admin/v1' })
    .use(base)
    .get(
      '/invitations',
      async ({ query }) => success(recordsOf(await invitations.list(query), invitationRecord)),
      {
        query: t.Object(pageQuery),
        response: { 200: invitationsAnswer, ...errorResponses('validation_failed') },
        detail: detail('listInvitations', 'List the invitations', 'With how often each was used.'),
      },
    )
    .post(
      '/invitations',
      async ({ body, caller, headers, path, status }) => {
        const answer = await once({
          ...{ headers, caller, path, body },
          async make(wanted) {
            const { role_id: roleId, expires_in: lifetimeSeconds } = body
            const wish = { ...body, roleId, lifetimeSeconds }
            const { code, link, invitation } = await invitations.create(caller, wish, wanted)
            const shown: { code: string | null; link: string | null } = { code, link }
            const answer = { status: 201 as const, ...shown, ...invitationRecord(invitation) }
            return { id: invitation.uuid, answer }
          },
          repeat: async (id) => ({
            status: 201 as const,
            code: null,
            link: null,
            ...invitationRecord(await invitations.get(id)),
          }),
        })
        return status(201, answer)
      },
      {
        body,
        response: { 201: createdAnswer, ...errorResponses('validation_failed', 'insufficient_scope') },
        detail: detail(
          'createInvitation',
          'Make an invitation',
          'For people who are not known by name. With a role or groups it also needs `accounts:write`.',
        ),
      },
    )
    .delete('/invitations/:id', async ({ params }) => done(invitations.revoke(params.id)), {
      response: { 200: revokedAnswer, ...errorResponses('invitation_not_found', 'insufficient_scope') },
      detail: detail('revokeInvitation', 'Revoke an invitation', 'Accounts that it opened stay.'),
    })
}
