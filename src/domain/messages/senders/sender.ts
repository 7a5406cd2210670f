/** The input and the answer of every sender, whether a mail server or a gateway is behind it. */
import type { Language } from '../../../texts/languages.ts'
import type { Channel, MessagePurpose } from '../outbox/message.ts'

/** The message as it goes out. */
export interface RenderedMessage {
  id: number
  channel: Channel
  to: string
  purpose: MessagePurpose
  language: Language
  /** It is empty for an SMS. */
  subject: string
  text: string
  html: string | null
  code: string | null
  /** The lifetime of the code that is left, in minutes; 0 without one. */
  minutes: number
}

/**
 * The result of sending one message. `refused` is final, `failed` is tried again. `unknown` is final too: some server may
 * have taken it, and was followed by the one attempt that is allowed then. `detail` names the gateway or a cause code,
 * never the destination or the text.
 */
export interface SendOutcome {
  outcome: 'sent' | 'refused' | 'failed' | 'unknown'
  detail: string
  /** With `failed`: the whole message was written to this server, which gave no answer that can be read. */
  mayBeTaken?: boolean
  /** The reply of the server, or the reason why TLS failed, without personal data. It goes to the log. */
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
  outcome: 'refused' | 'failed' | 'unknown'
  detail: string
  reason?: string
}

export interface MessageSender {
  send(message: RenderedMessage): Promise<SendOutcome>
  /** Tells whether messages are late now, since no server or gateway could be reached. Absent: never. */
  isLate?(channel: Channel): boolean
  close(): Promise<void>
}

/** Hears each step of a sending as it happens, without secrets: for the commands that try a server. */
export type Trace = (step: string, text: string) => void
