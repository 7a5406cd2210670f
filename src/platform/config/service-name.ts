/** The name of the service in messages, in authenticator apps and on pages. */
import { oneLine } from '../../texts/one-line.ts'
import { parseMailbox } from './mailbox.ts'
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
