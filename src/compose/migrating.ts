/** Migrates at a start. A copy of an embedded database in use is kept, by which `poterne upgrade` leads back. */
import type { Config } from '../platform/config/types.ts'
import type { Database } from '../platform/postgres/database.ts'
import { applyMigrations, migrationNames, planMigrations } from '../platform/postgres/migrate.ts'
import { keepSnapshot } from '../storage/embedded/kept-snapshot.ts'

/**
 * Returns the names of the migrations that it applied. Throws MigrationRefused, and SnapshotRefused where there is no
 * space for the copy: then nothing was changed, and the version before still runs.
 */
export async function migrateDatabase(database: Database, { storage }: Pick<Config, 'storage'>, now: Date) {
  if (database.kind === 'embedded') {
    const pending = await planMigrations(database)
    const migrations = migrationNames.slice(0, migrationNames.length - pending.length)
    if (pending.length > 0 && migrations.length > 0)
      await keepSnapshot(database, storage.dataDir, { migrations, now })
  }
  return applyMigrations(database, now)
}
