/** Connects to a host and closes again, without a byte of any protocol beyond TLS. */
import { createConnection, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'

const TIMEOUT_MS = 5000

interface Opening {
  once(event: string, listener: (error: Error) => void): unknown
  destroy(): unknown
}

function open<Socket extends Opening>(
  start: () => Socket,
  event: string,
  describe: (socket: Socket) => string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = start()
    const timer = setTimeout(() => end(() => reject(new Error('no answer within 5 s'))), TIMEOUT_MS)
    const end = (settle: () => void) => {
      clearTimeout(timer)
      settle()
      socket.destroy()
    }
    socket.once(event, () => end(() => resolve(describe(socket))))
    socket.once('error', (error) => end(() => reject(error)))
  })
}

/** Resolves to the details of the connection; rejects if there is none. */
export const openPlain = (host: string, port: number): Promise<string> =>
  open(
    () => createConnection({ host, port }),
    'connect',
    () => `port ${port}`,
  )

/** It also reports whether the certificate is trusted. With `mustTrust` it rejects if it is not. */
export function openTls(host: string, port: number, mustTrust = false): Promise<string> {
  const servername = isIP(host) ? {} : { servername: host }
  const start = () => connectTls({ host, port, rejectUnauthorized: mustTrust, ...servername })
  return open(start, 'secureConnect', (socket) => {
    const { authorized, authorizationError } = socket
    return `${socket.getProtocol()}, ${authorized ? 'trusted' : `not trusted: ${authorizationError}`}`
  })
}
