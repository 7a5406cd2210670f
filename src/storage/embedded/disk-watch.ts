/** Opens an instance again that has ended, and makes it read-only before the disk is full: reading works while there is a reserve. */
import { canWrite } from '../../platform/postgres/disk-space.ts'
import { DatabaseFull, DatabaseReadOnly } from '../../platform/postgres/failure.ts'
import type { Lives } from './lives.ts'

interface Needs {
  dataDir: string
  lives: Lives
  /** Free bytes of a directory's file system. */
  freeBytes(directory: string): number
}

/** Read-only below the first, writable again above the second: there must always be space for a segment of the log. */
const RESERVE_BYTES = 24 * 1024 * 1024
export const ENOUGH_BYTES = 32 * 1024 * 1024

export function createDiskWatch({ dataDir, lives, freeBytes }: Needs) {
  let isReadOnly = false
  /** The instance has ended, and is not opened again while there is no space. */
  let isFull = false

  return {
    isReadOnly: () => isReadOnly,
    /** To be called within a turn only. */
    async look(): Promise<void> {
      if (!lives.isOpen()) {
        if (lives.isOver()) return
        isFull = !canWrite(dataDir)
        if (isFull) return
        await lives.openAgain()
        isReadOnly = false
      }
      lives.flush()
      const free = freeBytes(dataDir)
      const wanted = isReadOnly ? free < ENOUGH_BYTES : free < RESERVE_BYTES
      if (wanted === isReadOnly) return
      await lives.run(`set default_transaction_read_only = ${wanted ? 'on' : 'off'}`, [])
      isReadOnly = wanted
    },
    async ping(): Promise<void> {
      // The watch made it read-only, or could not open it again.
      if (isReadOnly || isFull) throw new DatabaseFull('its disk is full')
      const state = await lives.answer(
        () => lives.query(`select current_setting('transaction_read_only') as state`),
        { isReader: true },
      )
      if (state[0]?.state !== 'off') throw new DatabaseReadOnly('read-only')
    },
  }
}
