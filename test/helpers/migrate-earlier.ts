/** A process that applies the migrations from before the first release to the database of its argument. */
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { earlier } from './filled-database.ts'

const database = await connectServer({ url: process.argv[2]!, poolSize: 2 })
await applyMigrations(database, new Date(), { migrations: earlier.migrations })
await database.close()
