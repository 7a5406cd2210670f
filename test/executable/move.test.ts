/**
 * `poterne move`: from the embedded database to a server and back, while services run, killed after the mark, and nobody is
 * logged out. A soak kills it before the mark and on the way back too.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { openInstance } from '../../src/platform/postgres/embedded-instance.ts'
import { newEmail } from '../helpers/api-client.ts'
import { appCode, protectByApp } from '../helpers/authenticator.ts'
import { type Executable, runExecutable, spawnExecutable, startExecutable } from '../helpers/executable.ts'
import { newFastDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { createTestClock } from '../helpers/service.ts'
import { soaking } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(180_000)

const seconds = (out: string) => Number(/no write was accepted for ([\d.]+) s/.exec(out)?.[1])
const refused = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  Number(headers.get('retry-after')) > 0,
]
const move = (args: string[]) => runExecutable(['move', '--to', ...args])

const MANY = 20_000
/** They are more than what follows a move at once. */
const manyEvents = `
  insert into events (type, outcome, created_at, account, actor_type, actor_id, data)
  select 'login.failed', 'failure', now(), gen_random_uuid(), 'anonymous', null, '{}' from generate_series(1, ${MANY})`

/** Starts a move, and kills it once it is time. Gives what it printed. */
async function moveUntil(args: string[], isTime: (out: string) => Promise<boolean> | boolean) {
  const running = await spawnExecutable(['move', '--to', ...args])
  const isIt = async () => await isTime(running.stdout())
  await waitFor(isIt, { what: 'the time to kill it', timeoutMs: 60_000, intervalMs: 1 })
  running.signal('SIGKILL')
  expect(await running.exited).toBe(137)
  return running.stdout()
}

const trusting = { two_factor: { trust_device: '30d' } }

/** Gives an account a username, a group and a trusted device, makes an invitation, and gives the check that all hold. */
async function carryAlong(service: Executable, other: { identifier: string; password: string }) {
  const command = async (on: Executable, ...args: string[]) => runExecutable([...args, ...on.configArgs])
  const cy = await protectByApp({ ...service, clock: createTestClock() }, newEmail())
  const { identifier } = cy.person
  const named = await command(service, 'accounts', 'set', identifier, '--username', 'cy', '--group', 'staff')
  expect([named.error, named.code]).toEqual(['', 0])
  const inviting = ['invitations', 'create', '--group', 'beta', '--uses', '5', '--json']
  const { code, id } = JSON.parse((await command(service, ...inviting)).out)
  const device = { device_fingerprint: 'laptop-fingerprint' }
  const otp = appCode(cy.secret, new Date(), 1)
  const { body } = await service.post('2fa/verify', { ...cy.person, otp, trust_device: true, ...device })
  return async (on: Executable) => {
    const { device_token } = body
    const trusted = await on.post('login', { ...cy.person, ...device, device_token })
    expect(trusted.status).toBe(200)
    const me = await on.get('me', { bearer: trusted.body.access_token })
    expect(me.body).toMatchObject({ username: 'cy', groups: ['staff'] })
    const taken = await command(on, 'accounts', 'set', other.identifier, '--username', 'cy')
    expect([taken.code, taken.error]).toEqual([1, expect.stringContaining('username')])
    const { access_token: bearer } = await on.logIn(other)
    const joined = await on.post('invitations/accept', { invitation: code }, { bearer })
    expect([joined.status, joined.body.groups]).toEqual([200, ['beta']])
    const listed = JSON.parse((await command(on, 'invitations', 'list', '--json')).out)
    expect(listed).toMatchObject([{ id, uses: 5, used: 1, groups: ['beta'] }])
  }
}

test('the data moves to a server and back, also after a kill, the old one is marked, and nobody is logged out', async () => {
  const embedded = await startExecutable({ shape: 'embedded', settings: trusting })
  const started: Executable[] = [embedded]
  const { url } = await createDatabase({ migrated: false })
  const target = postgres(url, { max: 1, onnotice: () => {} })
  try {
    const [ada, bob] = [await embedded.signUp(newEmail()), await embedded.signUp(newEmail())]
    let tokens = await embedded.logIn(ada)
    await embedded.logIn(bob)
    const carries = await carryAlong(embedded, ada)
    const refresh = async (service: Executable) => {
      const answer = await service.post('refresh', { refresh_token: tokens.refresh_token })
      if (answer.status === 200) tokens = answer.body
      return answer
    }
    const serves = (service: Executable) =>
      waitFor(async () => (await refresh(service)).status === 200, {
        ...{ what: 'a refresh', timeoutMs: 20_000, intervalMs: 100 },
      })
    const dataDir = embedded.storage.storage!.data_dir as string
    const there = [url, ...embedded.configArgs]
    await embedded.kill('SIGTERM')
    const instance = await openInstance(join(dataDir, 'postgres'))
    await instance.exec(manyEvents)
    await instance.close()
    await embedded.start()

    const wrong = await move(['mysql://x', ...embedded.configArgs])
    expect([wrong.code, wrong.error]).toEqual([
      2,
      '--to: expected "embedded" or a URL that begins with postgres://\n',
    ])

    // Killed before the mark, it changed nothing.
    if (soaking) {
      await moveUntil(there, async () => {
        const copies = await target`select 1 from pg_stat_activity
          where application_name = 'poterne copy' and query like 'copy "%'`
        return copies.length > 0
      })
      expect(await target`select 1 from pg_class where relname = 'accounts'`).toHaveLength(0)
      await serves(embedded)
    }

    // Killed after the mark, the data is there, and the events are not.
    const out = await moveUntil(there, (text) => text.includes('Start poterne with these lines'))
    expect(out).toContain('[database]\nurl = "postgres://postgres@127.0.0.1')
    expect(out).toContain(`what ${dataDir}/secret holds`)
    expect(out).not.toContain('The move is complete')
    expect(seconds(out)).toBeLessThan(30)
    expect(refused(await refresh(embedded))).toEqual([503, true])
    expect((await fetch(`${embedded.url}/readyz`)).status).toBe(503)
    await embedded.kill('SIGTERM')
    const again = await runExecutable(['serve', ...embedded.configArgs])
    expect(again.code).toBe(1)
    expect(again.error.trim().split('\n').at(-1)).toMatch(
      /was moved to postgres:\/\/postgres@127.*start poterne with database\.url = ".*`poterne move --undo`$/,
    )

    // The server has the secret of the file, and a directory to move back to.
    const secret = readFileSync(join(dataDir, 'secret'), 'utf8').trim()
    const data_dir = join(newFastDirectory('back'), 'data')
    const settings = { server: { secret }, database: { url }, storage: { data_dir } }
    const server = await startExecutable({ shape: 'postgres', storage: settings, settings: trusting })
    started.push(server)
    await carries(server)
    expect((await refresh(server)).status).toBe(200)
    const { access_token: bearer } = await server.logIn(bob)
    const erasure = await server.call('DELETE', '/api/v1/auth/me', { password: bob.password }, { bearer })
    expect(erasure.status).toBe(200)

    // The same command finishes the move while the new service runs, and brings nothing of an erased account.
    const finished = await move(there)
    expect([finished.error, finished.code]).toEqual(['', 0])
    expect(finished.out).toContain('The data was moved before.')
    const [counted] = await target`
      select (select count(*)::int from events where type = 'login.failed') as events,
             (select count(*)::int from relocations) as marks,
             (select count(*) > 0 from event_details) as details,
             (select count(*)::int from event_details join events on events.id = event_id
               where account in (select account from events where type = 'account.erased')) as erased`
    expect(counted).toEqual({ events: MANY, marks: 0, details: true, erased: 0 })
    const { body } = await server.get('events', { bearer: tokens.access_token })
    expect(body.items.map(({ type }: { type: string }) => type)).toContain('login.succeeded')
    expect(await move(there)).toMatchObject({
      code: 1,
      error: expect.stringContaining('has accounts already'),
    })

    // Killed while nothing can be written to the server, it gives the right to write back.
    if (soaking) {
      await moveUntil(['embedded', ...server.configArgs], async () => {
        const forbidden = await target`select 1 from pg_db_role_setting
          where setdatabase = (select oid from pg_database where datname = current_database())`
        return forbidden.length > 0
      })
      await serves(server)
    }

    const back = await move(['embedded', ...server.configArgs])
    expect([back.error, back.code]).toEqual(['', 0])
    expect(back.out).toContain(`data_dir = "${data_dir}"`)
    expect(refused(await refresh(server))).toEqual([503, true])
    const home = await startExecutable({
      shape: 'embedded',
      storage: { server: { secret }, storage: { data_dir } },
      settings: trusting,
    })
    started.push(home)
    expect((await refresh(home)).status).toBe(200)
    await carries(home)
    expect(await home.logIn(ada)).toMatchObject({ status: 200 })

    const undone = await runExecutable(['move', '--undo', ...server.configArgs])
    expect([undone.code, undone.out]).toEqual([
      0,
      `The data is in use again. What was written to embedded in ${data_dir} since is not in it.\n`,
    ])
    await server.kill('SIGTERM')

    // A move whose machine stopped leaves it so.
    const [{ name }] = (await target`select quote_ident(current_database()) as name`) as unknown as [
      { name: string },
    ]
    await target.unsafe(`alter database ${name} set default_transaction_read_only = on`)
    const stuck = await runExecutable(['serve', ...server.configArgs])
    expect([stuck.code, stuck.error]).toEqual([1, expect.stringContaining('run `poterne move --undo`')])
    expect((await runExecutable(['move', '--undo', ...server.configArgs])).code).toBe(0)
    await server.start()
    await waitFor(async () => (await server.post('login', ada)).status === 200, { what: 'a login' })
  } finally {
    await target.end()
    for (const each of started) await each.close()
  }
})
