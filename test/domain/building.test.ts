/** Building the service is not starting it: commands use its services while nothing else runs. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { build } from '../../src/compose/compose.ts'
import { connect } from '../../src/compose/connections.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { loadConfig } from '../../src/platform/config/load.ts'
import { createLogger } from '../../src/platform/log/logging.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import { createStorage, differingShapes, writeSettings } from '../helpers/service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

/** Counts every question to the database. */
function counting(database: Database): { database: Database; count: () => number } {
  let calls = 0
  const counted =
    <Args extends unknown[], Result>(call: (...args: Args) => Result) =>
    (...args: Args) => {
      calls++
      return call(...args)
    }
  const { all, first, run, transaction, ping } = database
  return {
    count: () => calls,
    database: {
      ...database,
      all: counted(all) as Database['all'],
      first: counted(first) as Database['first'],
      run: counted(run) as Database['run'],
      transaction: counted(transaction) as Database['transaction'],
      ping: counted(ping),
    },
  }
}

test.each(differingShapes)(
  'on %s, a service that is built runs nothing and writes nothing until it is started',
  async (shape) => {
    const storage = await createStorage(shape)
    const { directory, file } = writeSettings(storage.settings)
    const loaded = loadConfig({ env: {}, directory, configFile: file, mustDeliver: false })
    if (!loaded.ok) throw new Error('configuration')
    const logger = createLogger({ clock: systemClock, write: () => {} })
    const connections = await connect(loaded.config, logger)
    const { database, count } = counting(connections.database)
    const options = { config: loaded.config, dev: false, clock: systemClock, logger }
    const service = build(options, { ...connections, database })
    try {
      // Every loop waits for less time before its first look.
      await Bun.sleep(50)
      expect(count()).toBe(0)
      expect(await service.services.keys.list()).toEqual([])
      expect(count()).toBe(1)
      await service.start()
      expect(await service.services.keys.list()).toHaveLength(1)
      const before = count()
      await waitFor(() => count() > before, { what: 'the worker to look into the outbox' })
    } finally {
      await service.close()
      await storage.drop()
    }
  },
)
