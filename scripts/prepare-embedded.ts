/**
 * Makes the data directory that the executable carries. initdb and all migrations run here, once, so that the first
 * start on a user's machine only unpacks it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { applyMigrations } from '../src/platform/postgres/migrate.ts'
import { openEmbedded } from '../src/storage/embedded/embedded.ts'
import { openInstance } from '../src/storage/embedded/instance.ts'

/**
 * The service uses one database and creates no others. The templates would be half of the directory and of the time to
 * unpack it.
 */
const DROP_TEMPLATES = ['template0', 'template1']

/** On a busy machine initdb keeps the processor for longer than a service may, and nobody waits for an answer here. */
const SILENCE_MS = 900_000

/** Returns the compressed archive (tar) of a closed, migrated directory. */
export async function prepareEmbedded(): Promise<Uint8Array> {
  const scratch = mkdtempSync(join(tmpdir(), 'poterne-prepare-'))
  try {
    const database = await openEmbedded(scratch, { silenceMs: SILENCE_MS })
    await applyMigrations(database, new Date())
    await database.close()
    const directory = join(scratch, 'postgres')
    await dropTemplates(directory)
    const tar = Bun.spawn(['tar', '--create', '--file=-', '--owner=0', '--group=0', '.'], {
      cwd: directory,
      stdout: 'pipe',
    })
    const archive = await new Response(tar.stdout).bytes()
    if ((await tar.exited) !== 0) throw new Error('tar failed')
    // At this level it sees all of the archive at once.
    return Bun.zstdCompressSync(archive, { level: 22 })
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function dropTemplates(directory: string): Promise<void> {
  const instance = await openInstance(directory)
  await instance.exec('update pg_database set datistemplate = false')
  for (const name of DROP_TEMPLATES) await instance.exec(`drop database if exists ${name}`)
  await instance.close()
}
