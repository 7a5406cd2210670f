/** Asks the mail servers, or the gateways, for one message: each in its turn, until one takes it. */
import type { Refusal, SendOutcome } from './sender.ts'

interface Asked {
  name: string
  result: SendOutcome
}

/**
 * A server that may have taken the message is followed by one more attempt at most: of the next server, where the first
 * follows the last, so that a single one is asked again.
 */
export async function askInTurn<Server extends { name: string }>(
  servers: Server[],
  ask: (server: Server) => Promise<SendOutcome>,
): Promise<Asked[]> {
  const asked: Asked[] = []
  let attempts = servers.length
  let mayBeTaken = false
  for (let i = 0; i < attempts; i++) {
    const server = servers[i % servers.length] as Server
    const result = await ask(server)
    asked.push({ name: server.name, result })
    if (result.outcome === 'sent') break
    if (result.mayBeTaken && !mayBeTaken) {
      mayBeTaken = true
      attempts = i + 2
    }
  }
  return asked
}

/** Returns the answers of those that did not take it. */
export const refusalsIn = (asked: Asked[]): Refusal[] =>
  asked.flatMap(({ name, result: { outcome, mayBeTaken, detail, reason } }) =>
    outcome === 'sent'
      ? []
      : [{ gateway: name, outcome: mayBeTaken ? 'unknown' : outcome, detail, ...(reason ? { reason } : {}) }],
  )
