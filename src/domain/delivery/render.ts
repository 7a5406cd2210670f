/**
 * Turns a row of the outbox into the message that is sent, as text, HTML or SMS. In HTML every value and the code are
 * escaped. A value is inserted once and never read as a template, and cannot break a line.
 */
import type { Config } from '../../platform/config/types.ts'
import { isLanguage, type Language, languages, languageTags } from '../../texts/languages.ts'
import {
  createTemplates,
  type MessageFacts,
  type MessageTemplate,
  type MessageTexts,
} from '../../texts/messages.ts'
import { type CodePurpose, codePurposes } from '../codes/store.ts'
import { type EmailParts, html, plainText } from './email-layout.ts'
import { type MessagePurpose, type NoticePurpose, noticePurposes, type RenderedMessage } from './message.ts'
import type { QueuedMessage } from './store.ts'

/** A language that lacks the message of a purpose is a type error here. */
const texts: Record<Language, { messages: MessageTexts<CodePurpose, NoticePurpose> }> = languages

const templates = Object.fromEntries(
  languageTags.map((language) => [language, createTemplates(texts[language].messages)]),
) as Record<Language, Record<MessagePurpose, MessageTemplate>>

const purposes: ReadonlySet<string> = new Set([...codePurposes, ...noticePurposes])

export type RenderMessage = (message: QueuedMessage, code: string | null, minutes: number) => RenderedMessage

/**
 * `minutes` is the lifetime of the code. Throws for a purpose that this version does not know; a language that it does
 * not know is replaced by the one of the configuration.
 */
export function createRenderer(config: Pick<Config, 'server' | 'smtp'>): RenderMessage {
  const service = serviceName(config)
  const boundHost = webOtpHost(config.server.baseUrl)
  return (message, code, minutes) => {
    const { id, channel, destination: to } = message
    if (!purposes.has(message.purpose)) throw new Error('unknown message purpose')
    const purpose = message.purpose as MessagePurpose
    const language = isLanguage(message.language) ? message.language : config.server.language
    const { greeting, footer } = texts[language].messages
    const template = templates[language][purpose]
    const facts = factsOf(message, { service, minutes })
    const common = { id, channel, to, purpose, language, code }
    if (channel === 'sms') {
      const sentence = template.sms(facts, code ?? '')
      // https://wicg.github.io/sms-one-time-codes/: bound to the host, on the last line.
      const bound = code !== null && boundHost !== null ? `\n\n@${boundHost} #${code}` : ''
      return { ...common, subject: '', text: sentence + bound, html: null }
    }
    const parts: EmailParts = {
      language,
      subject: template.subject(facts),
      above: [greeting, ...template.above(facts)],
      code,
      below: template.below(facts),
      footer: footer(facts),
    }
    return { ...common, subject: parts.subject, text: plainText(parts), html: html(parts) }
  }
}

/** The sender's name in the operator's e-mail address; without one the public host, or else the product's name. */
export function serviceName({ server, smtp }: Pick<Config, 'server' | 'smtp'>): string {
  const sender = smtp?.from
    .slice(0, Math.max(smtp.from.indexOf('<'), 0))
    .replaceAll('"', '')
    .trim()
  if (sender) return oneLine(sender)
  const host = new URL(server.baseUrl).hostname
  return /\.[a-z][a-z0-9-]*$/i.test(host) ? host : 'Poterne'
}

/** Browsers bind a code to a secure origin; the format has no place for a port. */
function webOtpHost(baseUrl: string): string | null {
  const { protocol, hostname } = new URL(baseUrl)
  return protocol === 'https:' ? hostname : null
}

function factsOf({ values }: QueuedMessage, facts: { service: string; minutes: number }): MessageFacts {
  const { device, provider, left } = values
  return {
    ...facts,
    ...(device ? { device: oneLine(device) } : {}),
    ...(provider ? { provider: oneLine(provider) } : {}),
    ...(left ? { left: oneLine(left) } : {}),
  }
}

/** Neither line breaks nor invisible direction marks, and no longer than a name is. */
function oneLine(value: string): string {
  const flat = value.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ').trim()
  return [...flat].slice(0, 60).join('')
}
