/** Processes that meet others of their kind at the start, and what --dev adds. */

import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import postgres from 'postgres'
import { newEmail } from '../helpers/api-client.ts'
import { devKey } from '../helpers/dev-pages.ts'
import {
  makeDatabase,
  newStorage,
  runExecutable,
  spawnExecutable,
  startExecutable,
} from '../helpers/executable.ts'
import { startGateway } from '../helpers/gateway.ts'
import { sendRaw, statusesOf } from '../helpers/raw-http.ts'
import { expectRefusal } from '../helpers/refusals.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { longTest } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

const lines = (text: string) => text.trimEnd().split('\n')

describe('a second process', () => {
  test('on the same port is refused with one line, and the first one serves on', async () => {
    const first = await startExecutable({ shape: 'postgres' })
    const { code, error } = await runExecutable(['serve', ...first.configArgs])
    expect(code).toBe(1)
    expect(lines(error)).toEqual([
      `127.0.0.1:${first.port} is in use: stop what listens there, or set server.port`,
    ])
    expect((await first.call('GET', '/healthz')).status).toBe(200)
    // A start that cannot listen makes nothing.
    const directory = newDirectory('taken')
    const taken = { POTERNE_SERVER_PORT: String(first.port) }
    expect((await runExecutable(['serve', '--dev'], { directory, env: taken })).code).toBe(1)
    expect(readdirSync(directory)).toEqual([])
    // Without --dev there is no mailbox.
    for (const path of ['/dev/mailbox', '/dev/mailbox.json'])
      expectRefusal(await first.call('GET', path), 'route_not_found')
    await first.close()
  })

  longTest(
    'started at the same moment on an empty database: it is migrated once, and both serve',
    async () => {
      const { settings: storage, drop } = await newStorage('redis', { migrated: false })
      const [smtp, gateway] = await Promise.all([startSmtp({ security: 'none', auth: null }), startGateway()])
      const both = await Promise.all([1, 2].map(() => startExecutable({ storage, smtp, gateway })))
      const [one, other] = both as [(typeof both)[0], (typeof both)[0]]
      const sql = postgres(storage.database?.url as string, { max: 1 })
      const [count] =
        await sql`select count(*)::int as rows, count(distinct number)::int as numbers from poterne_migrations`
      await sql.end()
      expect(count?.rows).toBeGreaterThan(0)
      expect(count?.rows).toBe(count?.numbers)
      const person = await one.signUp(newEmail())
      const { access_token } = await other.logIn(person)
      const kid = JSON.parse(Buffer.from(access_token.split('.')[0], 'base64url').toString()).kid
      const published = await Promise.all(both.map((each) => each.call('GET', '/.well-known/jwks.json')))
      for (const { body } of published)
        expect(body.keys.map((key: { kid: string }) => key.kid)).toContain(kid)
      await Promise.all(both.map((each) => each.close()))
      await Promise.all([smtp.stop(), gateway.stop(), drop()])
    },
  )
})

longTest(
  'commands and a service that start at the same moment wait for each other',
  async () => {
    const directory = newDirectory('meeting')
    const env = { POTERNE_SERVER_PORT: '0' }
    await makeDatabase({ directory })
    const list = () => runExecutable(['accounts', 'list'], { directory })
    const early = list()
    const service = await spawnExecutable(['serve', '--dev'], { directory, env })
    for (const { code, error } of await Promise.all([early, list()])) expect([code, error]).toEqual([0, ''])
    await waitFor(() => service.stdout().includes('"listening"'), { what: 'the service' })
    service.signal('SIGTERM')
    expect(await service.exited).toBe(0)
  },
  120_000,
)

describe('--dev', () => {
  test('its pages answer only to a Host that is loopback', async () => {
    const dev = await startExecutable({ shape: 'postgres', args: ['--dev'] })
    const statusOf = async (host: string, path: string) => {
      const answer = await sendRaw(dev.port, [
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      ])
      return statusesOf(answer)[0]
    }
    const key = await devKey(dev.process().stdout)
    for (const page of ['/', '/dev/mailbox', '/dev/mailbox.json']) {
      const path = `${page}?key=${key}`
      for (const host of ['localhost', `localhost:${dev.port}`, '127.0.0.1'])
        expect([host, await statusOf(host, path)]).toEqual([host, 200])
      // A page leads to the name of the service.
      const status = page.endsWith('.json') ? 200 : 303
      expect([page, await statusOf(`[::1]:${dev.port}`, path)]).toEqual([page, status])
      for (const host of ['attacker.example', `attacker.example:${dev.port}`, 'localhost.attacker.example'])
        expect([host, await statusOf(host, path)]).toEqual([host, 404])
    }
    await dev.close()
  })
})
