/** PostgreSQL behind PgBouncer: session mode is like the server itself, transaction mode is refused. */
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { openServerCopy } from '../../src/platform/postgres/copy.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { poterneCommand } from '../helpers/executable.ts'
import { type PoolMode, startPooler } from '../helpers/pooler.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'

setDefaultTimeout(60_000)

const ends: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ends.reverse()) await end()
})
async function behind(mode: PoolMode): Promise<string> {
  const database = await createDatabase()
  ends.push(database.drop)
  const pooler = await startPooler(database.url, mode)
  ends.push(pooler.stop)
  return pooler.url
}
const settings = {
  text: `select current_setting('statement_timeout') as timeout, current_setting('TimeZone') as zone,
                current_setting('enable_seqscan') as seqscan, current_setting('jit') as jit`,
  params: [],
}
const wanted = { timeout: '2500ms', zone: 'UTC', seqscan: 'off', jit: 'off' }
const sentence =
  /database\.url: cannot connect: a pooler in transaction mode .* direct address .* session mode/

describe('a pooler in session mode', () => {
  test('is taken, and every connection has the settings, also one that others had before', async () => {
    const url = await behind('session')
    for (let round = 0; round < 3; round++) {
      const database = await connectServer({ url, poolSize: 5 })
      const asked = Array.from({ length: 20 }, () => database.transaction((one) => one.first(settings, {})))
      for (const shown of await Promise.all(asked)) expect(shown as object | null).toEqual(wanted)
      await database.close()
    }
    const copy = await openServerCopy(url)
    expect(await copy.query(`select current_setting('statement_timeout') as timeout`)).toEqual([
      { timeout: '0' },
    ])
    await copy.close()
  })

  test('with one connection for each process is taken, too', async () => {
    const database = await connectServer({ url: await behind('session'), poolSize: 1 })
    expect((await database.first(settings, {})) as object | null).toEqual(wanted)
    await database.close()
  })
})

describe('a pooler in transaction mode', () => {
  test.each([1, 2, 10])(
    'is refused with a pool of %d, and the sentence says what to name',
    async (poolSize) => {
      const url = await behind('transaction')
      for (let round = 0; round < 5; round++)
        expect(await connectServer({ url, poolSize }).then(String, String)).toMatch(sentence)
    },
  )

  test('is refused while another replica is at work behind it', async () => {
    const url = await behind('transaction')
    const others = Array.from({ length: 4 }, () => new Bun.SQL(url, { max: 1, prepare: false }))
    let isOver = false
    const work = others.map(async (sql) => {
      while (!isOver) await sql.unsafe('select pg_sleep(0.002)').simple()
    })
    for (let round = 0; round < 10; round++)
      expect(await connectServer({ url, poolSize: 4 }).then(String, String)).toMatch(sentence)
    isOver = true
    await Promise.all(work)
    await Promise.all(others.map((sql) => sql.end()))
  })
})

test('doctor says it, and so does a start', async () => {
  const url = await behind('transaction')
  const env = {
    POTERNE_DATABASE_URL: url,
    POTERNE_SERVER_SECRET: 'ab'.repeat(32),
    POTERNE_SMTP_HOST: '127.0.0.1',
    POTERNE_SMTP_PORT: '9',
    POTERNE_SMTP_FROM: 'a@example.com',
    POTERNE_SMTP_SECURITY: 'none',
  }
  for (const command of ['doctor', 'migrate']) {
    const { exitCode, stdout, stderr } = Bun.spawnSync([...poterneCommand(), command], {
      cwd: newDirectory('doctor'),
      env: { ...env, PATH: process.env.PATH, HOME: '/nonexistent' },
    })
    const said = `${stdout}${stderr}`
    expect([command, exitCode, said]).toEqual([
      command,
      1,
      expect.stringContaining('a pooler in transaction mode'),
    ])
  }
})

test('the server itself is taken', async () => {
  const { url, drop } = await createDatabase()
  for (const poolSize of [1, 2, 10]) {
    const database = await connectServer({ url, poolSize })
    expect((await database.first(settings, {})) as object | null).toEqual(wanted)
    await database.close()
  }
  await drop()
})
