/** The answer of an operation that sent a code, for those operations whose answer says more than a sentence. */
import { t } from 'elysia'
import { created } from '../../../platform/http/answers.ts'
import { component } from '../../../platform/http/components.ts'
import { integer } from '../../../platform/http/schemas.ts'
import { maskDestination } from '../../foundation/identifiers/mask.ts'
import type { Channel } from '../../messages/outbox/message.ts'

/** The code that was sent. Where nobody proved who they are, it is what would hold if there is an account. */
export interface SentCode {
  channel: Channel
  /** The contact to which it went; null if the caller named it, or proved nothing. */
  destination: string | null
  expiresInSeconds: number
  /** The wait until this caller's counters admit another one. */
  resendAfterSeconds: number
}

const sentCodeFields = {
  channel: t.Union([t.Literal('email'), t.Literal('sms')], { description: 'How the code is sent' }),
  expires_in: integer({ description: 'How long the code is valid, in seconds', examples: [600] }),
  resend_after: integer({
    description: 'The same call again sends another code after this many seconds; 0: at once',
    examples: [0],
  }),
  sent_to: t.Optional(
    t.String({
      description: 'The masked contact of the account, where the call named none and proved who calls',
      examples: ['a•••@example.com'],
    }),
  ),
}

const base = { status: t.Literal(201), message: t.String({ examples: ['A code is on its way.'] }) }

export const sentCodeAnswer = component(
  'CodeSent',
  t.Object({ ...base, ...sentCodeFields }, { description: 'A code is on its way.' }),
)

export const requestedCodeAnswer = component(
  'CodeRequested',
  t.Object(
    { ...base, ...t.Partial(t.Object(sentCodeFields)).properties },
    {
      description: 'Accepted. Only with a valid `login_token` or access token more than `message` is there.',
    },
  ),
)

export function sentCode(message: string, sent: SentCode) {
  const { channel, destination, expiresInSeconds, resendAfterSeconds } = sent
  return created({
    message,
    channel,
    expires_in: expiresInSeconds,
    resend_after: resendAfterSeconds,
    ...(destination !== null && { sent_to: maskDestination(destination) }),
  })
}
