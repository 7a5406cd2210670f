/**
 * From a row of the outbox to what goes out: text, HTML, SMS. Promises: every value and the code are escaped in HTML;
 * a value is written once and never read as a template; nothing in it breaks a line.
 */
import type { Config, Language } from '../../platform/config/types.ts'
import type { MessageFacts, MessageFrame, MessageTemplate } from '../../texts/message-template.ts'
import * as en from '../../texts/messages-en.ts'
import * as fr from '../../texts/messages-fr.ts'
import { codePurposes } from '../codes/store.ts'
import { type EmailParts, html, plainText } from './email-layout.ts'
import { type MessagePurpose, noticePurposes, type RenderedMessage } from './message.ts'
import type { QueuedMessage } from './store.ts'

/** A purpose or a language without its sentences is a type error here. */
const texts: Record<Language, { frame: MessageFrame; messages: Record<MessagePurpose, MessageTemplate> }> = {
  fr,
  en,
}

const purposes: ReadonlySet<string> = new Set([...codePurposes, ...noticePurposes])

export type RenderMessage = (message: QueuedMessage, code: string | null, minutes: number) => RenderedMessage

/**
 * `minutes`: how long the code will live. Throws for a purpose this version does not know; an unknown language is the
 * service's own.
 */
export function createRenderer(config: Pick<Config, 'server' | 'smtp'>): RenderMessage {
  const service = serviceName(config)
  const boundHost = webOtpHost(config.server.baseUrl)
  return (message, code, minutes) => {
    const { id, channel, destination: to } = message
    if (!purposes.has(message.purpose)) throw new Error('unknown message purpose')
    const purpose = message.purpose as MessagePurpose
    const language = Object.hasOwn(texts, message.language)
      ? (message.language as Language)
      : config.server.language
    const { frame, messages } = texts[language]
    const template = messages[purpose]
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
      above: [frame.greeting, ...template.above(facts)],
      code,
      below: template.below(facts),
      footer: frame.footer(facts),
    }
    return { ...common, subject: parts.subject, text: plainText(parts), html: html(parts) }
  }
}

/** The name the operator's e-mail is sent under, else the public host, else the product's. */
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
