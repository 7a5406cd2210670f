/**
 * The messages that people receive by e-mail and SMS, as a language writes them, and how its sentences become a
 * template. Everything is plain text: the renderer lays it out, escapes it for HTML and adds the code. A value is
 * inserted as it is and is never read as a template again.
 */
export interface MessageFacts {
  /** The sender's name, or the host of the service. */
  service: string
  /** The lifetime of the code; 0 in a message without one. */
  minutes: number
  /** The following belong to some messages only, and each of them may be missing. The device is in quotation marks. */
  device?: string
  provider?: string
  /** The name of a passkey, in quotation marks. */
  passkey?: string
  /** The number of recovery codes that are left. */
  left?: string
  /** What a reset took from the account: `email`, `phone`, `passkey`, or `identity` and the name of its provider. */
  removed?: string[]
}

export interface MessageTemplate {
  subject(facts: MessageFacts): string
  /** Paragraphs of the e-mail, above and below the code if there is one. */
  above(facts: MessageFacts): string[]
  below(facts: MessageFacts): string[]
  /**
   * One line, in GSM 03.38 characters where the language allows it: a single other character reduces the length of an
   * SMS from 160 to 70.
   */
  sms(facts: MessageFacts, code: string): string
}

/** The parts of a code message that differ from one purpose to the next; they end just before the service's name. */
export interface CodeWords {
  subject: string
  purpose: string
  smsPurpose: string
}

export interface NoticeSentences {
  subject(facts: MessageFacts): string
  paragraphs(facts: MessageFacts): string[]
  sms(facts: MessageFacts): string
}

export interface MessageTexts<Code extends string, Notice extends string> {
  greeting: string
  /** The quotation marks, opening and closing. */
  quotes: [string, string]
  /** The last paragraph of a notice by e-mail: when it happened and, if it is known, on which device. */
  circumstances(facts: MessageFacts, date: string): string
  /** The last line of every e-mail. */
  footer(facts: MessageFacts): string
  /** The sentences that all code messages share. */
  codeFrame: {
    subject(words: CodeWords, facts: MessageFacts): string
    above(words: CodeWords, facts: MessageFacts): string[]
    below(facts: MessageFacts): string[]
    sms(words: CodeWords, facts: MessageFacts, code: string): string
  }
  /** A notice by SMS: the name of the service, then the sentence. */
  smsNotice(facts: MessageFacts, sentence: string): string
  codes: Record<Code, CodeWords>
  notices: Record<Notice, NoticeSentences>
}

/** One template for each purpose. */
export function createTemplates<Code extends string, Notice extends string>({
  codeFrame,
  smsNotice,
  codes,
  notices,
}: MessageTexts<Code, Notice>): Record<Code | Notice, MessageTemplate> {
  const ofCode = (words: CodeWords): MessageTemplate => ({
    subject: (facts) => codeFrame.subject(words, facts),
    above: (facts) => codeFrame.above(words, facts),
    below: codeFrame.below,
    sms: (facts, code) => codeFrame.sms(words, facts, code),
  })
  const ofNotice = ({ subject, paragraphs, sms }: NoticeSentences): MessageTemplate => ({
    subject,
    above: paragraphs,
    below: () => [],
    sms: (facts) => smsNotice(facts, sms(facts)),
  })
  return { ...mapValues(codes, ofCode), ...mapValues(notices, ofNotice) }
}

function mapValues<Key extends string, From, To>(
  from: Record<Key, From>,
  convert: (value: From) => To,
): Record<Key, To> {
  const entries = Object.entries<From>(from).map(([key, value]) => [key, convert(value)])
  return Object.fromEntries(entries) as Record<Key, To>
}
