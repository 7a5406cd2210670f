/** The work of autovacuum and the checkpointer on a server: the embedded database does it by itself. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cpSync, readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { type Database, statement } from '../../src/platform/postgres/database.ts'
import { type EmbeddedOptions, openEmbedded, openEmbeddedCopy } from '../../src/storage/embedded/embedded.ts'
import { findNeglect } from '../../src/storage/embedded/upkeep.ts'
import { createStorage } from '../helpers/service.ts'
import { skipTransactions } from '../helpers/transaction-numbers.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(1_200_000)

const run = (database: Database, text: string) =>
  database.all(statement<object, Record<string, unknown>>(sql.raw(text)), {})

async function open(options: EmbeddedOptions = {}, storage?: string) {
  const dataDir = storage ?? ((await createStorage('embedded')).settings.storage?.data_dir as string)
  const database = await openEmbedded(dataDir, options)
  const age = async () => (await database.upkeep!.condition()).transactionAge
  const everything = async () => {
    const done: (string | null)[] = []
    for (let work = await database.upkeep!.step(); work; work = await database.upkeep!.step()) {
      done.push(work.relation)
      if (done.length > 1000) throw new Error('never done')
    }
    return done
  }
  const size = () =>
    (readdirSync(join(dataDir, 'postgres', 'base'), { recursive: true }) as string[]).reduce(
      (sum, file) => sum + statSync(join(dataDir, 'postgres', 'base', file)).size,
      0,
    )
  /** PostgreSQL counts what a session changed once a second, and now where that is asked. */
  const count = () => run(database, 'select pg_stat_force_next_flush()')
  return { dataDir, database, age, count, everything, size, run: (text: string) => run(database, text) }
}

describe('the embedded database', () => {
  test('gives the space of deleted rows back by itself', async () => {
    const one = await open()
    await one.run('create table filled (id int, text text)')
    const before = one.size()
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn++) {
        await one.run(`insert into filled select i, repeat('x', 200) from generate_series(1, 10000) i`)
        await one.run('delete from filled')
        await one.count()
        await waitFor(async () => (await one.database.upkeep!.condition()).deadRows < 1000, {
          what: 'a vacuum',
          timeoutMs: 30_000,
        })
      }
    }
    await turns(1)
    const once = one.size() - before
    await turns(2)
    // Two and a half megabytes each, and nothing of them stays.
    expect(one.size() - before).toBeLessThanOrEqual(Math.max(once, 1_000_000) * 1.2)
    await one.database.close()
  })

  test('finds the rows of a restore or a move frozen, so that its first vacuum reads none of them', async () => {
    const { settings } = await createStorage('embedded')
    const dataDir = settings.storage?.data_dir as string
    const copy = await openEmbeddedCopy(dataDir)
    await copy.query('begin')
    await copy.query('create table restored as select generate_series(1, 50000) as number')
    await copy.query('commit')
    await copy.close()
    const one = await open({}, dataDir)
    const [found] = await one.run(`
      select relpages as pages, relallfrozen as frozen, reltuples::int as rows
        from pg_class where relname = 'restored'`)
    const { pages, frozen, rows } = found as { pages: number; frozen: number; rows: number }
    expect(rows).toBe(50_000)
    expect(pages).toBeGreaterThan(100)
    expect(frozen).toBeGreaterThan(pages * 0.95)
    expect(await one.everything()).not.toContain('public.restored')
    await one.database.close()
  })

  test('has nothing to do after a clean close, and what was due before it is still due', async () => {
    const first = await open()
    await first.run('create table known as select generate_series(1, 1000) as number')
    await first.run('create table changed as select generate_series(1, 1000) as number')
    await first.count()
    await first.everything()
    await first.run('delete from changed where number <= 200')
    await first.database.close()
    const second = await open({}, first.dataDir)
    // Changes that the work of the last second has made itself may follow.
    const after = await second.everything()
    expect(after.filter((relation) => relation !== 'pg_catalog.pg_statistic')).toEqual([])
    await second.run('delete from changed where number <= 300')
    await second.database.close()
    const third = await open({}, first.dataDir)
    expect((await third.database.upkeep!.condition()).deadRows).toBeGreaterThanOrEqual(300)
    expect(await third.everything()).toContain('public.changed')
    // The work itself leaves dead rows in the catalogs, more of which are counted on a slow machine.
    const [changed] = await third.run(`select n_dead_tup::int as dead from pg_stat_user_tables
      where relname = 'changed'`)
    expect(changed).toEqual({ dead: 0 })
    // A crash leaves no counters, so that everything is looked at.
    cpSync(join(first.dataDir, 'postgres'), join(first.dataDir, 'crashed', 'postgres'), { recursive: true })
    await third.database.close()
    const crashed = await open({}, join(first.dataDir, 'crashed'))
    expect(await crashed.everything()).toContain('public.known')
    await crashed.database.close()
  })

  /** Each day brings rows, some are used again, half go after a twelfth of the time, and all after a quarter. */
  test('after a year of days in quick motion is hardly larger than a fresh copy of what is left', async () => {
    const [days, rows] = [365, 3000]
    const transactions = 1000
    const upkeep = { freezeAge: 20 * transactions, logBytes: 8 * 1024 * 1024 }
    const one = await open({ upkeep })
    await one.run('create table kept (day int, number int, used_at timestamptz, text text)')
    await one.run('create index on kept (day)')
    await one.run('create index on kept (text)')
    // A first look at a relation leaves maps of it, and statistics.
    await one.everything()
    const empty = one.size()
    const most = { age: 0, logBytes: 0, workMs: 0 }
    for (let day = 0; day < days; day++) {
      await one.run(`insert into kept select ${day}, i, now(), md5(i::text || ${day}) || repeat('x', 300)
        from generate_series(1, ${rows}) i`)
      await one.run(`update kept set used_at = now() where day > ${day - 5} and number % 5 = 0`)
      await one.run(
        `delete from kept where day <= ${day - days / 4} or (number % 2 = 0 and day <= ${day - days / 12})`,
      )
      // Every transaction of its own has a number.
      await one.run(`do $$ begin for i in 1..${transactions} loop begin
        update kept set number = number where false; perform pg_current_xact_id();
        exception when others then null; end; end loop; end $$`)
      await one.count()
      await one.everything()
      const { transactionAge, logBytes, longestWorkMs } = await one.database.upkeep!.condition()
      most.age = Math.max(most.age, transactionAge)
      most.logBytes = Math.max(most.logBytes, logBytes)
      most.workMs = Math.max(most.workMs, longestWorkMs)
    }
    const used = one.size() - empty
    const [left] = await one.run('select count(*)::int as rows from kept')
    await one.run('create table fresh (like kept including indexes)')
    const before = one.size()
    await one.run('insert into fresh select * from kept order by day')
    const fresh = one.size() - before
    process.stdout.write(`${JSON.stringify({ days, left, used, fresh, share: used / fresh, most })}\n`)
    expect(used).toBeLessThan(fresh * 1.5)
    expect(most.age).toBeLessThan(upkeep.freezeAge + 5 * transactions)
    expect(most.logBytes).toBeLessThan(upkeep.logBytes * 2)
    await one.database.close()
  })

  test('makes a checkpoint once the log is long, and does not wait for five minutes', async () => {
    const one = await open({ upkeep: { logBytes: 4 * 1024 * 1024 } })
    await one.run('create table logged (text text)')
    const logOf = async () => (await one.database.upkeep!.condition()).logBytes
    for (let i = 0; i < 3; i++) {
      await one.run(`insert into logged select repeat('x', 1000) from generate_series(1, 6000)`)
      if ((await logOf()) > 4 * 1024 * 1024) break
    }
    await waitFor(async () => (await logOf()) < 1024 * 1024, { what: 'a checkpoint', timeoutMs: 20_000 })
    await one.database.close()
  })

  test('says in which piece of work it failed, and goes on with it later', async () => {
    const failures: string[] = []
    const one = await open({
      upkeep: { logBytes: 0 },
      onUpkeepFailure: ({ message }) => failures.push(message),
    })
    const [there, away] = ['pg_xact', 'pg_xact.away'].map((name) => join(one.dataDir, 'postgres', name)) as [
      string,
      string,
    ]
    await one.run('create table changed as select 1 as id')
    renameSync(there, away)
    await waitFor(async () => failures.length > 0, { what: 'the failure', timeoutMs: 20_000 })
    renameSync(away, there)
    expect(failures[0]).toBe('checkpoint failed')
    expect(await one.run('select id from changed')).toEqual([{ id: 1 }])
    await one.database.close()
  })

  test('freezes every relation, catalogs and TOAST included, so that its age falls', async () => {
    const transactions = 300_000
    const one = await open({ upkeep: { freezeAge: transactions / 3 } })
    await one.run('create table kept as select 7 as id')
    await one.run('create table written (id int)')
    await one.run(`do $$ begin for i in 1..${transactions} loop
      begin insert into written values (i); exception when others then null; end; end loop; end $$`)
    await one.run('truncate written')
    expect(await one.age()).toBeGreaterThan(transactions)
    await one.everything()
    expect(await one.age()).toBeLessThan(1000)
    expect(await one.run('select id from kept')).toEqual([{ id: 7 }])
    await one.database.close()
  })

  test('lives through more transactions than there are numbers', async () => {
    let one = await open()
    await one.run('create table rows_of_then (turn int)')
    for (let turn = 0; turn < 3; turn++) {
      await one.run(`insert into rows_of_then values (${turn})`)
      await one.everything()
      await one.database.close()
      skipTransactions(join(one.dataDir, 'postgres'), 1_900_000_000)
      one = await open({}, one.dataDir)
      const condition = await one.database.upkeep!.condition()
      expect(condition.transactionAge).toBeGreaterThan(1_899_000_000)
      expect(findNeglect(condition)?.isFailure).toBe(true)
      await one.everything()
      expect(await one.age()).toBeLessThan(1000)
      expect(findNeglect(await one.database.upkeep!.condition())).toBeNull()
    }
    expect(await one.run('select count(*)::int as rows from rows_of_then')).toEqual([{ rows: 3 }])
    const [row] = await one.run(`select pg_current_xact_id()::text::float8 as "all"`)
    expect(row!.all).toBeGreaterThan(2 ** 32)
    await one.database.close()
  })
})
