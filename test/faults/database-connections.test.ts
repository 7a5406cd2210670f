/** The connections to PostgreSQL, alone, through every way a server can go away. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { type Database, param, statement } from '../../src/platform/postgres/database.ts'
import { DatabaseUnavailable, retryConflicts } from '../../src/platform/postgres/failure.ts'
import { connectServer, openServer } from '../../src/platform/postgres/server.ts'
import { type PostgresServer, startPostgres } from '../helpers/servers.ts'
import { longTest, measureBelow } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

type Nothing = Record<string, never>
const one = statement<Nothing, { one: number }>(sql`select 1 as one`)
const sleep = statement<{ seconds: number }>(sql`select pg_sleep(${param('seconds', 'float8')})`)
const echo = statement<{ number: number }, { number: number }>(
  sql`select ${param('number', 'int')} as number`,
)
const fail = statement<Nothing>(sql`select 1 / 0`)
const backend = statement<Nothing, { pid: number }>(sql`select pg_backend_pid() as pid`)
const add = statement<{ text: string }>(sql`insert into notes values (${param('text', 'text')})`)
const lockNote = statement<{ text: string }>(
  sql`select * from notes where text = ${param('text', 'text')} for update`,
)
const lockTwo = statement<{ first: string; second: string }, { text: string }>(sql`
  with first as materialized (select text from notes where text = ${param('first', 'text')} for update),
  pause as materialized (select pg_sleep(0.3) from first),
  second as materialized (
    select text from notes, pause where text = ${param('second', 'text')} for update of notes)
  select text from second`)

const POOL = 4
let server: PostgresServer
let control: postgres.Sql
let database: Database

beforeAll(async () => {
  server = await startPostgres()
  control = postgres(server.url, { max: 1, onnotice: () => {} })
  await control`create table notes (text text)`
  database = openServer({ url: server.url, poolSize: POOL })
}, 60_000)
afterAll(async () => {
  await database.close()
  await control.end({ timeout: 1 })
  await server.stop()
})

/** Returns milliseconds, for every outcome. */
async function timed(work: Promise<unknown>): Promise<{ ms: number; error: unknown }> {
  const start = performance.now()
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  return { ms: performance.now() - start, error }
}

const ask = (times: number) => Promise.all(Array.from({ length: times }, () => timed(database.all(one, {}))))
/** The sockets of this process that lead to the server: others may close at any moment. */
function openSockets(): number {
  const port = `:${server.port.toString(16).padStart(4, '0').toUpperCase()}`
  const rows = readFileSync('/proc/self/net/tcp', 'utf8').split('\n')
  const columns = rows.map((row) => row.trim().split(/\s+/))
  const inodes = new Set(columns.filter(([, , remote]) => remote?.endsWith(port)).map((row) => row[9]))
  return readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return inodes.has(/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${fd}`))?.[1])
    } catch {
      return false
    }
  }).length
}
const backends = async (): Promise<number[]> => {
  const rows = await control`select pid from pg_stat_activity where application_name = 'poterne'`
  return rows.map(({ pid }) => pid)
}
const connections = async () => (await backends()).length

describe('a server that hangs', () => {
  longTest(
    'every caller is refused within 5 s, and the connections come back with the server',
    async () => {
      await ask(20)
      const socketsBefore = openSockets()
      expect(await connections()).toBeLessThanOrEqual(POOL)
      server.pause()
      const rounds = []
      try {
        rounds.push(...(await ask(40)))
        // Connections made while it hangs.
        rounds.push(...(await ask(40)))
      } finally {
        server.resume()
      }
      expect(rounds.every(({ error }) => error instanceof DatabaseUnavailable)).toBe(true)
      expect(Math.max(...rounds.map(({ ms }) => ms))).toBeLessThan(5000)
      await waitFor(async () => (await ask(1))[0]?.error === null, { timeoutMs: 5000 })
      expect((await ask(40)).every(({ error }) => error === null)).toBe(true)
      await waitFor(async () => (await connections()) <= POOL, {
        what: 'the connections to be no more than the pool',
      })
      await waitFor(() => openSockets() <= socketsBefore + 1, { what: 'the sockets to be closed' })
    },
    30_000,
  )
})

describe('a connection that breaks', () => {
  test('in the middle of a transaction ends it, and nothing of it runs on another connection', async () => {
    const broken = database.transaction(async (transaction) => {
      await transaction.all(add, { text: 'first' })
      const { pid } = (await transaction.first(backend, {}))!
      await control`select pg_terminate_backend(${pid})`
      await transaction.all(add, { text: 'second' }).catch(() => {})
      await Bun.sleep(50)
      await transaction.all(add, { text: 'third' })
    })
    await expect(broken).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect(await control`select text from notes`).toHaveLength(0)
    expect((await ask(10)).every(({ error }) => error === null)).toBe(true)
  })

  test('while nobody uses it is replaced, and no caller notices', async () => {
    await ask(20)
    await control`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'poterne'`
    // That of the test itself stays.
    await waitFor(() => openSockets() === 1, { what: 'the sockets to be closed' })
    // The kernel lists none that was reset; the pool hears of it in the next turn.
    await Bun.sleep(20)
    expect((await ask(20)).map(({ error }) => error)).toEqual(Array(20).fill(null))
  })

  test('under a statement refuses that caller only', async () => {
    const victim = timed(database.all(sleep, { seconds: 2 }))
    const others = ask(3)
    await waitFor(
      async () =>
        (
          await control`select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%'
                        and application_name = 'poterne' and state = 'active'`
        ).length > 0,
    )
    expect((await victim).error).toBeInstanceOf(DatabaseUnavailable)
    expect((await others).every(({ error }) => error === null)).toBe(true)
  })
})

describe('a slow statement', () => {
  test('is ended by the server, and its connection serves on', async () => {
    const untilEnded = async () => {
      await ask(POOL * 2)
      const before = await backends()
      const { ms, error } = await timed(database.all(sleep, { seconds: 60 }))
      expect(error).toBeInstanceOf(DatabaseUnavailable)
      expect(ms).toBeGreaterThan(2000)
      // None was replaced, as a broken one would be.
      if (ms < 3500) expect(before).toEqual(expect.arrayContaining(await backends()))
      return ms
    }
    expect(await measureBelow(3500, untilEnded)).toBeLessThan(3500)
  })

  test('does not hold up others, and who waits too long for a connection is refused', async () => {
    const untilRefused = async () => {
      const slow = Array.from({ length: POOL }, () => timed(database.all(sleep, { seconds: 60 })))
      // Until it shows that they are slow, a statement may go behind another one.
      await Bun.sleep(150)
      const waiting = await timed(database.all(one, {}))
      expect(waiting.error).toBeInstanceOf(DatabaseUnavailable)
      await Promise.all(slow)
      expect((await ask(POOL * 2)).every(({ error }) => error === null)).toBe(true)
      return waiting.ms
    }
    expect(await measureBelow(2500, untilRefused)).toBeLessThan(2500)
  })

  test('in a transaction leaves its connection clean', async () => {
    const slow = database.transaction(async (transaction) => {
      await transaction.all(add, { text: 'slow' })
      await transaction.all(sleep, { seconds: 60 })
    })
    await expect(slow).rejects.toBeInstanceOf(DatabaseUnavailable)
    expect((await ask(POOL * 2)).every(({ error }) => error === null)).toBe(true)
    expect(await control`select text from notes`).toHaveLength(0)
  })
})

describe('more statements than connections', () => {
  test('follow each other on the same connections, each with its own answer', async () => {
    const numbers = Array.from({ length: 200 }, (_, number) => number)
    const answers = await Promise.all(numbers.map((number) => database.first(echo, { number })))
    expect(answers.map((row) => row?.number)).toEqual(numbers)
    expect(await connections()).toBeLessThanOrEqual(POOL)
  })

  test('and one that fails leaves those behind it alone', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, number) =>
        timed(number % 7 === 0 ? database.all(fail, {}) : database.all(echo, { number })),
      ),
    )
    expect(answers.map(({ error }) => error === null)).toEqual(answers.map((_, number) => number % 7 !== 0))
  })

  test('do not keep a transaction waiting', async () => {
    let busy = true
    const crowd = Array.from({ length: POOL * 8 }, async () => {
      while (busy) await database.all(one, {})
    })
    const { error, ms } = await timed(database.transaction((transaction) => transaction.all(one, {})))
    busy = false
    await Promise.all(crowd)
    expect(error).toBeNull()
    expect(ms).toBeLessThan(1000)
  })

  test('do not run inside a transaction that is under way', async () => {
    const running = database.transaction(async (transaction) => {
      const { pid } = (await transaction.first(backend, {}))!
      const others = await Promise.all(Array.from({ length: 40 }, () => database.first(backend, {})))
      expect(others.some((row) => row?.pid === pid)).toBe(false)
    })
    await running
  })
})

describe('a deadlock', () => {
  test('of two statements is settled without anybody noticing', async () => {
    await control`insert into notes values ('left'), ('right')`
    const answers = await Promise.all([
      database.all(lockTwo, { first: 'left', second: 'right' }),
      database.all(lockTwo, { first: 'right', second: 'left' }),
    ])
    expect(answers.flat()).toHaveLength(2)
    await waitFor(
      async () =>
        (await control`select 1 from pg_stat_database where datname = 'postgres' and deadlocks > 0`).length >
        0,
      { what: 'the server to have settled one' },
    )
    await database.all(lockNote, { text: 'left' })
    await control`delete from notes`
  })
})

test('a statement and a transaction that could not be put in an order are repeated', async () => {
  await control`create sequence tries`
  await control`create function refuse_first() returns bigint language plpgsql as ${control.unsafe(
    `$$ declare at bigint := nextval('tries'); begin
          if at % 2 = 1 then raise exception 'not in an order' using errcode = '40001'; end if;
          return at; end $$`,
  )}`
  const ask = statement<object, { at: number }>(sql`select refuse_first() as at`)
  expect(await database.first(ask, {})).toEqual({ at: 2 })
  const asked = await retryConflicts(() => database.transaction((one) => one.first(ask, {})))
  expect(asked).toEqual({ at: 4 })
})

describe('a server that gives fewer connections than the pool may take', () => {
  const limited = async (role: string, limit: number) => {
    await control.unsafe(`create role ${role} login connection limit ${limit}`)
    return server.url.replace('postgres@', `${role}@`)
  }
  const askMany = (pool: Database) =>
    Promise.all([
      ...Array.from({ length: 32 }, () => timed(pool.all(sleep, { seconds: 0.01 }))),
      ...Array.from({ length: 4 }, () =>
        timed(pool.transaction((transaction) => transaction.all(sleep, { seconds: 0.01 }))),
      ),
    ])
  const errorsOf = (asked: { error: unknown }[]) => asked.map(({ error }) => error)
  const nobody = Array(36).fill(null)

  test('is waited for, and nobody is refused', async () => {
    const pool = openServer({ url: await limited('three', 3), poolSize: 10 })
    for (let round = 0; round < 2; round++) expect(errorsOf(await askMany(pool))).toEqual(nobody)
    await pool.close()
  })

  test('is waited for while others take what it gives', async () => {
    const url = await limited('shared', 4)
    const pool = openServer({ url, poolSize: 10 })
    await pool.all(one, {})
    const others = postgres(url, { max: 3 })
    await Promise.all([1, 2, 3].map(() => others`select pg_sleep(0.05)`))
    expect(errorsOf(await askMany(pool))).toEqual(nobody)
    await others.end()
    await pool.close()
  })

  test('has one left for commands, and the start warns with both numbers', async () => {
    const url = await limited('four', 4)
    const warnings: string[] = []
    const pool = await connectServer({ url, poolSize: 10 }, (message) => warnings.push(message))
    expect(warnings).toEqual([
      expect.stringMatching(/^database\.pool_size is 10, and the server gives 4 connections, .*: lower it/),
    ])
    expect(errorsOf(await askMany(pool))).toEqual(nobody)
    const command = postgres(url, { max: 1 })
    const [count] = await command`select count(*)::int from pg_stat_activity where usename = 'four'`
    expect(count).toEqual({ count: 4 })
    await command.end()
    await pool.close()
    const enough = await connectServer({ url, poolSize: 3 }, (message) => warnings.push(message))
    expect(warnings).toHaveLength(1)
    await enough.close()
  })

  test('refuses in time where none of them is ours', async () => {
    const url = await limited('one', 1)
    const other = postgres(url, { max: 1 })
    await other`select 1`
    const pool = openServer({ url, poolSize: 10 })
    for (const { error, ms } of await askMany(pool)) {
      expect(error).toBeInstanceOf(DatabaseUnavailable)
      expect(ms).toBeLessThan(5000)
    }
    await other.end()
    await waitFor(async () => (await timed(pool.all(one, {}))).error === null)
    await pool.close()
  })
})

describe('a server that is stopped', () => {
  test('refuses at once, and serves the first caller after its return', async () => {
    await server.stop()
    const away = await ask(20)
    expect(away.every(({ error }) => error instanceof DatabaseUnavailable)).toBe(true)
    expect(Math.max(...away.map(({ ms }) => ms))).toBeLessThan(1000)
    await server.start()
    expect((await ask(20)).every(({ error }) => error === null)).toBe(true)
  }, 30_000)

  test('that only reads is not there for us', async () => {
    await control`alter system set default_transaction_read_only = on`
    await control`select pg_reload_conf()`
    try {
      await waitFor(async () => (await timed(database.ping())).error instanceof DatabaseUnavailable)
      const { error } = await timed(database.all(add, { text: 'no' }))
      expect(error).toBeInstanceOf(DatabaseUnavailable)
    } finally {
      const writer = postgres(server.url, { max: 1, connection: { default_transaction_read_only: false } })
      await writer`alter system reset default_transaction_read_only`
      await writer`select pg_reload_conf()`
      await writer.end()
    }
    await waitFor(async () => (await timed(database.ping())).error === null, { timeoutMs: 5000 })
  })
})
