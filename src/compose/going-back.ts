/** The embedded database on the way back to the version before: what it holds, and the copy that was kept of it. */
import { prepareDataDirectory } from '../platform/data-directory.ts'
import { isEmbeddedThere, openEmbeddedCopy } from '../storage/embedded/embedded.ts'
import { findKeptSnapshot, putBackSnapshot } from '../storage/embedded/kept-snapshot.ts'
import { lockData } from '../storage/embedded/lock.ts'

export type EmbeddedState = NonNullable<Awaited<ReturnType<typeof readEmbeddedState>>>

/** It returns null where no database is there. Throws DataDirectoryLocked while a service runs. */
export async function readEmbeddedState(dataDir: string) {
  if (!isEmbeddedThere(dataDir)) return null
  const session = await openEmbeddedCopy(dataDir, () => {}, {})
  try {
    const migrations = await session.query<{ name: string }>(
      'select name from poterne_migrations order by number',
    )
    const snapshot = findKeptSnapshot(dataDir)
    const since = [snapshot?.madeAt ?? '-infinity']
    const [accounts] = await session.query<{ count: number }>(
      'select count(*)::int as count from accounts where created_at >= $1::timestamptz',
      since,
    )
    const events = await session.query<{ type: string; count: number }>(
      `select type, count(*)::int as count from events where created_at >= $1::timestamptz
        group by type order by count desc, type`,
      since,
    )
    return {
      /** The migrations that were applied to it. */
      migrations: migrations.map(({ name }) => name),
      /** It is null where none was kept. */
      snapshot,
      /** The rows that the copy lacks; the events by their types. */
      written: {
        accounts: accounts?.count ?? 0,
        events: Object.fromEntries(events.map(({ type, count }) => [type, count])),
      },
    }
  } finally {
    await session.close()
  }
}

/** Returns where the present database is kept. Throws DataDirectoryLocked while a service runs. */
export async function putBack(dataDir: string, label: string): Promise<string> {
  prepareDataDirectory(dataDir)
  const unlock = await lockData(dataDir)
  try {
    const snapshot = findKeptSnapshot(dataDir)
    if (snapshot === null) throw new Error(`there is no copy of before in ${dataDir} any more`)
    return putBackSnapshot(dataDir, snapshot, label)
  } finally {
    unlock()
  }
}
