/**
 * Turns a row of the outbox into the message that is sent, as text, HTML or SMS. In HTML every value and the code are
 * escaped. A value is inserted once and never read as a template, and cannot break a line.
 */
import { serviceName } from '../../../platform/config/service-name.ts'
import type { Config } from '../../../platform/config/types.ts'
import { brandTokens } from '../../../platform/look/colours.ts'
import { browserName } from '../../../texts/browser-name.ts'
import type { Catalog } from '../../../texts/catalog.ts'
import { writeDate } from '../../../texts/dates.ts'
import { type Language, textDirection } from '../../../texts/languages.ts'
import { createTemplates, type MessageFacts, type MessageTexts } from '../../../texts/messages.ts'
import { chosenName, oneLine } from '../../../texts/names.ts'
import { typographic } from '../../../texts/sentences.ts'
import type { SentCodePurpose } from '../codes/store.ts'
import {
  isToNewContact,
  type MessagePurpose,
  messagePurposes,
  type NoticePurpose,
} from '../outbox/message.ts'
import type { PersonMessage } from '../outbox/store.ts'
import type { RenderedMessage } from '../senders/sender.ts'
import { type EmailParts, emailHtml, plainText } from './email-layout.ts'
import { codeButtons, isForOperator, noticeButtons, type Origins } from './notice-buttons.ts'

const purposes: ReadonlySet<string> = new Set(messagePurposes)

type RenderMessage = (message: PersonMessage, code: string | null, minutes: number) => RenderedMessage

/** The link of a message, made of its values when it is sent, so that the outbox holds none. */
export type LinkOf = (values: Record<string, string>) => string | null

/**
 * `minutes` is the lifetime of the code. Throws for a purpose that this version does not know; a language that the
 * catalog does not have is replaced by its default.
 */
export function createRenderer(
  config: Pick<Config, 'server' | 'smtp' | 'sms' | 'texts'> & Partial<Pick<Config, 'pages' | 'admin'>>,
  catalog: Catalog,
  linkOf: LinkOf = () => null,
): RenderMessage {
  const service = serviceName(config)
  const { autofillDomain } = config.sms
  const { logoUrl, colour, layoutHtml, support } = config.texts
  // Once, not for each message: a colour that can be read on another is looked for.
  const look = { service, logoUrl, colour, layoutHtml, ...brandTokens(colour, 'light') }
  const origins = originsOf(config)
  const host = new URL(config.server.baseUrl).host
  const languages = new Map<Language, ReturnType<typeof createLanguage>>()
  const languageOf = (tag: Language) => languages.getOrInsertComputed(tag, () => createLanguage(tag, catalog))
  return (message, code, minutes) => {
    const { id, channel, destination: to } = message
    if (!purposes.has(message.purpose)) throw new Error('unknown message purpose')
    const purpose = message.purpose as MessagePurpose
    const language = catalog.has(message.language) ? message.language : catalog.language
    const words = languageOf(language)
    const template = words.templates[purpose]
    const link = linkOf(message.values)
    const facts = {
      ...factsOf(message),
      ...(channel === 'email' && { ...namesOf(message, words), host: words.isolated(host) }),
      ...(link !== null && { link }),
      ...(support !== null && { support }),
      service,
      minutes,
    }
    const common = { id, channel, to, purpose, language, code, minutes }
    if (channel === 'sms') {
      const sentence = template.sms(facts, code ?? '')
      // https://wicg.github.io/sms-one-time-codes/: the last line names the site on which the code is filled in.
      const bound = code !== null && autofillDomain !== null ? `\n\n@${autofillDomain} #${code}` : ''
      return { ...common, subject: '', text: sentence + bound, html: null }
    }
    const subject = typographic(template.subject(facts))
    const reason = reasonOf(message, code !== null)
    const parts: EmailParts = {
      ...{ language, code, link, subject, greeting: typographic(words.greeting) },
      facts: circumstancesOf(message.createdAt, facts, words),
      footer: footerOf(reason, facts, words),
      ...(code === null
        ? noticeParts(message, facts, words, origins)
        : codeParts(message, facts, words, origins)),
    }
    // A program that looks for six digits in the text must not find those of an address.
    const footer = footerOf(reason, { ...facts, recipient: words.isolated(to) }, words)
    return { ...common, subject, text: plainText(parts), html: emailHtml({ ...parts, footer }, look) }
  }
}

/** A link to administration is of use where browsers reach it by an address of its own; else it is on loopback only. */
function originsOf({ server, pages, admin }: Pick<Config, 'server'> & Partial<Config>): Origins {
  return {
    pages: pages?.enabled ? server.baseUrl : null,
    administration: admin?.listen ? admin.baseUrl : null,
  }
}

type Words = ReturnType<typeof createLanguage>
type Reason = keyof MessageTexts['reasons']
type OwnParts = Pick<EmailParts, 'above' | 'validity' | 'below' | 'buttons'>

function codeParts(
  { purpose, codeGroup }: PersonMessage,
  facts: MessageFacts,
  words: Words,
  origins: Origins,
): OwnParts {
  const template = words.templates[purpose as MessagePurpose]
  const [validity = '', ...below] = template.below(facts, codeGroup !== 'stranger').map(typographic)
  const buttons = codeButtons(purpose, words, origins)
  return { above: template.above(facts).map(typographic), validity, below, buttons }
}

function noticeParts(
  { purpose }: PersonMessage,
  facts: MessageFacts,
  words: Words,
  origins: Origins,
): OwnParts {
  const [what = '', ...advice] = words.templates[purpose as NoticePurpose].above(facts)
  const buttons = noticeButtons(purpose as NoticePurpose, facts, words, origins)
  return {
    above: [typographic(what)],
    validity: null,
    below: advice.map(typographic),
    buttons: buttons.map(({ label, href }) => ({ label: typographic(label), href })),
  }
}

const circumstancesOf = (createdAt: Date, facts: MessageFacts, words: Words): EmailParts['facts'] =>
  words
    .circumstances(facts, dateIn(words.tag, createdAt))
    .map(([label, value]) => [typographic(label), typographic(value)])

/** Why it came. The operator knows: the address stands in the configuration. */
function reasonOf({ purpose, codeGroup }: PersonMessage, hasCode: boolean): Reason | null {
  if (isForOperator(purpose as MessagePurpose)) return null
  const isEntered = hasCode ? codeGroup === 'stranger' || isToNewContact(purpose) : purpose === 'invited'
  return isEntered ? 'entered' : 'owned'
}

const footerOf = (reason: Reason | null, facts: MessageFacts, words: Words): string[] => [
  typographic(words.footer(facts)),
  ...(reason === null ? [] : [words.reasons[reason](facts)]),
]

/**
 * Prepares everything that the messages of a language are made of. A catalog that lacks the message of a purpose is a
 * type error here.
 */
function createLanguage(tag: Language, catalog: Catalog) {
  const all = catalog.of(tag)
  const texts: MessageTexts<SentCodePurpose, NoticePurpose> = all.messages
  const { entered, owned } = texts.reasons
  // Before they are filled: an apostrophe in an address stays what it is.
  const reasons = { entered: typographic(entered), owned: typographic(owned) }
  const { messages: templates, ...shared } = createTemplates({ ...texts, reasons }, tag)
  return {
    tag,
    greeting: texts.greeting,
    review: texts.review,
    reset: texts.reset,
    actions: texts.actions,
    pages: all.pages,
    quotes: texts.quotes,
    isolated: isolatedIn(tag),
    browserOn: all.pages.browser_on,
    templates,
    ...shared,
  }
}

/** From right to left, a name in other letters is isolated: else its brackets would turn towards the sentence. */
const isolatedIn = (tag: Language) => (name: string) =>
  textDirection(tag) === 'rtl' ? `\u2068${name}\u2069` : name

/** The reader's time zone is not known. */
function dateIn(language: Language, date: Date): string {
  // The digits of codes and numbers, also where a language has digits of its own.
  return `${writeDate(date, `${language}-u-nu-latn`, { dateStyle: 'long', timeStyle: 'short' })} UTC`
}

function factsOf({ values }: PersonMessage): Partial<MessageFacts> {
  const { about, address, provider, left, removed } = values
  return {
    ...(address ? { address: oneLine(address) } : {}),
    ...(about ? { about: oneLine(about) } : {}),
    ...(provider ? { provider: oneLine(provider) } : {}),
    ...(left ? { left: oneLine(left) } : {}),
    ...(removed ? { removed: removed.split('\n').map((one) => oneLine(one)) } : {}),
  }
}

/**
 * The holder of a session chose them, so they are cleaned and in quotation marks: they must not read as words of the
 * service. SMS have none.
 */
function namesOf(
  { values }: PersonMessage,
  { quotes: [open = '"', close = '"'], isolated, browserOn }: Words,
): Pick<MessageFacts, 'device' | 'passkey'> {
  const device = chosenName(values.device ?? '')
  const passkey = chosenName(values.passkey ?? '')
  return {
    ...(device && { device: `${open}${browserName(device, browserOn) ?? isolated(device)}${close}` }),
    ...(passkey && { passkey: `${open}${isolated(passkey)}${close}` }),
  }
}
