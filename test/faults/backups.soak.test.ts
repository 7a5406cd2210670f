/**
 * A backup of the embedded database while clients write, restored in a new place and on a server: nothing that was
 * acknowledged is missing, nothing is there by half. It needs 100,000 accounts and 64 clients. The
 * same at small size is in test/domain/backups.test.ts and test/executable/moving.soak.test.ts.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { openInstance } from '../../src/storage/embedded/instance.ts'
import { newEmail } from '../helpers/api-client.ts'
import { type Executable, runExecutable, startExecutable } from '../helpers/executable.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'

setDefaultTimeout(900_000)

const ACCOUNTS = 100_000
const CLIENTS = 64
const PAUSE_MS = 2000

/** Makes as many accounts, each with a session, two known clients, three events and a message. */
const seeds = [
  `insert into accounts (uuid, email, email_key, password_digest, accountable_type, role_id, created_at, updated_at,
     email_confirmed_at, account_confirmed_at, language)
   select gen_random_uuid(), 'person' || i || '@example.com', 'person' || i || '@example.com',
     '$argon2id$v=19$m=19456,t=2,p=1$' || md5(i::text) || '$' || md5((i + 1)::text), 'User', 1, now(), now(), now(),
     now(), 'fr' from generate_series(1, ${ACCOUNTS}) i`,
  `insert into sessions (id, account_id, device_name, device_fingerprint, ip, amr, created_at, last_used_at, expires_at,
     ends_at, family_hash)
   select gen_random_uuid(), id, 'Pixel 9', md5(id::text), '10.0.0.1', 'pwd', now(), now(), now() + interval '30 days',
     now() + interval '90 days', sha256(id::text::bytea) from accounts where email like 'person%'`,
  `insert into known_devices (account_id, tag, kind, sign_in, last_sign_in_at)
   select id, sha256((id || kind)::bytea), kind, 1, now() from accounts, (values ('device'), ('address')) v(kind)
    where email like 'person%'`,
  `insert into events (type, outcome, created_at, account, actor_type, actor_id, data)
   select type, 'success', now(), uuid, 'account', uuid::text, '{}'
     from accounts, (values ('account.registered'), ('account.confirmed'), ('login.succeeded')) v(type)
    where email like 'person%'`,
  `insert into messages (channel, destination, purpose, language, created_at, next_attempt_at, finished_at, outcome)
   select 'email', '', 'confirmation', 'fr', now(), now(), now(), 'sent' from accounts where email like 'person%'`,
]

const sessionOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).sid

const say = (what: Record<string, unknown>) => console.log(JSON.stringify(what))

async function query(dataDir: string, text: string) {
  const instance = await openInstance(join(dataDir, 'postgres'))
  try {
    return (await instance.query<Record<string, unknown>>(text)).rows
  } finally {
    await instance.close()
  }
}

test('a backup while clients write holds what was acknowledged, and signs nobody out on a server', async () => {
  const service = await startExecutable({
    shape: 'embedded',
    settings: { limits: { enabled: false, hash_queue: 10_000 } },
  })
  const started: Executable[] = [service]
  try {
    const people = []
    for (let number = 0; number < CLIENTS; number++) people.push(await service.signUp(newEmail()))
    const dataDir = service.storage.storage!.data_dir as string
    await service.kill('SIGTERM')
    const instance = await openInstance(join(dataDir, 'postgres'))
    for (const seed of seeds) await instance.exec(seed)
    await instance.exec('analyze')
    await instance.close()
    await service.start()

    // Each client signs in again and again.
    const acknowledged: { session: string; at: number; waitedMs: number; refresh: string }[] = []
    let isOver = false
    const clients = people.map(async (person, number) => {
      await Bun.sleep((number * PAUSE_MS) / CLIENTS)
      while (!isOver) {
        const before = performance.now()
        const answer = await service.logIn(person)
        const at = performance.now()
        acknowledged.push({
          ...{ session: sessionOf(answer.access_token), at, waitedMs: at - before },
          refresh: answer.refresh_token,
        })
        await Bun.sleep(PAUSE_MS)
      }
    })
    await Bun.sleep(15_000)
    const passphraseFile = join(newDirectory('passphrase'), 'file')
    writeFileSync(passphraseFile, 'a passphrase of some length\n')
    const file = join(newDirectory('backup'), 'auth.backup')
    const withPassphrase = ['--passphrase-file', passphraseFile]
    const begunAt = performance.now()
    const made = await runExecutable([
      'backup',
      file,
      '--with-secret',
      ...withPassphrase,
      ...service.configArgs,
    ])
    const endedAt = performance.now()
    expect([made.error, made.code]).toEqual(['', 0])
    isOver = true
    await Promise.all(clients)
    const longest = (from: number, to: number) =>
      Math.round(
        Math.max(...acknowledged.filter(({ at }) => at > from && at <= to).map(({ waitedMs }) => waitedMs)),
      )
    const copies = service.log().filter(({ route }) => route === '/admin/v1/backups/snapshot')
    say({
      backup: made.out.trim(),
      seconds: (endedAt - begunAt) / 1000,
      copyMs: copies.at(-1)?.duration_ms,
      logins: acknowledged.length,
      longestBefore: longest(0, begunAt),
      longestDuring: longest(begunAt, endedAt),
    })

    // Registrations that were acknowledged before it began are there, and nothing by half.
    const target = join(newDirectory('target'), 'data')
    const targetConfig = join(newDirectory('config'), 'target.toml')
    writeFileSync(targetConfig, stringify({ storage: { data_dir: target } }))
    const restoredAt = performance.now()
    const restored = await runExecutable([
      'restore',
      file,
      '--keep-sessions',
      ...withPassphrase,
      '--config',
      targetConfig,
    ])
    expect([restored.error, restored.code]).toEqual(['', 0])
    say({ restoreSeconds: (performance.now() - restoredAt) / 1000 })
    const found = new Set((await query(target, 'select id from sessions')).map(({ id }) => id))
    const missing = acknowledged.filter(({ at, session }) => at < begunAt && !found.has(session))
    expect(missing).toEqual([])
    const halves = await query(
      target,
      `select (select count(*)::int from sessions where device_name is null and not exists (
                 select 1 from events where session_id = sessions.id)) as sessions,
              (select count(*)::int from events where type = 'login.succeeded' and session_id is not null
                  and session_id not in (select id from sessions)) as events,
              (select count(*)::int from accounts) as accounts`,
    )
    expect(halves).toEqual([{ sessions: 0, events: 0, accounts: ACCOUNTS + CLIENTS }])

    // On a server it signs nobody out.
    const { url } = await createDatabase({ migrated: false })
    const secret = readFileSync(join(dataDir, 'secret'), 'utf8').trim()
    const storage = { server: { secret }, database: { url } }
    const serverConfig = join(newDirectory('config'), 'server.toml')
    writeFileSync(serverConfig, stringify(storage))
    const begunOnServerAt = performance.now()
    const onServer = await runExecutable([
      ...['restore', file, '--keep-sessions', ...withPassphrase],
      ...['--config', serverConfig],
    ])
    expect([onServer.error, onServer.code]).toEqual(['', 0])
    say({ restoreOnServerSeconds: (performance.now() - begunOnServerAt) / 1000 })
    const server = await startExecutable({ shape: 'postgres', storage })
    started.push(server)
    const signedIn = acknowledged.filter(({ at }) => at < begunAt)
    for (const { refresh: refresh_token } of signedIn.slice(-CLIENTS))
      expect((await server.post('refresh', { refresh_token })).status).toBe(200)
  } finally {
    for (const each of started) await each.close()
  }
})
