/**
 * The copy of the embedded database that a newer version makes before it migrates, while nobody writes yet.
 * `poterne upgrade --back --yes` puts it back.
 */
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DATABASE_DIRECTORY } from '../../platform/data-directory.ts'
import { DIRECTORY_LOCK, lockDirectory } from '../../platform/directory-lock.ts'
import { flush, flushTree } from '../../platform/flush.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { version } from '../../platform/version.ts'
import { swapDatabase, UPGRADED } from './directory.ts'

const KEPT_SNAPSHOT = `${DATABASE_DIRECTORY}.before-upgrade`
/** The file inside a copy that makes it one: it is written last and removed first. */
const NOTE = 'poterne-snapshot.json'

/** Deleted people must not live on in it for ever. */
const KEPT_SNAPSHOT_DAYS = 14
const DAY_MS = 86_400_000

export interface KeptSnapshot {
  path: string
  /** RFC 3339. */
  madeAt: string
  /** The migrations that the database had then. */
  migrations: string[]
  /** The version that made it and migrated; copies of versions up to 0.1.0 do not say. */
  version?: string
}

/** Takes the place of the copy of an earlier upgrade. Throws SnapshotRefused where there is no space. */
export async function keepSnapshot(
  database: Database,
  dataDir: string,
  { migrations, now }: { migrations: string[]; now: Date },
): Promise<void> {
  const copy = await database.files!.snapshot()
  // Unlocked, it would be removed as one that nobody reads any more.
  const unlock = lockDirectory(copy)
  try {
    await flushTree(copy)
    const note = { made_at: now.toISOString(), migrations, version: version.version }
    writeFileSync(join(copy, NOTE), JSON.stringify(note))
    flush(join(copy, NOTE))
  } catch (error) {
    rmSync(copy, { recursive: true, force: true })
    throw error
  } finally {
    if (typeof unlock === 'function') unlock()
  }
  rmSync(join(copy, DIRECTORY_LOCK), { force: true })
  flush(copy)
  removeKeptSnapshot(dataDir)
  renameSync(copy, join(dataDir, KEPT_SNAPSHOT))
  flush(dataDir)
}

/** It returns null where none is complete. A crash may have left it where the database is put in its place. */
export function findKeptSnapshot(dataDir: string): KeptSnapshot | null {
  for (const name of [KEPT_SNAPSHOT, UPGRADED]) {
    const path = join(dataDir, name)
    try {
      const { made_at, ...made } = JSON.parse(readFileSync(join(path, NOTE), 'utf8')) as {
        made_at: string
        migrations: string[]
        version?: string
      }
      return { path, madeAt: made_at, ...made }
    } catch {
      // There is none, or its removal was interrupted.
    }
  }
  return null
}

/**
 * To be called while the data directory is locked. Returns the new name of the database that was there, which is
 * kept. A crash leaves one of the two in its place.
 */
export function putBackSnapshot(dataDir: string, snapshot: KeptSnapshot, label: string): string {
  const kept = swapDatabase(dataDir, snapshot.path, label)
  rmSync(join(dataDir, DATABASE_DIRECTORY, NOTE), { force: true })
  return kept
}

function removeKeptSnapshot(dataDir: string): void {
  const path = join(dataDir, KEPT_SNAPSHOT)
  rmSync(join(path, NOTE), { force: true })
  rmSync(path, { recursive: true, force: true })
}

export function removeExpiredSnapshot(dataDir: string): void {
  const note = statSync(join(dataDir, KEPT_SNAPSHOT, NOTE), { throwIfNoEntry: false })
  if (note && Date.now() - note.mtimeMs > KEPT_SNAPSHOT_DAYS * DAY_MS) removeKeptSnapshot(dataDir)
}
