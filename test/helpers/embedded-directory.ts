/** Data directories with a migrated embedded database. initdb takes seconds, so each is a copy of one. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_DIRECTORY } from '../../src/platform/data-directory.ts'
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { ensureSecretFile } from '../../src/platform/secret-file.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { builtDatabase } from './executable.ts'
import { newFastDirectory, oncePerRun } from './run-directory.ts'

export async function newDataDirectory(): Promise<string> {
  const directory = newFastDirectory('data')
  cpSync(await preparedDataDirectory(), directory, { recursive: true })
  return directory
}

/** It holds the database that the build has put into the executable, if there is one, as a first start unpacks it. */
const preparedDataDirectory = () =>
  oncePerRun('embedded-template', async () => {
    const directory = newFastDirectory('embedded-template')
    const built = builtDatabase()
    if (built !== null) {
      const archive = Bun.zstdDecompressSync(await Bun.file(built).bytes())
      await new Bun.Archive(archive).extract(join(directory, DATABASE_DIRECTORY))
      ensureSecretFile(directory, { isNewDatabase: true })
      return directory
    }
    const database = await openEmbedded(directory, {
      beforeOpening: (state) => ensureSecretFile(directory, state),
    })
    await applyMigrations(database, new Date())
    await database.close()
    return directory
  })
