/** `poterne config check --connect`, against real servers: what answers, and what to do about what does not. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { newEmail } from '../helpers/api-client.ts'
import { createCertificate } from '../helpers/certificates.ts'
import { runPoterne } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { startGateway } from '../helpers/gateway.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { runHere } from '../helpers/run-here.ts'
import { startPostgres, startRedis } from '../helpers/servers.ts'
import {
  createStorage,
  deliverySettings,
  differingShapes,
  mergeSettings,
  type Settings,
  startService,
  writeSettings,
} from '../helpers/service.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { reduced } from '../helpers/soak.ts'

setDefaultTimeout(60_000)

async function check(settings: Settings, { env = {}, args = [] as string[], byProcess = false } = {}) {
  const { file, directory } = writeSettings(settings)
  const words = ['config', 'check', '--connect', ...args, '--config', file]
  const ran = await (byProcess ? runPoterne(words, { directory, env }) : runHere(words, {}, directory))
  return { ...ran, lines: ran.out.split('\n').filter((line) => /^(ok|failed) /.test(line)) }
}

test.each(differingShapes)('everything answers, and nothing is sent (%s)', async (shape) => {
  const storage = await createStorage(shape)
  const [gateway, smtp] = [await startGateway(), await startSmtp()]
  const settings = mergeSettings(storage.settings, deliverySettings(smtp, gateway), {
    smtp: { ca_file: smtp.caFile },
  })
  const { code, error, lines } = await check(settings)
  expect({ code, error, lines }).toEqual({
    code: 0,
    error: '',
    lines: [
      `ok      ${shape === 'embedded' ? 'storage.data_dir' : 'database.url'}: it answers, and is up to date`,
      ...(shape === 'redis' ? ['ok      redis.url: it answers and takes writes (single)'] : []),
      'ok      smtp: it answers (starttls, authenticated)',
      expect.stringMatching(/^ok {6}sms\.gateways\[0\]\.url: it answers \(port \d+, in clear\)$/),
    ],
  })
  expect([smtp.messages, gateway.requests]).toEqual([[], []])
  await Promise.all([gateway.stop(), smtp.stop(), storage.drop()])
})

test('accounts without another way in are counted where codes.login is off', async () => {
  await using service = await startService({ settings: { accounts: { password: 'optional' } } })
  const [email, create] = [newEmail(), true]
  await service.post('2fa/request-otp', { identifier: email, create })
  const otp = await service.inbox.nextCode(email)
  const entered = await service.post('2fa/verify', { identifier: email, otp, create })
  expect(entered.status).toBe(200)
  const databaseLine = async (codes: { login: boolean }) => {
    const own = { accounts: { password: codes.login ? 'optional' : 'required' }, codes }
    const settings = mergeSettings(service.storage, deliverySettings(service.smtp, service.gateway), own)
    return (await check(settings)).lines.find((line) => line.includes('database.url'))
  }
  expect(await databaseLine({ login: true })).toBe('ok      database.url: it answers, and is up to date')
  expect(await databaseLine({ login: false })).toMatch(
    /^ok {6}database\.url: it answers, and is up to date; warning: 1 accounts have no way in but a sent code/,
  )
})

test('what lets no scheduled backup be made is a warning, in the check and at the start', async () => {
  const [gateway, smtp] = [await startGateway(), await startSmtp({ security: 'none', auth: null })]
  const place = newDirectory('connect')
  writeFileSync(join(place, 'file'), '')
  const backup = (directory: string) => ({ at: '03:00', directory, passphrase_file: join(place, 'file') })
  const delivery = mergeSettings(deliverySettings(smtp, gateway), {
    storage: { data_dir: join(place, 'data') },
  })
  const wrong = await check(mergeSettings(delivery, { backup: backup(join(place, 'file', 'backups')) }))
  expect(wrong.out).toContain(`warning: backup.directory = "${join(place, 'file', 'backups')}": `)
  expect(wrong.out).toContain(`${join(place, 'file')} is no directory`)
  const short = mergeSettings(delivery, { backup: backup(join(place, 'new', 'backups')) })
  expect((await check(short)).out).toContain(
    `warning: backup.passphrase_file = "${join(place, 'file')}": ${join(place, 'file')} holds fewer than 12 characters`,
  )
  rmSync(join(place, 'file'))
  // It ends where something listens already, and makes nothing.
  const port = Number(new URL(gateway.url).port)
  const { file, directory } = writeSettings(mergeSettings(short, { server: { port } }))
  const start = await runPoterne(['serve', '--config', file], { directory })
  expect(start.out).toContain(
    `backup.passphrase_file: no backup will be made: ${join(place, 'file')} cannot be read (ENOENT): let the user`,
  )
  writeFileSync(join(place, 'file'), 'a passphrase of some length\n', { mode: 0o600 })
  expect((await check(short)).out).not.toContain('backup.')
  expect(readdirSync(place)).toEqual(['file'])
  await Promise.all([gateway.stop(), smtp.stop()])
})

test('an embedded database is not made by trying, and one in use is no failure', async () => {
  const [gateway, smtp] = [await startGateway(), await startSmtp({ security: 'none', auth: null })]
  const data_dir = join(newDirectory('connect'), 'data')
  const delivery = deliverySettings(smtp, gateway)
  const fresh = await check(mergeSettings(delivery, { storage: { data_dir } }))
  expect(fresh.code).toBe(0)
  expect(fresh.lines[0]).toBe(`ok      storage.data_dir: \`poterne serve\` will make it in ${data_dir}`)
  expect(await Bun.file(join(data_dir, 'lock')).exists()).toBe(false)

  const storage = await createStorage('embedded')
  const service = await startService({ shape: 'embedded', storage: storage.settings })
  const { code, lines } = await check(mergeSettings(delivery, storage.settings), { byProcess: true })
  expect([code, lines[0]]).toEqual([0, 'ok      storage.data_dir: a running poterne has it open'])
  await service.close()
  await Promise.all([gateway.stop(), smtp.stop()])
})

test('a wrong password is named for each server, with what to do, and never printed', async () => {
  const server = await startPostgres({ settings: { hba_file: writeAccessRules() } })
  const admin = postgres(server.url, { max: 1 })
  await admin.unsafe(`create user poterne password 'right'`)
  await admin.end()
  const redis = await startRedis(['--user', 'poterne', 'on', '>right', '~*', '&*', '+@all'])
  const [gateway, smtp] = [await startGateway(), await startSmtp()]
  const settingsWith = (password: string) => {
    const address = (url: string) => url.replace(/\/\/(postgres@)?/, `//poterne:${password}@`)
    return mergeSettings(deliverySettings(smtp, gateway), {
      server: { secret: 'ab'.repeat(32) },
      database: { url: address(server.url) },
      redis: { url: address(redis.url) },
      smtp: { ca_file: smtp.caFile, ...(password === 'right' ? {} : { password }) },
    })
  }
  const [right, wrong] = await Promise.all([check(settingsWith('right')), check(settingsWith('hunter2'))])
  expect(right.lines.map((line) => line.split(':', 1)[0])).toEqual([
    'ok      database.url',
    'ok      redis.url',
    'ok      smtp',
    'ok      sms.gateways[0].url',
  ])
  expect(wrong.code).toBe(1)
  expect(wrong.lines).toEqual([
    expect.stringMatching(
      /^failed {2}database\.url: .*28P01.*: correct the user and the password in database\.url$/,
    ),
    expect.stringMatching(
      /^failed {2}redis\.url: .*WRONGPASS.*: correct the user and the password in redis\.url$/,
    ),
    expect.stringMatching(/^failed {2}smtp: smtp_auth .*: correct username and password in \[smtp\]/),
    expect.stringMatching(/^ok /),
  ])
  expect(wrong.out + wrong.error).not.toContain('hunter2')
  await Promise.all([server.stop(), redis.stop(), gateway.stop(), smtp.stop()])
})

test('a database that Redis lacks, and a user who may run no script, are named with what to do', async () => {
  const redis = await startRedis(['--user', 'reader', 'on', '>pw', '~*', '+@all', '-@scripting'])
  const storage = await createStorage('redis')
  const [gateway, smtp] = [await startGateway(), await startSmtp({ security: 'none', auth: null })]
  const redisLine = async (url: string) => {
    const own = { redis: { url } }
    const { code, lines } = await check(mergeSettings(storage.settings, deliverySettings(smtp, gateway), own))
    return [code, lines.find((line) => line.includes('redis.url'))]
  }
  const found = [
    redisLine(`${redis.url}/16`),
    redisLine(redis.url.replace('//', '//reader:pw@')),
    redisLine(`${redis.url}/x`),
  ]
  expect(await Promise.all(found)).toEqual([
    [
      1,
      expect.stringMatching(
        /^failed {2}redis\.url: the server has no database 16 \(NODATABASE\): it has 16, /,
      ),
    ],
    [
      1,
      expect.stringMatching(
        /^failed {2}redis\.url: Redis refuses its user the command EVAL(SHA)? \(NOPERM\)/,
      ),
    ],
    [2, undefined],
  ])
  await Promise.all([redis.stop(), gateway.stop(), smtp.stop(), storage.drop()])
})

/** Everybody but the superuser needs a password. */
function writeAccessRules(): string {
  const directory = newDirectory('access')
  chmodSync(directory, 0o755)
  const file = join(directory, 'pg_hba.conf')
  writeFileSync(file, 'host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
  chmodSync(file, 0o644)
  return file
}

test.each(reduced(['self-signed'] as const, ['self-signed', 'expired', 'wrong-host'] as const))(
  'a certificate that is %s is named',
  async (kind) => {
    const { key, cert, caFile } = createCertificate(kind)
    let requests = 0
    const gateway = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { key, cert },
      fetch() {
        requests += 1
        return new Response('')
      },
    })
    const smtp = await startSmtp({ certificate: kind })
    const { code, lines } = await check(
      mergeSettings(
        { smtp: { host: smtp.host, port: smtp.port, from: 'a@example.com', ...smtp.auth } },
        {
          sms: { gateways: [{ name: 'acme', url: gateway.url.href, body: { to: '{to}', text: '{text}' } }] },
        },
      ),
      { env: kind === 'self-signed' ? {} : { NODE_EXTRA_CA_CERTS: caFile }, byProcess: true },
    )
    expect(code).toBe(1)
    const remedy = kind === 'expired' ? ', since it has expired: renew it$' : ''
    const named = (name: string) =>
      expect.stringMatching(
        new RegExp(`^failed {2}${name}: .*: its certificate is not trusted for this host${remedy}`),
      )
    expect(lines.slice(1)).toEqual([named('smtp'), named('sms\\.gateways\\[0\\]\\.url')])
    expect(requests).toBe(0)
    await Promise.all([gateway.stop(true), smtp.stop()])
  },
)

test('what nobody listens on is named, for programs too', async () => {
  const closed = await freePort()
  const [gateway, smtp] = [await startGateway(), await startSmtp({ security: 'none', auth: null })]
  await Promise.all([gateway.stop(), smtp.stop()])
  const settings = mergeSettings(deliverySettings(smtp, gateway), {
    server: { secret: 'ab'.repeat(32) },
    database: { url: `postgres://poterne:hunter2@127.0.0.1:${closed}/poterne` },
    redis: { url: `redis://127.0.0.1:${closed}` },
  })
  const { code, out } = await check(settings, { args: ['--json'] })
  expect(code).toBe(1)
  const { valid, connections } = JSON.parse(out)
  const unreached = (key: string) => ({
    key,
    ok: false,
    message: expect.stringMatching(/: nothing listens there: start it, or correct host and port$/),
  })
  expect({ valid, connections }).toEqual({
    valid: true,
    connections: ['database.url', 'redis.url', 'smtp', 'sms.gateways[0].url'].map(unreached),
  })
  expect(out).not.toContain('hunter2')
})
