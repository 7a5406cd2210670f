/** Data directories with a migrated embedded database. initdb takes seconds, so each is a copy of one. */
import { cpSync } from 'node:fs'
import { applyMigrations } from '../../src/platform/postgres/migrate.ts'
import { ensureSecretFile } from '../../src/platform/secret-file.ts'
import { openEmbedded } from '../../src/storage/embedded/embedded.ts'
import { newFastDirectory, oncePerRun } from './run-directory.ts'

export async function newDataDirectory(): Promise<string> {
  const directory = newFastDirectory('data')
  cpSync(await preparedDataDirectory(), directory, { recursive: true })
  return directory
}

const preparedDataDirectory = () =>
  oncePerRun('embedded-template', async () => {
    const directory = newFastDirectory('embedded-template')
    const database = await openEmbedded(directory, {
      beforeOpening: (state) => ensureSecretFile(directory, state),
    })
    await applyMigrations(database, new Date())
    await database.close()
    return directory
  })
