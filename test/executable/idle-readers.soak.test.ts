/** Clients that ask and never read the answer: what each of them costs in memory. */

import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { devKey } from '../helpers/dev-pages.ts'
import { type Executable, startExecutable } from '../helpers/executable.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(30_000)

const CONNECTIONS = 300
const MOST_MORE_BYTES = 200 * 2 ** 20

let service: Executable
beforeAll(async () => {
  // Answered probes are lines of that level, and the test counts the lines.
  service = await startExecutable({
    shape: 'embedded',
    args: ['--dev'],
    measures: true,
    settings: { log: { level: 'debug' } },
  })
})
afterAll(() => service.close())

/** Opens as many connections as an ordinary client may open; none of them takes a byte from its socket. */
async function askWithoutReading(path: string, acceptEncoding: string): Promise<Socket[]> {
  const sockets = Array.from({ length: CONNECTIONS }, () => connect(service.port, '127.0.0.1').pause())
  await Promise.all(
    sockets.map((socket) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      socket.once('connect', resolve).once('error', reject)
      return promise
    }),
  )
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${service.port}\r\nAccept-Encoding: ${acceptEncoding}\r\n\r\n`
  for (const socket of sockets) socket.write(request)
  return sockets
}

async function pathsOfGetRoutes(): Promise<string[]> {
  const { body } = await service.call('GET', '/swagger/json')
  const documented = Object.entries(body.paths as Record<string, object>)
    .filter(([, operations]) => 'get' in operations)
    .map(([path]) => path.replaceAll(/\{\w+\}/g, 'x'))
  const key = await devKey(service.process().stdout)
  return [...documented, '/swagger', '/swagger/json', '/swagger/reference.js', `/dev/mailbox?key=${key}`]
}

const answersLogged = () => service.process().stdout().split('"request_id"').length - 1

test('300 connections that read nothing cost less than 200 MB on every GET route', async () => {
  const paths = await pathsOfGetRoutes()
  expect(paths).toContain('/readyz')
  const idle = service.memory()
  let most = 0
  for (const path of paths) {
    for (const acceptEncoding of path.startsWith('/swagger') ? ['gzip', 'identity'] : ['identity']) {
      const before = answersLogged()
      const sockets = await askWithoutReading(path, acceptEncoding)
      await waitFor(() => answersLogged() >= before + CONNECTIONS, { what: `answers to ${path}` })
      most = Math.max(most, service.memory() - idle)
      for (const socket of sockets) socket.destroy()
    }
  }
  expect(most).toBeLessThan(MOST_MORE_BYTES)
  expect((await service.call('GET', '/healthz')).status).toBe(200)
})
