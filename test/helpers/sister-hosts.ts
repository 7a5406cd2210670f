/**
 * Two https hosts of one site, with a certificate of their own: the service, and a sister host that an intruder holds. Bytes
 * pass as they are, since programs between would mend the headers that these tests are about.
 */
import type { Socket } from 'bun'
import { createCertificate } from './certificates.ts'

export const HOST = 'auth.example.test'
export const SISTER = 'sister.example.test'

export interface SisterHosts {
  /** `https://auth.example.test:4711`, which leads to the service. */
  origin: string
  /** The page of the intruder. */
  sister: string
  /** The Set-Cookie headers that this page has; each letter is sent as one byte. */
  setCookies: string[]
  /** Everything that browsers sent to the service. */
  received(): string
  stop(): void
}

interface Pipe {
  out: Promise<Socket<Socket<Pipe>>>
}

export function startSisterHosts(portOfService: () => number): SisterHosts {
  const tls = createCertificate('self-signed')
  let received = ''
  const toService = Bun.listen<Pipe>({
    hostname: '127.0.0.1',
    port: 0,
    tls,
    socket: {
      open(browser) {
        const out = Bun.connect<Socket<Pipe>>({
          hostname: '127.0.0.1',
          port: portOfService(),
          data: browser,
          socket: { data: ({ data }, bytes) => void data.write(bytes), close: ({ data }) => void data.end() },
        })
        browser.data = { out }
      },
      async data({ data }, bytes) {
        const copy = Buffer.from(bytes)
        received += copy.toString('latin1')
        ;(await data.out).write(copy)
      },
      async close({ data }) {
        ;(await data.out).end()
      },
      error() {},
    },
  })
  const hosts = {
    origin: `https://${HOST}:${toService.port}`,
    setCookies: [] as string[],
    received: () => received,
  }
  const intruder = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    tls,
    socket: {
      data(socket) {
        const cookies = hosts.setCookies.map((cookie) => `Set-Cookie: ${cookie}\r\n`).join('')
        const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\nConnection: close\r\n${cookies}\r\n`
        socket.end(Buffer.from(`${head}hello`, 'latin1'))
      },
      error() {},
    },
  })
  return {
    ...hosts,
    sister: `https://${SISTER}:${intruder.port}/`,
    stop() {
      toService.stop(true)
      intruder.stop(true)
    },
  }
}
