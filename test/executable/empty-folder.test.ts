/**
 * A command where no service runs and no database is, with either kind of database. It makes nothing, and says what
 * is missing instead of answering for a database that it has just made.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLines, everyCommand } from '../helpers/command-lines.ts'
import { runPoterne } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { runHere } from '../helpers/run-here.ts'
import { createDatabase, redisPrefix, sharedRedis } from '../helpers/servers.ts'
import { rareShapes, type Shape } from '../helpers/service.ts'
import { soaking } from '../helpers/soak.ts'

setDefaultTimeout(120_000)

const run = (args: string[], directory: string, env: Record<string, string>) =>
  runPoterne(args, { directory, env: { HOME: directory, ...env } })

async function environmentOf(shape: Shape) {
  const port = String(await freePort())
  const delivery = {
    POTERNE_SMTP_HOST: '127.0.0.1',
    POTERNE_SMTP_PORT: port,
    POTERNE_SMTP_FROM: 'a@example.com',
  }
  const passphrase = join(newDirectory('passphrase'), 'file')
  writeFileSync(passphrase, 'a passphrase of some length\n')
  const env = { ...delivery, POTERNE_SERVER_PORT: port, POTERNE_BACKUP_PASSPHRASE_FILE: passphrase }
  if (shape === 'embedded') return { env, tables: async () => 0, drop: async () => {} }
  const database = await createDatabase({ migrated: false })
  const redis: Record<string, string> =
    shape === 'redis'
      ? { POTERNE_REDIS_URL: (await sharedRedis()).url, POTERNE_REDIS_KEY_PREFIX: redisPrefix() }
      : {}
  return {
    env: { ...env, ...redis, POTERNE_DATABASE_URL: database.url, POTERNE_SERVER_SECRET: 'ab'.repeat(32) },
    async tables() {
      const sql = new Bun.SQL(database.url, { max: 1 })
      const [row] = await sql`select count(*)::int as count from pg_tables where schemaname = 'public'`
      await sql.close()
      return row.count as number
    },
    drop: database.drop,
  }
}

test('this file knows every command', async () => {
  const known = Object.keys(commandLines).sort()
  expect((await everyCommand()).map(({ name }) => name).sort()).toEqual(known)
})

test('a backup without a passphrase speaks of the database that is not there, and of no secret', async () => {
  const { code, error } = await run(['backup'], newDirectory('nothing'), {})
  expect([code, error]).toEqual([1, expect.stringContaining('there is no database in')])
})

/** The others ask the server as these do: a soak tries them. */
const onServer = ['accounts list', 'keys rotate', 'secret rotate', 'backup', 'restore', 'config show']
const isTried = (shape: Shape, name: string) => soaking || shape === 'embedded' || onServer.includes(name)

/** Each has a way of its own to the database. The others go the way of `accounts list`, and only a soak starts a process for each. */
const started = [
  ...onServer,
  ...['config check', 'doctor', 'events follow', 'export', 'health', 'import', 'migrate', 'secret revoke'],
  ...['secret status', 'upgrade'],
]
const runOf = (name: string) =>
  soaking || started.includes(name)
    ? run
    : (args: string[], directory: string, env: Record<string, string>) =>
        runHere(args, { HOME: directory, ...env }, directory)

describe.each(rareShapes)('with %s', (shape) => {
  test('no command makes a data directory, a database or a secret, and each says in one line what is missing', async () => {
    const { env, tables, drop } = await environmentOf(shape)
    const elsewhere = newDirectory('written')
    const place = {
      ...{
        account: 'ada@example.com',
        token: crypto.randomUUID(),
        message: '1',
        session: crypto.randomUUID(),
      },
      directory: elsewhere,
    }
    for (const [name, { args, needs }] of Object.entries(commandLines)) {
      if (!isTried(shape, name)) continue
      // Making the tables of a server is what it is for.
      if (name === 'migrate' && shape !== 'embedded') continue
      const directory = newDirectory('empty')
      const typed = [...name.split(' '), ...args(place), '--yes']
      const { code, out, error } = await runOf(name)(typed, directory, env)
      expect([name, readdirSync(directory)]).toEqual([name, []])
      if (needs === 'nothing') expect([name, code]).toEqual([name, 0])
      if (needs !== 'database') continue
      expect([name, code, out, error.trimEnd().split('\n').length]).toEqual([name, expect.any(Number), '', 1])
      expect([name, code]).not.toEqual([name, 0])
      if (shape === 'embedded' && !['restore', 'health'].includes(name))
        expect(error).toContain('there is no database in ')
    }
    expect(await tables()).toBe(0)
    await drop()
  })
})

test('without a configuration that can be read, a command says so, and that no service answers', async () => {
  const directory = newDirectory('unset')
  writeFileSync(join(directory, 'config.toml'), '[smtp]\nhost = "127.0.0.1"\npassword = "${SMTP_PASSWORD}"\n')
  for (const args of [
    ['accounts', 'list'],
    ['keys', 'rotate', '--now'],
    ['limits', 'lift', 'ada@example.com'],
  ]) {
    const { code, out, error } = await run(args, directory, {})
    expect([code, out]).toEqual([2, ''])
    expect(error).toContain('the environment variable SMTP_PASSWORD is not set')
    expect(error).toContain('no service answers')
  }
  expect(readdirSync(directory)).toEqual(['config.toml'])
})
