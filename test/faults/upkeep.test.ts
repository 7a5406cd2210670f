/** What autovacuum and the checkpointer do on a server: the embedded database does it by itself. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { type Database, statement } from '../../src/platform/postgres/database.ts'
import { type EmbeddedOptions, openEmbedded } from '../../src/platform/postgres/embedded.ts'
import { findNeglect } from '../../src/platform/postgres/embedded-upkeep.ts'
import { createStorage } from '../helpers/service.ts'
import { skipTransactions } from '../helpers/transaction-numbers.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

const run = (database: Database, text: string) =>
  database.all(statement<object, Record<string, unknown>>(sql.raw(text)), {})

async function open(options: EmbeddedOptions = {}, storage?: string) {
  const dataDir = storage ?? ((await createStorage('embedded')).settings.storage?.data_dir as string)
  const database = await openEmbedded(dataDir, options)
  const age = async () => (await database.upkeep!.condition()).transactionAge
  const everything = async () => {
    for (let steps = 0; await database.upkeep!.step(); steps++)
      if (steps > 1000) throw new Error('never done')
  }
  const size = () =>
    (readdirSync(join(dataDir, 'postgres', 'base'), { recursive: true }) as string[]).reduce(
      (sum, file) => sum + statSync(join(dataDir, 'postgres', 'base', file)).size,
      0,
    )
  return { dataDir, database, age, everything, size, run: (text: string) => run(database, text) }
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
        await Bun.sleep(1000)
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
    const one = await open({ upkeep: { freezeAge: 100_000 } })
    await one.run('create table kept as select 7 as id')
    await one.run('create table written (id int)')
    await one.run(`do $$ begin for i in 1..300000 loop
      begin insert into written values (i); exception when others then null; end; end loop; end $$`)
    await one.run('truncate written')
    expect(await one.age()).toBeGreaterThan(300_000)
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
