/** A message that waits in the outbox. It never holds a code: the worker derives it from the seed when it sends. */
import type { Language } from '../../texts/languages.ts'
import type { CodePurpose } from '../codes/store.ts'
import type { CallerGroup } from '../limits/callers.ts'

export type Channel = 'email' | 'sms'

/** Messages that carry a code are named as the code's purpose; the others tell the owner that something happened. */
export const noticePurposes = [
  'account_exists',
  'password_changed',
  'email_changed',
  'phone_changed',
  'contact_claimed',
  'two_factor_enabled',
  'two_factor_disabled',
  'authenticator_changed',
  'recovery_code_used',
  'refresh_token_reused',
  'identity_linked',
] as const
export type NoticePurpose = (typeof noticePurposes)[number]
export type MessagePurpose = CodePurpose | NoticePurpose

/**
 * The destination of a message to nobody, queued where an identifier has no account: the worker does with it all it
 * does with others, sends nothing and removes it, so that what follows an answer does not tell either.
 */
export const NOBODY = ''

export interface NewMessage {
  channel: Channel
  destination: string
  purpose: MessagePurpose
  language: Language
  /** Fills the template; plain text, escaped for HTML by the renderer. */
  values?: Record<string, string>
  code?: { subject: string; purpose: CodePurpose; group: CallerGroup; seed: Uint8Array }
}

/** What goes out. */
export interface RenderedMessage {
  id: number
  channel: Channel
  to: string
  purpose: MessagePurpose
  language: Language
  /** Empty for an SMS. */
  subject: string
  text: string
  html: string | null
  code: string | null
}

/**
 * How a message leaves. `refused` is final (SMTP 5xx, gateway 4xx); `failed` is tried again. `detail` names the
 * gateway or a cause code, never the destination or the text.
 */
export type SendOutcome = { outcome: 'sent' | 'refused' | 'failed'; detail: string }

export interface MessageSender {
  send(message: RenderedMessage): Promise<SendOutcome>
  close(): Promise<void>
}
