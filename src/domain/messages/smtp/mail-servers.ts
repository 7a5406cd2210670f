/** Sends e-mail by the configured mail server, or by a fallback server when it does not accept the message. */
import { readFileSync } from 'node:fs'
import type { Clock } from '../../../platform/clock.ts'
import type { Config, SmtpServerConfig } from '../../../platform/config/types.ts'
import { createBreaker } from '../senders/breaker.ts'
import { askInTurn, refusalsIn } from '../senders/in-turn.ts'
import type { MessageSender, Trace } from '../senders/sender.ts'
import { createSmtpSender } from './smtp.ts'

/** The mail servers by the names of their sections, in the order in which they are tried. */
export function createSmtpSenders({ smtp, server }: Pick<Config, 'smtp' | 'server'>, trace?: Trace) {
  if (smtp === null) return []
  return [smtp, ...smtp.fallback.map((fallback) => ({ ...smtp, ...fallback }))].map((each, index) => ({
    name: index === 0 ? 'smtp' : `smtp.fallback[${index - 1}]`,
    server: each as SmtpServerConfig,
    sender: createSmtpSender({
      smtp: each,
      baseUrl: server.baseUrl,
      ...(trace ? { trace } : {}),
      ...(each.caFile === null ? {} : { ca: readFileSync(each.caFile, 'utf8') }),
    }),
  }))
}

/** It returns null where no mail server is configured. */
export function createEmailSender(
  config: Pick<Config, 'smtp' | 'server'>,
  clock: Clock,
  trace?: Trace,
): MessageSender | null {
  const servers = createSmtpSenders(config, trace)
  if (servers.length === 0) return null
  const breaker = createBreaker(clock)
  return {
    async send(message) {
      const reference = crypto.randomUUID()
      const asked = await askInTurn(breaker.order(servers), async ({ name, server, sender }) => {
        trace?.('server', `${name}, ${server.host}:${server.port}, security ${server.security}`)
        const result = await sender.send(message, reference)
        const isTaken = result.outcome === 'sent'
        trace?.('reply', isTaken ? 'it took the message' : `${result.detail} ${result.reason ?? ''}`)
        breaker.note(name, result.outcome !== 'failed')
        return result
      })
      const refusals = asked.length > 1 || servers.length > 1 ? refusalsIn(asked) : []
      const { name, result } = asked.at(-1)!
      if (result.outcome === 'sent') return { ...result, detail: name, refusals }
      const results = asked.map(({ result }) => result)
      const unknown = results.find(({ mayBeTaken }) => mayBeTaken)
      if (unknown) return { ...unknown, outcome: 'unknown', refusals }
      // One that may take it later counts more than one that never will.
      return { ...(results.find(({ outcome }) => outcome === 'failed') ?? result), refusals }
    },
    async close() {
      await Promise.all(servers.map(({ sender }) => sender.close()))
    },
  }
}
