/** The files of a directory of backups: how they are named, and which of them stay. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { partialOf } from './job.ts'

const NAME = /^poterne-\d{8}-\d{6}\.backup$/

/** Names sort by time, which is UTC. */
export function backupName(now: Date): string {
  const [date, time] = now.toISOString().slice(0, 19).replace(/[-:]/g, '').split('T')
  return `poterne-${date}-${time}.backup`
}

/** Keeps the newest ones, and removes what an interrupted backup left behind. */
export function removeOldBackups(directory: string, keep: number): void {
  const names = readdirSync(directory)
  const whole = names.filter((name) => NAME.test(name)).sort()
  const unfinished = names.filter((name) => NAME.test(name.replace(partialOf(''), '')) && !NAME.test(name))
  for (const name of [...whole.slice(0, -keep), ...unfinished]) rmSync(join(directory, name), { force: true })
}
