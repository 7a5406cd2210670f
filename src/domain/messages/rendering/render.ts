/**
 * Turns a row of the outbox into the message that is sent, as text, HTML or SMS. In HTML every value and the code are
 * escaped. A value is inserted once and never read as a template, and cannot break a line.
 */
import { serviceName } from '../../../platform/config/service-name.ts'
import type { Config } from '../../../platform/config/types.ts'
import type { Catalog } from '../../../texts/catalog.ts'
import { writeDate } from '../../../texts/dates.ts'
import { type Language, textDirection } from '../../../texts/languages.ts'
import { createTemplates, type MessageFacts, type MessageTexts } from '../../../texts/messages.ts'
import { chosenName, oneLine } from '../../../texts/names.ts'
import { typographic } from '../../../texts/sentences.ts'
import type { Texts } from '../../../texts/texts.ts'
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

const purposes: ReadonlySet<string> = new Set(messagePurposes)

type RenderMessage = (message: PersonMessage, code: string | null, minutes: number) => RenderedMessage

/** The link of a message, made of its values when it is sent, so that the outbox holds none. */
export type LinkOf = (values: Record<string, string>) => string | null

/**
 * `minutes` is the lifetime of the code. Throws for a purpose that this version does not know; a language that the
 * catalog does not have is replaced by its default.
 */
export function createRenderer(
  config: Pick<Config, 'server' | 'smtp' | 'sms' | 'texts'> & Partial<Pick<Config, 'pages'>>,
  catalog: Catalog,
  linkOf: LinkOf = () => null,
): RenderMessage {
  const service = serviceName(config)
  const { autofillDomain } = config.sms
  const { logoUrl, colour, layoutHtml, support } = config.texts
  const look = { service, logoUrl, colour, layoutHtml }
  const pages = config.pages?.enabled ? config.server.baseUrl : null
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
      ...(channel === 'email' && namesOf(message, words.quotes)),
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
    const parts: EmailParts = {
      ...{ language, code, link, subject, greeting: typographic(words.greeting) },
      ...(code === null ? noticeParts(message, facts, words, pages) : codeParts(message, facts, words)),
    }
    return { ...common, subject, text: plainText(parts), html: emailHtml(parts, look) }
  }
}

type Words = ReturnType<typeof createLanguage>
type OwnParts = Pick<EmailParts, 'above' | 'validity' | 'facts' | 'below' | 'footer' | 'buttons'>

function codeParts(
  { purpose, codeGroup, createdAt }: PersonMessage,
  facts: MessageFacts,
  words: Words,
): OwnParts {
  const template = words.templates[purpose as MessagePurpose]
  const isProved = codeGroup !== 'stranger'
  const reason = words.reason(facts, !isProved || isToNewContact(purpose))
  const [validity = '', ...below] = template.below(facts, isProved).map(typographic)
  return {
    above: template.above(facts).map(typographic),
    validity,
    facts: circumstancesOf(createdAt, facts, words),
    below,
    footer: [words.footer(facts), reason].map(typographic),
    buttons: [],
  }
}

const circumstancesOf = (createdAt: Date, facts: MessageFacts, words: Words): EmailParts['facts'] =>
  words
    .circumstances(facts, dateIn(words.tag, createdAt))
    .map(([label, value]) => [typographic(label), typographic(value)])

/** What their links do, where they carry one. */
const actions: Partial<Record<string, keyof MessageTexts['actions']>> = {
  email_changed: 'undo',
  phone_changed: 'undo',
  email_removed: 'undo',
  phone_removed: 'undo',
  two_factor_removal: 'keep',
  invited: 'accept',
}

/** Where notices lead whose purpose begins so, with the page's own name. */
const pageNames: [start: string, path: string, name: keyof Texts['pages']][] = [
  ['account_unlocked', '/sign-in', 'sign_in'],
  ['passkey_', '/account/passkeys', 'passkeys'],
  ['authenticator_', '/account/two-factor', 'two_factor'],
  ['recovery_code', '/account/two-factor', 'two_factor'],
  ['two_factor_', '/account/two-factor', 'two_factor'],
  ['identity_', '/account/providers', 'providers'],
]

/** Their advice is another password, which they still change with that of before. */
const unsafe = /^(email|phone)_(changed|removed)$|^account_exported$|^second_factor_failed$/

/** The pages on which the advice of a notice without a link is followed; none where the account is gone. */
function pagesAfter(purpose: string, { review, reset, pages }: Words, at: string): EmailParts['buttons'] {
  const recover = { label: reset, href: `${at}/recover` }
  if (purpose === 'account_erased') return []
  if (purpose === 'account_exists') return [{ label: pages.sign_in, href: `${at}/sign-in` }, recover]
  // Nobody signs in with the password of before.
  if (purpose === 'contact_restored' || purpose === 'password_changed') return [recover]
  if (unsafe.test(purpose)) return [{ label: reset, href: `${at}/account/password` }]
  const [, path, name] = pageNames.find(([start]) => purpose.startsWith(start)) ?? []
  return [{ label: name ? pages[name] : review, href: `${at}${path ?? '/account/sessions'}` }]
}

/** `pages`: where the pages are; null: there are none. */
function noticeParts(
  { purpose, createdAt }: PersonMessage,
  facts: MessageFacts,
  words: Words,
  pages: string | null,
): OwnParts {
  const [what = '', ...advice] = words.templates[purpose as MessagePurpose].above(facts)
  const isForOperator = purpose.startsWith('operator_')
  const reason = words.reason(facts, purpose === 'invited')
  const leads = pages !== null && !isForOperator
  const action = actions[purpose]
  const after = leads ? pagesAfter(purpose, words, pages) : []
  const buttons = action && facts.link ? [{ label: words.actions[action], href: facts.link }] : after
  return {
    above: [typographic(what)],
    validity: null,
    facts: circumstancesOf(createdAt, facts, words),
    below: advice.map(typographic),
    footer: [words.footer(facts), ...(isForOperator ? [] : [reason])].map(typographic),
    buttons: buttons.map(({ label, href }) => ({ label: typographic(label), href })),
  }
}

/**
 * Prepares everything that the messages of a language are made of. A catalog that lacks the message of a purpose is a
 * type error here.
 */
function createLanguage(tag: Language, catalog: Catalog) {
  const all = catalog.of(tag)
  const texts: MessageTexts<SentCodePurpose, NoticePurpose> = all.messages
  const { messages: templates, ...shared } = createTemplates(texts, tag)
  return {
    tag,
    greeting: texts.greeting,
    review: texts.review,
    reset: texts.reset,
    actions: texts.actions,
    pages: all.pages,
    quotes: quotesOf(texts, tag),
    templates,
    ...shared,
  }
}

/** From right to left, a name in other letters is isolated: else its brackets would turn towards the sentence. */
function quotesOf({ quotes: [open = '"', close = '"'] }: MessageTexts, tag: Language): [string, string] {
  return textDirection(tag) === 'rtl' ? [`${open}\u2068`, `\u2069${close}`] : [open, close]
}

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
  [open = '"', close = '"']: readonly string[],
): Pick<MessageFacts, 'device' | 'passkey'> {
  const device = chosenName(values.device ?? '')
  const passkey = chosenName(values.passkey ?? '')
  return {
    ...(device && { device: `${open}${device}${close}` }),
    ...(passkey && { passkey: `${open}${passkey}${close}` }),
  }
}
