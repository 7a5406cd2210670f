/** Finds out whether an address asks for TLS where the server speaks none, or the other way round: neither side says so. */
import { createConnection } from 'node:net'
import { openTls } from '../open-socket.ts'
import type { Endpoint } from './endpoint.ts'

/** A server with TLS closes the connection at the first command in clear. */
const CLOSING = new Set(['ECONNRESET', 'EPROTO'])
/** One without takes the beginning of TLS for a part of a command, and waits for the rest of it. */
const WAITING = new Set(['ETIMEDOUT', 'TIMEOUT', 'CLOSED', ...CLOSING])
const ANSWER_MS = 1000

/** Returns a cause of its own, or null where TLS is not to blame. */
export async function findWrongTls({ host, port, tls }: Endpoint, cause: string): Promise<string | null> {
  if (tls !== undefined)
    return WAITING.has(cause) && (await answersInClear(host, port)) ? 'WITHOUT_TLS' : null
  if (!CLOSING.has(cause)) return null
  return openTls(host, port).then(
    () => 'NEEDS_TLS',
    () => null,
  )
}

/** A server that wants a password first answers too. */
function answersInClear(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port }, () => socket.write('PING\r\n'))
    const end = (answers: boolean) => {
      socket.destroy()
      resolve(answers)
    }
    socket.setTimeout(ANSWER_MS, () => end(false))
    socket.once('data', (said) => end(/^[+-]/.test(String(said))))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
