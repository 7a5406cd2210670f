/** The files of a directory of backups: how they are named, and which of them stay. */
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../platform/config/types.ts'
import { readPassphrase } from './keys.ts'

const SCHEDULED = /^poterne-\d{8}-\d{6}\.backup$/

/** Names sort by time, which is UTC. Those that somebody asked for have another name, and stay. */
export function backupName(now: Date, { isScheduled = true } = {}): string {
  const [date, time] = now.toISOString().slice(0, 19).replace(/[-:]/g, '').split('T')
  return `poterne-${date}-${time}${isScheduled ? '' : '-manual'}.backup`
}

/**
 * Makes it where it is missing. One that root makes belongs to the owner of the directory around it, so that the service
 * may write there too.
 */
export function makeBackupDirectory(directory: string): void {
  const made = mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (made === undefined || resolve(made) !== resolve(directory) || process.geteuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(resolve(made)))
  // That owner may have put a link in its place.
  const opened = openSync(made, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    fchownSync(opened, uid, gid)
  } finally {
    closeSync(opened)
  }
}

/** Returns why no scheduled backup can be made, and the key that says so. Otherwise the first night would tell. */
export function findBackupObstacle({ backup, storage }: Pick<Config, 'backup' | 'storage'>) {
  const { at, directory, passphraseFile } = backup
  if (at === null) return null
  const unwritable = whyUnwritable(directory, storage.dataDir)
  if (unwritable !== null) return { key: 'backup.directory', value: directory, message: unwritable }
  const unsealed = whyUnsealed(passphraseFile)
  return unsealed === null
    ? null
    : { key: 'backup.passphrase_file', value: passphraseFile, message: unsealed }
}

/** Root's shell does not see the credentials of a unit that is stopped. */
function whyUnsealed(passphraseFile: string | null): string | null {
  if (process.geteuid?.() === 0 && passphraseFile?.startsWith('/run/credentials/')) return null
  try {
    readPassphrase(undefined, passphraseFile)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

/**
 * Returns why backups cannot be written there, or null. Tries it and leaves nothing behind. Root may write everywhere: what counts
 * is the user of the service, the owner of `dataDir`.
 */
function whyUnwritable(directory: string, dataDir: string): string | null {
  let nearest = resolve(directory)
  while (!existsSync(nearest)) nearest = dirname(nearest)
  const found = statSync(nearest)
  if (!found.isDirectory()) return `${nearest} is no directory`
  const owner = statSync(dataDir, { throwIfNoEntry: false })
  if (process.geteuid?.() === 0 && owner !== undefined && owner.uid !== 0) {
    const right = found.uid === owner.uid ? 0o200 : found.gid === owner.gid ? 0o020 : 0o002
    const mend = `let that user own it, or name another directory`
    return found.mode & right
      ? null
      : `the user of the service (${owner.uid}) may not write in ${nearest}: ${mend}`
  }
  const trial = join(nearest, `.poterne-${crypto.randomUUID()}`)
  try {
    writeFileSync(trial, '', { flag: 'wx', mode: 0o600 })
    unlinkSync(trial)
    return null
  } catch (error) {
    const code = (error as { code?: string }).code ?? 'unknown cause'
    return `${nearest} cannot be written (${code}): let the user of the service own it, or name another directory`
  }
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
