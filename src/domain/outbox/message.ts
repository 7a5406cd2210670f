/** A message that waits in the outbox. It never holds a code: the worker derives it from the seed when it sends. */
import type { Language } from '../../texts/languages.ts'
import type { SentCodePurpose } from '../codes/store.ts'
import type { CallerGroup } from '../limits/callers.ts'

export type Channel = 'email' | 'sms'

/** To the operator, and about no account. */
export const operatorPurposes = [
  'operator_prefix_closed',
  'operator_wrong_codes',
  'operator_gateway_suspended',
  'operator_removal_stopped',
] as const
export type OperatorPurpose = (typeof operatorPurposes)[number]

/** Messages that carry a code are named as the code's purpose; the others tell the owner that something happened. */
export const noticePurposes = [
  'account_exists',
  'password_changed',
  'email_changed',
  'phone_changed',
  'email_removed',
  'phone_removed',
  'contact_claimed',
  'account_erased',
  'two_factor_enabled',
  'two_factor_disabled',
  'authenticator_changed',
  'recovery_code_used',
  'recovery_codes_replaced',
  'authenticator_lost',
  'refresh_token_reused',
  'second_factor_failed',
  'identity_linked',
  'passkey_added',
  'passkey_removed',
  'passkey_copied',
  'identity_unlinked',
  'account_unlocked',
  'recovery_created',
  'two_factor_removal',
  'account_exported',
  'new_device',
  'contact_restored',
  ...operatorPurposes,
] as const
export type NoticePurpose = (typeof noticePurposes)[number]
export type MessagePurpose = SentCodePurpose | NoticePurpose

export interface NewMessage {
  channel: Channel
  destination: string
  purpose: MessagePurpose
  language: Language
  /** Fills the template; plain text, escaped for HTML by the renderer. */
  values?: Record<string, string>
  code?: { subject: string; purpose: SentCodePurpose; group: CallerGroup; seed: Uint8Array }
  /** The account a notice is about, for the log; a code has it as its subject. */
  accountUuid?: string
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
  /** The lifetime of the code that is left, in minutes; 0 without one. */
  minutes: number
}

/**
 * The result of sending one message. `refused` is final, `failed` is tried again. `detail` names the gateway or a cause
 * code, never the destination or the text.
 */
export interface SendOutcome {
  outcome: 'sent' | 'refused' | 'failed'
  detail: string
  /** What the server said, or why TLS failed, without personal data. For the log. */
  reason?: string
  /** The servers and gateways that did not take the message, also where another one took it afterwards. */
  refusals?: Refusal[]
  /** A mail server says that this address does not exist or takes nothing. */
  isAddressRefused?: boolean
  /** The gateway that took an SMS, and the id it gave to it. */
  gateway?: string
  providerId?: string
}

export interface Refusal {
  gateway: string
  outcome: 'refused' | 'failed'
  detail: string
  reason?: string
}

export interface MessageSender {
  send(message: RenderedMessage): Promise<SendOutcome>
  close(): Promise<void>
}
