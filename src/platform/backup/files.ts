/** The files of a directory of backups: how they are named, and which of them stay. */
import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const SCHEDULED = /^poterne-\d{8}-\d{6}\.backup$/

/** Names sort by time, which is UTC. Those that somebody asked for have another name, and stay. */
export function backupName(now: Date, { isScheduled = true } = {}): string {
  const [date, time] = now.toISOString().slice(0, 19).replace(/[-:]/g, '').split('T')
  return `poterne-${date}-${time}${isScheduled ? '' : '-manual'}.backup`
}

/** Keeps the newest scheduled ones. Null, or why not all of the others could be removed. */
export function removeOldBackups(directory: string, keep: number): string | null {
  const isFile = (name: string) => lstatSync(join(directory, name)).isFile()
  try {
    const names = readdirSync(directory).filter((name) => SCHEDULED.test(name) && isFile(name))
    for (const name of names.sort().slice(0, -keep)) rmSync(join(directory, name), { force: true })
    return null
  } catch (error) {
    return `old backups could not be removed: ${(error as Error).message}`
  }
}
