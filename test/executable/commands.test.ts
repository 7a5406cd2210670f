/** Every command of the executable, as a shell meets it: what it prints, and its exit code. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import manifest from '../../package.json' with { type: 'json' }
import { lockData } from '../../src/storage/embedded/lock.ts'
import { makeDatabase, newStorage, runExecutable, startExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase, startPostgres } from '../helpers/servers.ts'
import { longTest, reduced, soaking } from '../helpers/soak.ts'

setDefaultTimeout(60_000)

const lines = (text: string) => text.trimEnd().split('\n')

test('version', async () => {
  const json = JSON.parse((await runExecutable(['version', '--json'])).out)
  expect(json).toEqual({
    version: manifest.version,
    commit: expect.stringMatching(/^([0-9a-f]{7,}|unknown)$/),
    built_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    bun: Bun.version,
  })
  const expected = { code: 0, out: `poterne ${manifest.version} (${json.commit})\n`, error: '' }
  expect(await runExecutable(['version'])).toEqual(expected)
  expect(await runExecutable(['--version'])).toEqual(expected)
})

describe('the configuration', () => {
  test('errors come all at once, with exit code 2, from check and from serve alike', async () => {
    const file = join(newDirectory('config'), 'wrong.toml')
    writeFileSync(file, '[server]\nprot = 1\nport = "x"\n[codes]\nlifetime = "10 parsecs"\n')
    for (const command of [['config', 'check'], ['serve']]) {
      const { code, error } = await runExecutable([...command, '--config', file])
      expect(code).toBe(2)
      for (const part of ['server.prot', 'port', 'server.port', 'codes.lifetime', 'smtp'])
        expect(error).toContain(part)
    }
  })

  test('without SMTP and gateway, and without --dev, it refuses to start and says why', async () => {
    const { code, error } = await runExecutable(['serve'])
    expect(code).toBe(2)
    expect(error).toMatch(/smtp/i)
    expect(error).toMatch(/gateway/i)
    expect(error).toContain('--dev')
  })

  test('a configuration file that is not there is exit code 2', async () => {
    const { code, error } = await runExecutable(['serve', '--config', '/nowhere/poterne.toml'])
    expect(code).toBe(2)
    expect(error).toContain('/nowhere/poterne.toml')
  })
})

describe('migrate', () => {
  test(`an embedded database that is not there is refused${reduced('', ', and one is made up to date by serve')}`, async () => {
    const directory = newDirectory('migrate')
    for (const args of [['migrate', '--plan'], ['migrate']]) {
      const { code, out, error } = await runExecutable(args, { directory })
      expect([code, out]).toEqual([1, ''])
      expect(error).toMatch(
        /^poterne failed: .*: there is no database in \S+\/data\. .*start it, or wait.*\n$/,
      )
    }
    expect(readdirSync(directory)).toEqual([])
    // A first start has the directory before it has a database.
    mkdirSync(join(directory, 'data'))
    const unlock = await lockData(join(directory, 'data'))
    const early = await runExecutable(['migrate'], { directory })
    expect([early.code, early.error]).toEqual([1, expect.stringContaining('is in use by another poterne')])
    unlock()
    if (!soaking) return
    await makeDatabase({ directory })
    for (const again of [['migrate'], ['migrate', '--plan']])
      expect((await runExecutable(again, { directory })).out).toBe('The database is up to date.\n')
  })

  test('lists what waits, applies it, and then has nothing to do', async () => {
    await using database = await createDatabase({ migrated: false })
    const env = { POTERNE_DATABASE_URL: database.url, POTERNE_SERVER_SECRET: 'ab'.repeat(32) }
    const plan = await runExecutable(['migrate', '--plan'], { env })
    expect(plan.code).toBe(0)
    const pending = lines(plan.out)
    expect(pending[0]).toMatch(/^pending 0000_/)
    const applied = await runExecutable(['migrate'], { env })
    expect(lines(applied.out)).toEqual(pending.map((line) => line.replace('pending', 'applied')))
    expect(await runExecutable(['migrate'], { env })).toEqual({
      code: 0,
      out: 'The database is up to date.\n',
      error: '',
    })
  })

  longTest('where it is switched off, serve refuses an empty database and names the command', async () => {
    await using database = await createDatabase({ migrated: false })
    const { code, error } = await runExecutable(['serve', '--dev'], {
      env: {
        POTERNE_DATABASE_URL: database.url,
        POTERNE_DATABASE_MIGRATE: 'false',
        POTERNE_SERVER_SECRET: 'ab'.repeat(32),
      },
    })
    expect(code).toBe(1)
    expect(lines(error)).toHaveLength(1)
    expect(error).toContain('poterne migrate')
  })

  test('a database newer than the executable is refused with one line, by serve and by migrate', async () => {
    const { settings, drop } = await newStorage('postgres')
    const url = settings.database?.url as string
    const sql = postgres(url, { max: 1 })
    await sql`insert into poterne_migrations (number, name, hash, applied_at)
              values (9999, '9999_from_the_future', 'x', now())`
    await sql.end()
    const env = { POTERNE_DATABASE_URL: url, POTERNE_SERVER_SECRET: 'ab'.repeat(32) }
    for (const command of [['serve', '--dev'], ['migrate'], ['migrate', '--plan']]) {
      const { code, error } = await runExecutable(command, { env })
      expect(code).toBe(2)
      expect(lines(error)).toHaveLength(1)
      expect(error).toContain('newer poterne (9999_from_the_future)')
    }
    await drop()
  })
})

describe('health', () => {
  test('says whether the service under the same configuration lives', async () => {
    const service = await startExecutable({ shape: 'postgres' })
    const alive = await runExecutable(['health', ...service.configArgs])
    expect(alive).toEqual({ code: 0, out: `${service.url}/healthz answers\n`, error: '' })
    await service.close()
    const dead = await runExecutable(['health', ...service.configArgs])
    expect(dead.code).toBe(1)
    expect(dead.error).toContain('does not answer')
  })
})

describe('what fails names its key and its file', () => {
  test('a configuration file that is no TOML heads its own errors', async () => {
    const directory = newDirectory('broken')
    const file = join(directory, 'config.toml')
    writeFileSync(file, 'port = = 1\n')
    for (const args of [[], ['--config', 'config.toml']]) {
      const { code, error } = await runExecutable(['config', 'check', ...args], { directory })
      expect(code).toBe(2)
      expect(error).toStartWith(`1 error in the configuration (${file}):\n`)
      expect(error).toContain('line 1')
    }
  })

  test('a database that is not there: database.url, and why', async () => {
    const env = {
      POTERNE_DATABASE_URL: `postgres://someone:hunter22@127.0.0.1:${await freePort()}/x`,
      POTERNE_SERVER_SECRET: 'ab'.repeat(32),
    }
    for (const args of [['serve', '--dev'], ['keys', 'list'], ['migrate']]) {
      const { error } = await runExecutable(args, { env })
      expect(error).toMatch(/^poterne failed: database\.url: cannot connect: .*ECONNREFUSED.*\n$/)
      expect(error).not.toContain('hunter22')
    }
  })

  test('a socket that is not there: database.url, and never another server', async () => {
    const directory = newDirectory('sockets')
    for (const url of [
      `postgres://u@/x?host=${directory}`,
      `postgres://u@${encodeURIComponent(directory)}/x`,
    ]) {
      const env = { POTERNE_DATABASE_URL: url, POTERNE_SERVER_SECRET: 'ab'.repeat(32) }
      const { error } = await runExecutable(['keys', 'list'], { env })
      expect(error).toMatch(/^poterne failed: database\.url: cannot connect: .*ENOENT.*\n$/)
    }
  })

  test('the socket of a server serves as its address does', async () => {
    const server = await startPostgres({ settings: { unix_socket_directories: '/tmp' } })
    const user = new URL(server.url).username
    const env = {
      POTERNE_DATABASE_URL: `postgres://${user}@/postgres?host=/tmp&port=${server.port}`,
      POTERNE_SERVER_SECRET: 'ab'.repeat(32),
    }
    const { code, out } = await runExecutable(['migrate', '--plan'], { env })
    expect({ code, first: lines(out)[0] }).toEqual({ code: 0, first: 'pending 0000_initial' })
    await server.stop()
  })

  test('a configuration that is valid but unwise says so in one line each, also at the start', async () => {
    const env = { POTERNE_PASSWORD_MEMORY_KIB: '8', POTERNE_SERVER_PORT: '0' }
    const { code, out } = await runExecutable(['config', 'check', '--dev'], { env })
    expect(code).toBe(0)
    expect(lines(out)).toEqual([
      'The configuration is valid (no file).',
      expect.stringMatching(/^warning: password\.memory_kib = 8: /),
    ])
  })
})
