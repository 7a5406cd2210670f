/**
 * The time that each migration keeps others waiting in a database that is in use. 5,000 accounts; a million, and two
 * million sessions, with TEST_SOAK=1, which takes five minutes, most of them to fill the tables.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import type { Database } from '../../src/platform/postgres/database.ts'
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { createFilled, earlier, own, type Series, stages } from '../helpers/filled-database.ts'
import { type Waits, watchLocks } from '../helpers/lock-watch.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { startPostgres } from '../helpers/servers.ts'
import { reduced, soaking } from '../helpers/soak.ts'

setDefaultTimeout(reduced(60_000, 3_600_000))

const LONGEST_MS = 1000
const ACCOUNTS = reduced(5000, 1_000_000)

/** Calls `onEnd` after each transaction and each session. */
function observed(database: Database, onEnd: () => Promise<void>): Database {
  return {
    ...database,
    transaction: (work, options) => database.transaction(work, options).finally(onEnd),
    session: (work) => database.session(work).finally(onEnd),
  }
}

interface Row extends Waits {
  /** Several where they were applied together; none where a table was held. */
  names: string[]
  tookMs: number
}

function describeRow({ names, tookMs, waits, held }: Row): string {
  const [probe, ms] = Object.entries(waits).toSorted(([, one], [, other]) => other - one)[0] ?? ['', 0]
  const round = (value: number) => `${Math.round(value)} ms`
  return `${names.join(', ') || 'none'}: ${round(tookMs)}, longest wait ${round(ms)} (${probe}), longest lock ${round(held.ms)} (${held.table})\n`
}

/** Those from before the first release do not change any more: a soak tries them as well. */
test.each<[string, Series]>([
  ...reduced<[string, Series][]>([], [['from before the first release', earlier]]),
  ['since', own],
])('no migration after the first keeps anybody waiting for a second: those %s', async (_, series) => {
  const server = soaking
    ? await startPostgres({
        directory: newDirectory('postgres'),
        settings: { fsync: 'on', full_page_writes: 'on', max_wal_size: '4GB' },
      })
    : undefined
  const filled = await createFilled(ACCOUNTS, series, server && { server })
  const watch = await watchLocks(filled.url, ACCOUNTS)
  const rows: Row[] = []
  let done = 1
  for (const stage of stages(series)) {
    watch.take()
    let startedAt = performance.now()
    const database = observed(filled.database, async () => {
      const measured = { tookMs: performance.now() - startedAt, ...watch.take() }
      const names = (await filled.applied()).slice(done)
      done += names.length
      rows.push({ names, ...measured })
      startedAt = performance.now()
    })
    await applyMigrations(database, new Date(), { migrations: series.migrations.slice(0, stage) })
    await filled.advance(stage)
  }
  await watch.stop()
  if (soaking) for (const row of rows) process.stdout.write(describeRow(row))
  const slow = rows.filter(({ waits, held }) => Math.max(held.ms, ...Object.values(waits)) >= LONGEST_MS)
  expect(slow.map(describeRow)).toEqual([])
  expect(rows.flatMap(({ names }) => names)).toHaveLength(series.migrations.length - 1)
  // None of them inherits the locks of the one before it.
  expect(rows.filter(({ names }) => names.length > 1)).toEqual([])
  await filled.drop()
  await server?.stop()
})
