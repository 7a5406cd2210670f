/**
 * The form of the sentences of one message. All are plain text: the renderer lays them out and escapes them for HTML,
 * and writes the code itself. A value goes in as it is and is never read as a template again.
 */
export interface MessageFacts {
  /** Who writes: the sender's name, or the service's host. */
  service: string
  /** How long the code lives; 0 where there is none. */
  minutes: number
  /** Of the message, for those that use them; each may be missing. */
  device?: string
  provider?: string
  /** How many recovery codes are left. */
  left?: string
}

export interface MessageTemplate {
  subject(facts: MessageFacts): string
  /** Paragraphs of the e-mail, above and (where there is a code) below it. */
  above(facts: MessageFacts): string[]
  below(facts: MessageFacts): string[]
  /** One line, in GSM 03.38 characters where the language allows: one other letter halves an SMS to 70. */
  sms(facts: MessageFacts, code: string): string
}

/** The sentences that are not of one message. */
export interface MessageFrame {
  greeting: string
  /** The last line of each e-mail. */
  footer(facts: MessageFacts): string
}
