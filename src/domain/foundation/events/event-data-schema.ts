/**
 * The details of events. Every event is written in this form and described by it. A field keeps its name and type for
 * good, since stored events and replicas of other versions have it, too.
 */
import type { TUnsafe } from '@sinclair/typebox'
import { type Static, t } from 'elysia'
import { integer, nullable } from '../../../platform/http/schemas.ts'

const text = (description: string) => t.Optional(t.String({ description }))
const texts = (description: string) => t.Optional(t.Array(t.String(), { description }))
const number = (description: string) => t.Optional(integer({ description }))
const yes = (description: string) => t.Optional(t.Boolean({ description }))
const time = (description: string) => t.Optional(t.String({ description, format: 'date-time' }))
// Only described, not checked: a replica of a later version may have written another value.
const oneOf = <Value extends string>(values: Value[], description: string) =>
  t.Optional(t.String({ enum: values, description }) as unknown as TUnsafe<Value>)

/** The causes by which a session ends before its time. The trigger `end_sessions_below` says `browser`. */
export const sessionEnds = [
  'sign_out',
  'sign_out_all',
  'password',
  'two_factor',
  'lock',
  'undo',
  'reuse',
  'too_many',
  'role',
  'application',
  'browser',
] as const
export type SessionEnd = (typeof sessionEnds)[number]

export const eventDataSchema = t.Object(
  {
    addresses: texts('The networks from which the token may come'),
    amr: texts('How the person was authenticated'),
    application: text('The application of the pages to which the session was handed over'),
    by: oneOf(['totp', 'passkey'], 'The factor that stopped the removal'),
    bytes: number('The size of the backup'),
    cause: text(`Why the session ended (${sessionEnds.join(', ')}), or why the backup failed`),
    channel: oneOf(['email', 'sms', 'application'], 'How the message was to be sent'),
    code: oneOf(['recovery', 'invitation'], 'The code of an administrator that reset the password'),
    contact: oneOf(['email', 'phone'], 'The kind of contact'),
    contacts: texts('The kinds of contacts of the new account'),
    count: number('How often it happened within the hour'),
    detail: t.Optional(nullable(t.String(), { description: 'Why the message was refused' })),
    domain: text('The domain of which a new account needs a verified address'),
    due_at: time('When the removal of two factors takes effect'),
    event: number('The only event that the webhook gets again'),
    events: number('How many events the webhook gets again'),
    expires_at: time('When the token, invitation, code or closing expires'),
    fields: texts('The fields that were changed'),
    file: t.Optional(nullable(t.String(), { description: 'The file of the backup; null: standard output' })),
    groups: texts('The groups of the invitation'),
    invitation: text('The id of the invitation'),
    kid: text('The id of the signing key'),
    made_at: time('When the restored backup was made'),
    message: number('The id of the message'),
    method: oneOf(['code', 'totp', 'passkey'], 'The factor with which two factors were turned on'),
    name: text('The name of the token'),
    passkey: text('The id of the passkey'),
    provider: text('The provider'),
    purpose: text('What the message was for'),
    remove_factors: yes('The code also removes the second factors'),
    replaced: yes('The restored database took the place of another one'),
    role: text('The role of the administrator'),
    prefix: text('What the telephone numbers begin with that were closed or opened'),
    reason: text('Why the prefix was closed'),
    role_id: number('The role of the accounts that the invitation opens'),
    rows: number('The rows in the backup'),
    scopes: texts('The scopes of the token'),
    sent_by: t.Optional(
      nullable(t.Union([t.Literal('email'), t.Literal('sms')]), {
        description: 'How the code was sent; null: the administrator was shown it',
      }),
    ),
    since: time('What happened from then on is told again'),
    stopped: oneOf(['two_factor_removal'], 'What was stopped before it took effect'),
    token: text('The id of the token of administration'),
    tokens_before: time('Access tokens of the account that were signed before it are refused'),
    uses: number('How often the invitation can be used'),
    verified: yes('An administrator says that the contact is verified'),
    warning: text('What was wrong with the backup, though it was made'),
    was: text('The role before'),
    webhook: text('The name of the webhook'),
  },
  {
    additionalProperties: true,
    description: 'Details, by the type of the event: docs/events.md. Later versions may add some',
  },
)

export type EventData = Static<typeof eventDataSchema>
