/** Invitations: made, listed and revoked. */

import { Elysia, t } from 'elysia'
import { roleField } from '../../domain/accounts/core/set-fields.ts'
import { pageQuery } from '../../domain/foundation/events/event-schema.ts'
import { recordsOf } from '../../domain/foundation/events/page.ts'
import { answer, listAnswer, success } from '../../platform/http/answers.ts'
import { component, namedObject } from '../../platform/http/components.ts'
import { errorResponses } from '../../platform/http/error-responses.ts'
import { iso, isoOrNull, recordOf } from '../../platform/http/records.ts'
import { integer, nullable, optionalField, timeField } from '../../platform/http/schemas.ts'
import type { AdminBase } from '../access/access.ts'
import { detail, done } from '../access/operation-schema.ts'
import type { Once } from '../idempotency/service.ts'
import { type InvitationService, invitationBounds, type MailedLine, type ShownInvitation } from './service.ts'

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

/** The note of one that went by mail begins with the address. */
const addressOf = ({ note }: ShownInvitation): string => note?.split(' · ')[0] ?? ''

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
  emails: t.Optional(
    t.Array(t.String({ maxLength: 320 }), {
      minItems: 1,
      maxItems: 100,
      description:
        'An invitation for each goes there by mail, and no code is shown. An administrator or a token may send 200 a day',
      examples: [['ada@example.com', 'bob@example.com']],
    }),
  ),
})

const mailedAnswer = answer(
  'InvitationsMailed',
  {
    items: t.Array(
      t.Object({
        email: t.String({ examples: ['ada@example.com'] }),
        id: nullable(t.String({ format: 'uuid' })),
        expires_at: nullable(timeField()),
        refused: nullable(t.String({ enum: ['invalid_value', 'too_many_requests'] }), {
          description: 'Why it was not invited; null: the mail is on its way',
        }),
      }),
      { description: 'A line for each address, each once. A repeated call names those that were invited' },
    ),
  },
  'The addresses that were invited, and those that were not.',
  201,
)

const invitedAnswer = component(
  'InvitationAnswer',
  t.Union([createdAnswer, mailedAnswer], {
    description: 'The invitation, whose code is shown only here; with `emails` a line for each address.',
  }),
)

export interface MailedInvitation {
  email: string
  id: string | null
  expires_at: string | null
  refused: 'invalid_value' | 'too_many_requests' | null
}

const mailedRecord = (line: MailedLine): MailedInvitation =>
  'refused' in line
    ? { ...line, id: null, expires_at: null }
    : {
        email: line.email,
        id: line.invitation.uuid,
        expires_at: line.invitation.expiresAt.toISOString(),
        refused: null,
      }

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
        const { role_id: roleId, expires_in: lifetimeSeconds, emails } = body
        const wish = { ...body, roleId, lifetimeSeconds }
        if (emails !== undefined) {
          const mailed = await once({
            ...{ headers, caller, path, body },
            async make() {
              const items = (await invitations.mail(caller, wish, emails)).map(mailedRecord)
              const id = items.flatMap((item) => item.id ?? []).join(' ')
              return { id, answer: { status: 201 as const, items } }
            },
            async repeat(id) {
              const sent = await Promise.all(id.split(' ').filter(Boolean).map(invitations.get))
              const lines = sent.map((invitation) => ({ email: addressOf(invitation), invitation }))
              return { status: 201 as const, items: lines.map(mailedRecord) }
            },
          })
          return status(201, mailed)
        }
        const created = await once({
          ...{ headers, caller, path, body },
          async make(wanted) {
            const { code, link, invitation } = await invitations.create(caller, wish, wanted)
            const shown: { code: string | null; link: string | null } = { code, link }
            const record = invitationRecord(invitation)
            return { id: invitation.uuid, answer: { status: 201 as const, ...shown, ...record } }
          },
          repeat: async (id) => ({
            status: 201 as const,
            code: null,
            link: null,
            ...invitationRecord(await invitations.get(id)),
          }),
        })
        return status(201, created)
      },
      {
        body,
        response: {
          201: invitedAnswer,
          ...errorResponses('validation_failed', 'insufficient_scope', 'too_many_requests'),
        },
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
