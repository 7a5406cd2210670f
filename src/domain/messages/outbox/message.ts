/** A message that waits in the outbox. It never holds a code: the worker derives it from the seed when it sends. */
import type { Language } from '../../../texts/languages.ts'
import type { CallerGroup } from '../../foundation/limits/callers.ts'
import { type SentCodePurpose, sentCodePurposes } from '../codes/store.ts'

/** The ways by which a message reaches a person. */
export type Channel = 'email' | 'sms'

/** A message by `application` tells an application that a session of it ended; its destination is the application's id. */
export type OutboxChannel = Channel | 'application'
export const outboxChannels = ['email', 'sms', 'application'] as const satisfies OutboxChannel[]

/** These go to the operator, and are about no account. */
const operatorPurposes = [
  'operator_prefix_closed',
  'operator_wrong_codes',
  'operator_pool_dry',
  'operator_gateway_suspended',
  'operator_removal_stopped',
  'operator_claim_missing',
  'operator_access_granted',
  'operator_accounts_exported',
  'operator_webhook_away',
  'operator_webhook_given_up',
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
  'two_factor_kept',
  'account_exported',
  'new_device',
  'contact_restored',
  'invited',
  ...operatorPurposes,
] as const
export type NoticePurpose = (typeof noticePurposes)[number]
export const messagePurposes = [...sentCodePurposes, ...noticePurposes] as const
export type MessagePurpose = (typeof messagePurposes)[number]

/** Codes to a contact that is not the account's yet, and may be anybody's. */
export const isToNewContact = (purpose: string): boolean =>
  purpose === 'email_change' || purpose === 'phone_change'

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

/** The lanes of the outbox, by number: column `lane`. Messages of strangers never delay those that owners wait for. */
export const LANES = { owner: 0, password: 0, stranger: 1 }
/** Messages to nobody, which are deleted. */
export const DECOYS_LANE = 2

export const isCausedByStranger = ({ lane }: { lane: number }): boolean => lane === LANES.stranger
