/**
 * The messages that people receive by e-mail and SMS, as a language writes them: plain sentences with placeholders. The
 * renderer lays them out, escapes them for HTML and adds the code.
 *
 * - `{service}` inserts a value. It is inserted as it is and is never read as a template again.
 * - `[, {passkey}]` is left out where one of its values is missing; `[your {provider} account|an account elsewhere]`
 *   then says what follows the bar.
 * - `{{` and `[[` are a brace and a bracket. A paragraph of which nothing is left is no paragraph.
 */
import { nameOfProvider } from './names.ts'
import { inSmsLetters } from './sms-length.ts'
import { compileTemplate } from './template.ts'

export interface MessageFacts {
  /** The sender's name, or the host of the service. */
  service: string
  /** The lifetime of the code; 0 in a message without one. */
  minutes: number
  /** The following belong to some messages only, and each of them may be missing. The device is in quotation marks, and SMS have none. */
  device?: string
  /** The address of the person who caused the notice. */
  address?: string
  provider?: string
  /** The name of a passkey, in quotation marks, in e-mails alone. */
  passkey?: string
  /** The subject of a message to the operator: a gateway, the beginning of numbers. */
  about?: string
  /** The link to a page of the service. */
  link?: string
  /** People reach those who run the service there: an e-mail address or a link. */
  support?: string
  /** The address of the service, and the one to which the e-mail goes, which its plain part leaves out. */
  host?: string
  recipient?: string
  /** The number of recovery codes that are left. */
  left?: string
  /**
   * The contacts and ways to sign in that a reset or an undo took from the account: `email`, `phone`, `passkey`, or
   * `identity` and the name of its provider.
   */
  removed?: string[]
}

/** A message with the values of one moment filled in. */
export interface MessageTemplate {
  subject(facts: MessageFacts): string
  /** Paragraphs of the e-mail, above and below the code if there is one. */
  above(facts: MessageFacts): string[]
  /** `isProved`: the code was asked for with the right password, in a session or by an administrator. */
  below(facts: MessageFacts, isProved: boolean): string[]
  sms(facts: MessageFacts, code: string): string
}

interface MessageText {
  subject: string
  /** The paragraphs; those of a code stand above it. */
  email: readonly string[]
  /**
   * One line, in GSM 03.38 characters where the language allows it: a single other character reduces the length of an
   * SMS from 160 to 70.
   */
  sms: string
}

/** A phrase for each plural category that the language has (https://cldr.unicode.org/index/cldr-spec/plural-rules). */
type PluralText = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }

export interface MessageTexts<Code extends string = string, Notice extends string = string> {
  greeting: string
  /** The quotation marks, opening and closing. */
  quotes: readonly string[]
  /** The facts of an e-mail: when it happened and, if they are known, the device and the address. */
  circumstances: string
  /** The last line of every e-mail. */
  footer: string
  /** Why an e-mail came: somebody entered the address, or an account has it. */
  reasons: Record<'entered' | 'owned', string>
  /** The button of the other notices, which leads to one's own account. */
  review: string
  /** The button where the password does not work any more, which leads to a new one. */
  reset: string
  /**
   * The buttons of notices whose link does something, undo a change, keep two factors on, accept an invitation, and the one
   * that leads the operator to the page of administration.
   */
  actions: Record<'undo' | 'keep' | 'accept' | 'administer', string>
  /** For how long a code is good stands right under it; the other paragraphs follow below the facts. */
  below_code: readonly string[]
  /**
   * These replace what follows the first paragraph below a code that was asked for with the right password, in a session or
   * by an administrator. If the owner did not ask for it, somebody else has got that far.
   */
  unasked: Record<'two_factor' | 'step_up' | 'recovery' | 'invitation', string>
  /** `{duration}`, from `{minutes}`. */
  duration: PluralText
  /** The items of `{removed}`. */
  removed: Record<'email' | 'phone' | 'passkey' | 'identity', string>
  codes: Record<Code, MessageText>
  notices: Record<Notice, MessageText>
}

interface MessageTemplates<Purpose extends string> {
  messages: Record<Purpose, MessageTemplate>
  footer(facts: MessageFacts): string
  /** When it happened, on which device and from which address: each with its label. */
  circumstances(facts: MessageFacts, date: string): [label: string, value: string][]
  /** Why it came, and whom to ask. */
  reasons: Record<keyof MessageTexts['reasons'], (facts: MessageFacts) => string>
}

/** "When: 1 May." is a label and a value. */
function labelled(sentence: string): [label: string, value: string] {
  const [, label = '', value = ''] = /^([^:]*:)?\s*(.*?)\.?$/s.exec(sentence.trim()) ?? []
  return [label, value]
}

/** One template for each purpose. `tag` is the language by whose rules a number takes its plural. */
export function createTemplates<Code extends string, Notice extends string>(
  texts: MessageTexts<Code, Notice>,
  tag: string,
): MessageTemplates<Code | Notice> {
  const durationOf = createDurations(texts.duration, tag)
  const valuesOf = createValues(texts, tag, durationOf)
  const compile = (text: string) => {
    const fill = compileTemplate(text)
    return (facts: MessageFacts, more: Record<string, string> = {}) => fill({ ...valuesOf(facts), ...more })
  }
  const compileParagraphs = (paragraphs: readonly string[]) => {
    const fills = paragraphs.map(compile)
    return (facts: MessageFacts) => fills.map((fill) => fill(facts)).filter((paragraph) => paragraph !== '')
  }
  const belowCode = compileParagraphs(texts.below_code)
  const unasked = new Map(Object.entries(texts.unasked).map(([purpose, text]) => [purpose, compile(text)]))
  const belowCodeOf =
    (purpose: string): MessageTemplate['below'] =>
    (facts, isProved) => {
      const warning = isProved ? unasked.get(purpose) : undefined
      const paragraphs = belowCode(facts)
      return warning ? [...paragraphs.slice(0, 1), warning(facts)] : paragraphs
    }
  const templateOf = (
    { subject, email, sms }: MessageText,
    below: MessageTemplate['below'],
  ): MessageTemplate => {
    const fillSms = compile(sms)
    return {
      subject: compile(subject),
      above: compileParagraphs(email),
      below,
      sms: (facts, code) => fillSms(facts, { code, duration: inSmsLetters(durationOf(facts.minutes)) }),
    }
  }
  // Each fact is a sentence of its own, and all but the first may be missing.
  const circumstances = texts.circumstances.split(/(?=\[)/).map(compile)
  return {
    messages: {
      ...mapValues(texts.codes, (text, purpose) => templateOf(text, belowCodeOf(purpose))),
      ...mapValues(texts.notices, (text) => templateOf(text, () => [])),
    },
    footer: compile(texts.footer),
    circumstances: (facts, date) =>
      circumstances.map((fill) => labelled(fill(facts, { date }))).filter(([, value]) => value !== ''),
    reasons: mapValues(texts.reasons, (text) => compile(text)),
  }
}

function createValues({ removed }: MessageTexts, tag: string, durationOf: (minutes: number) => string) {
  const list = new Intl.ListFormat(tag)
  const items = mapValues(removed, (text) => compileTemplate(text))
  const nameOf = (item: string) => {
    const [kind = '', provider = ''] = item.split(' ', 2)
    return Object.hasOwn(items, kind)
      ? items[kind as keyof typeof items]({ provider: nameOfProvider(provider) })
      : item
  }
  return ({ minutes, removed: taken, provider, ...facts }: MessageFacts): Record<string, string> => ({
    ...facts,
    ...(provider && { provider: nameOfProvider(provider) }),
    minutes: String(minutes),
    duration: durationOf(minutes),
    ...(taken && { removed: list.format(taken.map(nameOf)) }),
  })
}

function createDurations(duration: PluralText, tag: string): (minutes: number) => string {
  const plurals = new Intl.PluralRules(tag)
  const forms = mapValues(duration as Record<Intl.LDMLPluralRule, string>, (text) => compileTemplate(text))
  return (minutes) =>
    longDuration(minutes, tag) ??
    (forms[plurals.select(minutes)] ?? forms.other)({ minutes: String(minutes) })
}

const LONG_MINUTES = 120
const DAY_MINUTES = 1440

/** Counts whole hours, from two days on whole days. It is null where people count in minutes. */
function longDuration(minutes: number, tag: string): string | null {
  if (minutes < LONG_MINUTES) return null
  const unit = minutes < 2 * DAY_MINUTES ? 'hour' : 'day'
  const count = Math.floor(minutes / (unit === 'hour' ? 60 : DAY_MINUTES))
  return new Intl.NumberFormat(`${tag}-u-nu-latn`, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}

function mapValues<Key extends string, From, To>(
  from: Record<Key, From>,
  convert: (value: From, key: string) => To,
): Record<Key, To> {
  const entries = Object.entries<From>(from).map(([key, value]) => [key, convert(value, key)])
  return Object.fromEntries(entries) as Record<Key, To>
}
