/** Sends e-mail by the configured mail server, or by a fallback server when it does not accept the message. */
import { readFileSync } from 'node:fs'
import type { Clock } from '../../../platform/clock.ts'
import type { Config, SmtpServerConfig } from '../../../platform/config/types.ts'
import { createBreaker } from '../senders/breaker.ts'
import type { MessageSender, Refusal, SendOutcome, Trace } from '../senders/sender.ts'
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
      const refusals: Refusal[] = []
      let last: SendOutcome | null = null
      for (const { name, server, sender } of breaker.order(servers)) {
        trace?.('server', `${name}, ${server.host}:${server.port}, security ${server.security}`)
        const result = await sender.send(message)
        const isTaken = result.outcome === 'sent'
        trace?.('reply', isTaken ? 'it took the message' : `${result.detail} ${result.reason ?? ''}`)
        breaker.note(name, result.outcome !== 'failed')
        if (result.outcome === 'sent') return { ...result, detail: name, refusals }
        // One that may take it later counts more than one that never will.
        if (last?.outcome !== 'failed') last = result
        const { outcome, detail, reason } = result
        if (servers.length > 1)
          refusals.push({ gateway: name, outcome, detail, ...(reason ? { reason } : {}) })
      }
      return { ...(last as SendOutcome), refusals }
    },
    async close() {
      await Promise.all(servers.map(({ sender }) => sender.close()))
    },
  }
}
