/** The name of the service in messages, in authenticator apps and on pages. */
import { oneLine } from '../../texts/names.ts'
import type { Config } from './types.ts'

/**
 * The configured name; without one the sender's name in the operator's e-mail address, the public host, or else the
 * product's name.
 */
export function serviceName({ server, smtp, texts }: Pick<Config, 'server' | 'smtp' | 'texts'>): string {
  if (texts.serviceName !== null) return oneLine(texts.serviceName)
  const sender = smtp && parseMailbox(smtp.from).name
  if (sender) return oneLine(sender)
  const host = new URL(server.baseUrl).hostname
  return /\.[a-z][a-z0-9-]*$/i.test(host) ? host : 'Poterne'
}

/** The two parts of `Display Name <name@host>`, as the configuration has it. */
export interface NamedAddress {
  /** Without its quotes; empty where there is none. */
  name: string
  address: string
}

/** Expects what `isMailbox` takes. The name is read here, since a reader of headers would take brackets in it for a comment. */
export function parseMailbox(text: string): NamedAddress {
  const [, name = '', address = text.trim()] = /^([^<]*)<([^<>]+)>\s*$/.exec(text) ?? []
  return {
    name: name
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .trim(),
    address,
  }
}
