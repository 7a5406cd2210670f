/**
 * Start, `config check --connect` and doctor say the same of a server that cannot be used, and what to do about it. Each case
 * is a real server.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { isStarting, lockData, noteReady } from '../../src/storage/embedded/lock.ts'
import { createCertificate, type TestCertificate } from '../helpers/certificates.ts'
import { startChangingProxy } from '../helpers/changing-proxy.ts'
import { runPoterne } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { serverDirectory } from '../helpers/postgres-server.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { runHere } from '../helpers/run-here.ts'
import { createDatabase, sharedPostgres, sharedRedis, startPostgres, startRedis } from '../helpers/servers.ts'
import { mergeSettings, type Settings, startService, writeSettings } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const serverOn = (port: number): Settings => ({ server: { secret: 'ab'.repeat(32), port } })

/** Each of the three commands with these settings: its exit code, and all that it printed. */
async function saidBy(settings: Settings) {
  const port = await freePort()
  const { file, directory } = writeSettings(
    mergeSettings(
      {
        ...serverOn(port),
        smtp: { host: '127.0.0.1', port, security: 'none', from: 'a@acme.test' },
        sms: {
          allowed_countries: ['*'],
          gateways: [{ name: 'stub', url: `http://127.0.0.1:${port}`, body: { to: '{to}', text: '{text}' } }],
        },
      },
      settings,
    ),
  )
  const withConfig = (...args: string[]) => [...args, '--config', file]
  const said = async (ran: ReturnType<typeof runPoterne>) => {
    const { code, out, error } = await ran
    return { code, text: out + error }
  }
  const [start, check, doctor] = await Promise.all([
    said(runPoterne(withConfig('serve'), { directory })),
    said(runHere(withConfig('config', 'check', '--connect'), {}, directory)),
    said(runHere(withConfig('doctor'), {}, directory)),
  ])
  return { start, check, doctor }
}

async function expectWords(settings: Settings, words: string, startCode = 1) {
  const { start, check, doctor } = await saidBy(settings)
  for (const { text } of [start, check, doctor]) expect(text).toContain(words)
  expect([start.code, check.code, doctor.code]).toEqual([startCode, 1, 1])
  expect(start.text.split('\n').filter((line) => line.startsWith('poterne failed: '))).toHaveLength(1)
}

const onDatabase = (url: string): Settings => ({ database: { url } })
const onRedis = async (url: string): Promise<Settings> => ({
  database: { url: (await createDatabase()).url },
  redis: { url },
})

/** A PostgreSQL server with TLS, which everybody else must use. */
async function startWithTls({ cert, key }: TestCertificate) {
  const directory = serverDirectory('tls')
  const { uid, gid } = statSync(directory)
  const put = (name: string, text: string) => {
    const file = join(directory, name)
    writeFileSync(file, text, { mode: 0o600 })
    chownSync(file, uid, gid)
    return file
  }
  const rules = 'hostssl all all 127.0.0.1/32 trust\nhostnossl postgres postgres 127.0.0.1/32 trust\n'
  return startPostgres({
    settings: {
      ...{ ssl: 'on', ssl_cert_file: put('crt', cert), ssl_key_file: put('key', key) },
      hba_file: put('hba', rules),
    },
  })
}

test('a PostgreSQL server that demands TLS, and one whose authority is another', async () => {
  const server = await startWithTls(createCertificate())
  const url = server.url.replace(/postgres$/, 'template1')
  await expectWords(
    onDatabase(url),
    'it lets this user in over TLS alone, or not from this machine: add sslmode',
  )
  await expectWords(
    onDatabase(`${url}?sslrootcert=${encodeURIComponent(createCertificate().caFile)}`),
    'its certificate is not trusted for this host: name the authority that signed it in sslrootcert of database.url',
  )
  await server.stop()
})

test('sslmode=require where the server speaks no TLS', async () => {
  const { url } = await sharedPostgres()
  await expectWords(onDatabase(`${url}?sslmode=require`), 'turn TLS on there, or take it out of database.url')
})

test('sslrootcert with a file that cannot be read, or holds no certificate', async () => {
  const { url } = await sharedPostgres()
  const file = join(newDirectory('authority'), 'ca.pem')
  const settings = onDatabase(`${url}?sslrootcert=${encodeURIComponent(file)}`)
  const words = async () => {
    const { start, check, doctor } = await saidBy(settings)
    expect([start.code, check.code, doctor.code]).toEqual([2, 2, 1])
    return [start, check, doctor].map(({ text }) => /its parameter sslrootcert names [^\n,]*/.exec(text)?.[0])
  }
  for (const said of await words())
    expect(said).toStartWith('its parameter sslrootcert names a file that cannot be read (ENOENT)')
  writeFileSync(file, 'nothing')
  for (const said of await words())
    expect(said).toStartWith('its parameter sslrootcert names a file that holds no certificate in PEM')
})

longTest('redis:// to a port with TLS, and rediss:// to one without', async () => {
  const { key, cert } = createCertificate()
  const directory = newDirectory('redis-tls')
  const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  writeFileSync(keyFile, key)
  writeFileSync(certFile, cert)
  const port = await freePort()
  const server = await startRedis([
    ...['--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-ca-cert-file', certFile],
    ...['--tls-key-file', keyFile, '--tls-cert-file', certFile],
  ])
  await expectWords(
    await onRedis(`redis://localhost:${port}`),
    'it speaks TLS on that port: write rediss:// in redis.url',
  )
  await server.stop()
  const plain = (await sharedRedis()).url.replace('redis://127.0.0.1', 'rediss://localhost')
  await expectWords(await onRedis(plain), 'it speaks no TLS on that port: write redis:// in redis.url')
})

test('a Redis user who may not run every command', async () => {
  const server = await startRedis(['--user', 'poterne', 'on', '>right', '~*', '&*', '+@all', '-info'])
  const url = server.url.replace('//', '//poterne:right@')
  await expectWords(
    await onRedis(url),
    'Redis refuses its user the command INFO (NOPERM): allow it with +info in the ACL; docs/operations.md lists',
  )
  await server.stop()
})

test('a Redis that is too old is refused, and a start again would not help', async () => {
  const port = Number(new URL((await sharedRedis()).url).port)
  const sayingIts = (version: string) =>
    startChangingProxy(port, (said) => said.replace(/(?<=redis_version:)\d\.\d/g, version))
  const old = await sayingIts('6.1')
  await expectWords(
    await onRedis(`redis://127.0.0.1:${old.port}`),
    'is too old: upgrade it to 6.2 or later',
    2,
  )
  await old.close()
  const oldest = await sayingIts('6.2')
  await using _ = await startService({
    storage: mergeSettings(serverOn(0), await onRedis(`redis://127.0.0.1:${oldest.port}`)),
  })
  await oldest.close()
})

async function newDatabase(options: string) {
  const { url } = await sharedPostgres()
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
  await sql.unsafe(`create database ${name} template template0 ${options}`)
  await sql.end()
  return url.replace(/postgres$/, name)
}

const oneLine = (text: string) => text.trimEnd().split('\n').length

test('a database in an encoding that loses letters is refused, and a start again would not help', async () => {
  for (const encoding of ['LATIN1', 'EUC_JP'])
    await expectWords(
      onDatabase(await newDatabase(`encoding '${encoding}' lc_collate 'C' lc_ctype 'C'`)),
      `the encoding is ${encoding}, in which names and addresses are lost: create a database with encoding 'UTF8'`,
      2,
    )
})

test('a PostgreSQL server that is too old is refused, and a start again would not help', async () => {
  const url = await newDatabase(`encoding 'UTF8'`)
  const sql = postgres(url, { max: 1 })
  await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set search_path = public, pg_catalog`)
  await sql.unsafe(`create function public.current_setting(name text) returns text language sql stable as $$
    select case name when 'server_version_num' then '120005' else pg_catalog.current_setting(name) end $$`)
  await sql.end()
  await expectWords(onDatabase(url), 'PostgreSQL 12 is too old: upgrade the server to 13 or later', 2)
})

test('doctor leaves an unusable database to the check that names it', async () => {
  const url = await newDatabase(`encoding 'LATIN1' lc_collate 'C' lc_ctype 'C'`)
  const { doctor } = await saidBy(onDatabase(url))
  expect(doctor.text).toMatch(/^failure {2}database-encoding: the encoding is LATIN1/m)
  expect(doctor.text).toMatch(/^ok {7}migrations: none can be applied to this database$/m)
})

test('SQL_ASCII serves, and says so once', async () => {
  const url = await newDatabase(`encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C'`)
  await using service = await startService({ storage: mergeSettings(serverOn(0), onDatabase(url)) })
  const line = await waitFor(() => service.log.find((each) => each.includes('the encoding is SQL_ASCII')))
  expect(JSON.parse(line)).toMatchObject({ level: 'warn', key: 'database.url' })
  expect((await service.call('GET', '/readyz')).status).toBe(200)
})

test('the first start writes no error into the log of the server', async () => {
  const directory = serverDirectory('first-start')
  chmodSync(directory, 0o777)
  const server = await startPostgres({
    settings: { logging_collector: 'on', log_directory: directory, log_min_messages: 'warning' },
  })
  await using _ = await startService({ storage: mergeSettings(serverOn(0), onDatabase(server.url)) })
  const written = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'))
  expect(written.length).toBeGreaterThan(0)
  expect(
    written
      .join('')
      .split('\n')
      // The server is asked from its first moment on whether it answers.
      .filter((line) => /\b(ERROR|PANIC|WARNING):/.test(line)),
  ).toEqual([])
  await server.stop()
})

test('an unreachable database hides nothing of Redis, which is looked at beside it', async () => {
  const { url } = await sharedRedis()
  const { doctor } = await saidBy({
    database: { url: `postgres://nobody@127.0.0.1:${await freePort()}/x` },
    redis: { url },
  })
  expect(doctor.text).toMatch(/^failure {2}database: /m)
  expect(doctor.text).toMatch(/^ok {7}redis: it answers and takes writes \(single\)$/m)
  expect(doctor.text).toMatch(/^ok {7}redis-eviction: /m)
  expect(oneLine(doctor.text)).toBeGreaterThan(20)
})

test('who took a data directory just now is waited for, until that one ends or is ready', async () => {
  const directory = newDirectory('taken')
  const first = await lockData(directory)
  const second = lockData(directory)
  expect(await Promise.race([second, Bun.sleep(500).then(() => 'waits')])).toBe('waits')
  first()
  const unlock = await second
  noteReady(directory)
  await expect(lockData(directory)).rejects.toThrow(/is in use by another poterne: stop that one first$/)
  unlock()
  // Commands that follow one another do not wait for a service.
  expect(isStarting(directory)).toBe(false)
})

test('a backup by a user from whom policies hide rows is refused', async () => {
  const { url } = await createDatabase()
  const role = `role_${crypto.randomUUID().replaceAll('-', '')}`
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  await sql.unsafe(`create role ${role} login; grant usage on schema public to ${role};
    grant all on all tables in schema public to ${role}; grant all on all sequences in schema public to ${role};
    alter table sessions enable row level security`)
  const { file, directory } = writeSettings(
    mergeSettings(serverOn(0), onDatabase(url.replace('postgres@', `${role}@`))),
  )
  const backup = join(directory, 'auth.backup')
  const { code, error } = await runPoterne(['backup', backup, '--config', file], { directory })
  expect([code, existsSync(backup)]).toEqual([1, false])
  expect(error).toContain('row-level security policy for table "sessions"')
  await sql.unsafe(`drop owned by ${role}; drop role ${role}`)
  await sql.end()
})
