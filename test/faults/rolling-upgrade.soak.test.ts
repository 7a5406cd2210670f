/**
 * Two versions side by side: the same executable twice, or that of TEST_OLDER beside the present one, and what a
 * migration does to the statements of a service that runs.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { sql } from 'drizzle-orm'
import { param, statement } from '../../src/platform/postgres/database.ts'
import { applyMigrations, ownMigrations } from '../../src/platform/postgres/migrate.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { defineStatement } from '../../src/platform/postgres/statement.ts'
import { newEmail, type Person, registration } from '../helpers/api-client.ts'
import { type Executable, newStorage, startExecutable } from '../helpers/executable.ts'
import { createFilled, laterMigrations, own } from '../helpers/filled-database.ts'
import { authorizeAddress, entry, newCode, newVerifier, REDIRECT, redeem } from '../helpers/hand-over.ts'
import type { Inbox } from '../helpers/inbox.ts'
import { openBrowser, PAGE_HOST, type PageBrowser, pageSettings } from '../helpers/page-browser.ts'
import { createDatabase } from '../helpers/servers.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { notHere } from '../helpers/soak.ts'

const older = process.env.TEST_OLDER

setDefaultTimeout(1_800_000)

test('statements and transactions whose result a migration changes are repeated with the same values', async () => {
  const { url, drop } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 1 })
  const run = (text: string) => database.all({ text, params: [] }, {})
  await run('create table notes (id bytea, flag boolean, more jsonb, at timestamptz, count bigint)')
  const put = defineStatement({
    name: 'test.put_note',
    params: { id: 'bytea', flag: 'boolean', more: 'jsonb', at: 'timestamptz', count: 'bigint' },
    row: { id: 'bytea', flag: 'boolean', more: 'jsonb', at: 'timestamptz', count: 'bigint' },
    sql: (p) => sql`
    with put as (insert into notes values (${p.id}, ${p.flag}, ${p.more}, ${p.at}, ${p.count}) returning *)
    select * from put`,
  })
  const note = { id: Buffer.from('\\x00'), flag: true, more: ['a'], at: new Date(0), count: 7 }
  const inTransaction = () =>
    database.transaction(async (transaction) => {
      await transaction.first(put, note)
      return transaction.first(put, note)
    })
  expect(await database.first(put, note)).toEqual(note)
  await run('alter table notes add column one int')
  expect(await database.first(put, note)).toEqual({ ...note, one: null } as never)
  await run('alter table notes add column two int')
  expect(await inTransaction()).toEqual({ ...note, one: null, two: null } as never)
  const alike = await run(`select distinct id, flag, more, at, count from notes`)
  expect(alike).toEqual([note] as never[])
  expect(await run('select count(*)::int from notes')).toEqual([{ count: 4 }] as never[])
  await database.close()
  await drop()
})

test('statements that share a connection get rows of their own while migrations change the result', async () => {
  const { url, drop } = await createDatabase({ migrated: false })
  const database = await connectServer({ url, poolSize: 2 })
  const migrating = await connectServer({ url, poolSize: 1 })
  const alter = (text: string) => migrating.all({ text, params: [] }, {})
  await alter('create table notes (id int, flag boolean)')
  await alter('insert into notes select i, i % 2 = 0 from generate_series(1, 100) i')
  const find = statement<{ id: number }, { id: number; flag: boolean }>(
    sql`select * from notes where id = ${param('id', 'int')}`,
  )
  const change = statement<{ id: number; flag: boolean }, { id: number; flag: boolean }>(
    sql`update notes set flag = ${param('flag', 'boolean')} where id = ${param('id', 'int')} returning *`,
  )
  let ending = false
  let wrong = 0
  const readers = Array.from({ length: 16 }, async (_, index) => {
    for (let round = 0; !ending; round++) {
      const id = 1 + ((index + 16 * round) % 96)
      const flag = id % 2 === 0
      const row = await (round % 2 === 0
        ? database.first(find, { id })
        : database.first(change, { id, flag }))
      if (row?.id !== id || row.flag !== flag) wrong++
    }
  })
  for (let count = 0; count < 300; count++) {
    await alter(`alter table notes add column "more_${count}" text`)
    await Bun.sleep(10)
  }
  ending = true
  await Promise.all(readers)
  expect(wrong).toBe(0)
  await Promise.all([database.close(), migrating.close()])
  await drop()
})

/** Clients behind a load balancer that knows these replicas; what fails is kept. */
function runClients(replicas: Set<Executable>, people: Person[], inbox: Inbox) {
  let ending = false
  let calls = 0
  const failures: string[] = []
  const underWay = new Map<Executable, number>()
  const ask = async (operation: (replica: Executable) => Promise<{ status: number; body: unknown }>) => {
    const all = [...replicas]
    const replica = all[calls++ % all.length]!
    underWay.set(replica, (underWay.get(replica) ?? 0) + 1)
    try {
      const answer = await operation(replica)
      if (answer.status >= 400) failures.push(`${answer.status} ${JSON.stringify(answer.body)}`)
      // biome-ignore lint/suspicious/noExplicitAny: what a client reads.
      return answer.body as any
    } catch (error) {
      failures.push(String(error))
      return {}
    } finally {
      underWay.set(replica, underWay.get(replica)! - 1)
    }
  }
  const clients = people.map(async (person) => {
    while (!ending) {
      let { access_token, refresh_token } = await ask((to) => to.post('login', person))
      for (let count = 0; count < 4 && !ending; count++) {
        await ask((to) => to.get('me', { bearer: access_token }))
        ;({ access_token, refresh_token } = await ask((to) => to.post('refresh', { refresh_token })))
      }
      await Bun.sleep(10)
    }
  })
  const newcomers = (async () => {
    while (!ending) {
      const identifier = newEmail()
      await ask((to) => to.post('register', registration(identifier)))
      const otp = await inbox.nextCode(identifier)
      await ask((to) => to.post('verify-account', { identifier, otp }))
    }
  })()
  return {
    async remove(replica: Executable) {
      replicas.delete(replica)
      while ((underWay.get(replica) ?? 0) > 0) await Bun.sleep(5)
    },
    async stop() {
      ending = true
      await Promise.all([...clients, newcomers])
      return { calls, failures }
    },
  }
}

test('replicas are replaced one after the other, beside an older and a newer version, and no request fails', async () => {
  // An older executable makes its tables itself, with the texts of its migrations.
  const { url, drop } = older ? await createDatabase({ migrated: false }) : await createFilled(100_000, own)
  // So few connections that statements share them.
  const storage = { server: { secret: 'ab'.repeat(32) }, database: { url, pool_size: 2 } }
  const smtp = await startSmtp({ security: 'none', auth: null })
  const settings = { server: { base_url: 'http://auth.internal' } }
  const start = (executable?: string) =>
    startExecutable({ storage, smtp, settings, ...(executable && { executable }) })
  // Without an older executable both begin by migrating at the same moment.
  const former = await Promise.all([start(older), start(older)])
  const people = []
  for (let count = 0; count < 8; count++) people.push(await former[0].signUp(newEmail()))
  const replicas = new Set<Executable>(former)
  const clients = runClients(replicas, people, former[0].inbox)
  const present: Executable[] = []
  for (const each of former) {
    const next = await start()
    present.push(next)
    replicas.add(next)
    await Bun.sleep(3000)
    await clients.remove(each)
    await each.kill('SIGTERM')
  }
  await Bun.sleep(3000)
  const database = await connectServer({ url, poolSize: 1 })
  for (const count of laterMigrations.keys()) {
    const migrations = [...ownMigrations, ...laterMigrations.slice(0, count + 1)]
    expect(await applyMigrations(database, new Date(), { migrations })).toEqual([
      laterMigrations[count]!.name,
    ])
    await Bun.sleep(3000)
  }
  await database.close()
  const { calls, failures } = await clients.stop()
  process.stdout.write(`${failures.length} of ${calls} requests failed during the upgrade\n`)
  const causes = [...former, ...present].flatMap((each) =>
    each.log().filter(({ level }) => level === 'error'),
  )
  expect({ failures, causes }).toEqual({ failures: [], causes: [] })
  expect(calls).toBeGreaterThan(50)
  await Promise.all([...former, ...present].map((each) => each.close()))
  await smtp.stop()
  await drop()
})

const moveCookies = (from: PageBrowser, to: PageBrowser) => {
  for (const [name, value] of from.cookies) to.cookies.set(name, value)
}

/** The present one knows an application for OpenID beside that of before. */
const beside = older === undefined ? notHere : test
beside(
  'a hand-over begins at one version and ends at the other, and the older application is answered alike',
  async () => {
    const applications = [
      { id: 'web', name: 'Web', redirect_uris: [REDIRECT], sign_out_uris: ['https://app.example.com/'] },
    ]
    const settings = {
      ...pageSettings,
      server: { ...pageSettings.server, language: 'en' },
      pages: { enabled: true, applications },
    }
    // The older one makes its tables itself.
    const { settings: storage, drop } = await newStorage('redis', { migrated: false })
    const before = await startExecutable({ storage, settings, executable: older! })
    const { smtp, gateway } = before
    const present = await startExecutable({
      ...{ storage, smtp, gateway },
      settings: { ...settings, pages: { enabled: true, applications: [...applications, entry('grafana')] } },
    })
    try {
      for (const [first, second] of [
        [before, present],
        [present, before],
      ] as const) {
        const person = await first.signUp(newEmail())
        const [here, there] = [openBrowser(first.url), openBrowser(second.url)]
        await here.open(authorizeAddress(newVerifier()))
        // The form of one version goes to the other.
        moveCookies(here, there)
        Object.assign(there, { forms: here.forms, html: here.html, address: here.address })
        await there.press('Sign in', { identifier: person.identifier, password: person.password })
        moveCookies(there, here)
        for (const [browser, other] of [
          [here, second],
          [there, first],
        ] as const) {
          const { code, verifier } = await newCode(browser)
          let { status, body } = await redeem(other, code, verifier)
          expect(status).toBe(200)
          for (const at of [first, second, first, second]) {
            expect((await at.get('me', { bearer: body.access_token })).status).toBe(200)
            const refreshed = await at.post('refresh', { refresh_token: body.refresh_token })
            expect(refreshed.status).toBe(200)
            body = refreshed.body
          }
        }
        await here.post('/sign-out', {})
        await there.open(authorizeAddress(newVerifier()))
        expect(there.path).toBe('/sign-in')
      }
      const bytesOf = async ({ url }: Executable, path: string, init: RequestInit = {}) => {
        const headers = {
          host: PAGE_HOST,
          'accept-language': 'en',
          ...(init.headers as Record<string, string>),
        }
        const answer = await fetch(url + path, { ...init, redirect: 'manual', headers })
        // A refusal says its reason in other words since then.
        const text = (await answer.text()).replaceAll(/"(request_id|error_description)":"[^"]*"/g, '')
        return [answer.status, answer.headers.get('location'), answer.headers.get('content-type'), text]
      }
      const verifier = 'v'.repeat(43)
      const form = {
        grant_type: 'authorization_code',
        client_id: 'web',
        redirect_uri: REDIRECT,
        code: 'x',
        code_verifier: verifier,
      }
      const posted = (more: Record<string, string>) => ({
        method: 'POST',
        body: new URLSearchParams({ ...form, ...more }),
      })
      const asked: [path: string, init?: RequestInit][] = [
        ['/.well-known/openid-configuration'],
        ['/.well-known/oauth-authorization-server'],
        ['/.well-known/jwks.json'],
        ...['none', 'other', 'consent', 'none login'].map(
          (prompt) => [authorizeAddress(verifier, { prompt })] as [string],
        ),
        [authorizeAddress(verifier, { scope: 'openid' })],
        [authorizeAddress(verifier, { scope: 'profile', nonce: 'n', max_age: 'x', prompt: 'none' })],
        [authorizeAddress(verifier, { response_type: 'token' })],
        [authorizeAddress(verifier, { code_challenge_method: 'plain' })],
        [authorizeAddress(verifier, { response_mode: 'form_post' })],
        [authorizeAddress(verifier, { request: 'x' })],
        ['/oauth2/token', posted({})],
        ['/oauth2/token', posted({ client_secret: 'x' })],
        ['/oauth2/token', posted({ code_verifier: 'short' })],
        ['/oauth2/token', posted({ client_id: 'nobody' })],
        ['/oauth2/token', posted({ grant_type: 'password' })],
        ['/oauth2/token', posted({ grant_type: 'refresh_token' })],
        ['/oauth2/token', posted({ grant_type: 'refresh_token', refresh_token: 'x' })],
        ['/oauth2/token', { ...posted({}), headers: { authorization: `Basic ${btoa('web:x')}` } }],
      ]
      for (const [path, init] of asked)
        expect([path, await bytesOf(present, path, init)]).toEqual([path, await bytesOf(before, path, init)])
    } finally {
      await present.close()
      await before.close()
      await drop()
    }
  },
  300_000,
)
