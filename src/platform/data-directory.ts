/**
 * The data directory as an operating system sees it: made private, and only ever written by the user that owns what is
 * in it. A file of another user, root's included, would keep the service from opening its own database.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

/** The message is one line that names the directory, the user and what to do. */
export class DataDirectoryRefused extends Error {
  override name = 'DataDirectoryRefused'
}

const missing = { throwIfNoEntry: false } as const
/** The part of the data directory that belongs to the database. */
export const DATABASE_DIRECTORY = 'postgres'
/** The rights of others on a file: none here. */
const OTHERS = 0o077

export interface Owner {
  uid: number
  gid: number
}

/** Makes it where it is missing. Root takes on the owner of one that is there; anybody else is refused. */
export function prepareDataDirectory(dataDir: string): void {
  process.umask(OTHERS)
  const path = resolve(dataDir)
  const database = join(path, DATABASE_DIRECTORY)
  try {
    const owner = ownerOfData(path, database)
    if (owner !== null) actAs(owner, existsSync(database) ? database : path)
    else mkdirSync(path, { recursive: true, mode: 0o700 })
    if (existsSync(database)) makePrivate(database)
    // Fails if it is not a directory, or must not be read.
    readdirSync(path)
  } catch (error) {
    if (error instanceof DataDirectoryRefused) throw error
    const { code = 'unknown cause' } = error as NodeJS.ErrnoException
    throw new DataDirectoryRefused(
      `storage.data_dir: ${path} cannot be used by ${currentUser()} (${code}): ${adviseOn(path)}`,
    )
  }
}

/**
 * Root takes on, for good, the owner of a directory that another process named: what lies in it may be a link, and may
 * change while it is read.
 */
export function takeOnOwnerOf(directory: string): void {
  process.umask(OTHERS)
  const owner = ownerOfData(dirname(directory), directory)
  if (owner !== null) actAs(owner, directory)
}

/** Tells whether this is root, and a user may put links into the directory or in its place. */
export const isOfAnotherUser = (directory: string): boolean =>
  process.geteuid?.() === 0 && (ownerOfData(dirname(directory), directory)?.uid ?? 0) !== 0

/** The owner of a file in it that is not the user who runs this; null where there is none. Backups may be root's. */
export function findForeignFile(
  directory: string,
  backups: string | null = null,
): { file: string; owner: string } | null {
  const uid = process.geteuid?.()
  const isBackup = (path: string) => backups !== null && path.startsWith(`${resolve(backups)}/`)
  for (const file of readdirSync(directory, { recursive: true }) as string[]) {
    const path = join(directory, file)
    if (isBackup(path)) continue
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found && found.uid !== uid) return { file: path, owner: nameOf(found.uid) }
  }
  return null
}

/** Returns the advice about such a file. */
export function describeForeignFile(directory: string): string | null {
  const foreign = findForeignFile(directory)
  return (
    foreign &&
    `${foreign.file} belongs to ${foreign.owner}, but this is ${currentUser()}: give everything in it to one user (chown -R)`
  )
}

/** Says who may use a directory, or that another one is needed. To give it to somebody else would lock the service out. */
export function adviseOn(directory: string): string {
  try {
    const found = statSync(directory, missing)
    if (found === undefined || found.uid === process.geteuid?.())
      return 'set storage.data_dir to a directory that they may write to'
    return `run it as root, or as the user of the service, which is ${nameOf(found.uid)}`
  } catch {
    return 'run it as root, or as the user of the service'
  }
}

/** Messages name the user so: the name and the number, as `id` prints them. */
export const currentUser = (): string => nameOf(process.geteuid?.() ?? 0)

/** Root never stays root where another user may put a link in the place of the database: it could lead anywhere. */
export function ownerOfData(path: string, database: string): Owner | null {
  const owners = [lstatSync(database, missing), statSync(database, missing), statSync(path, missing)]
  const other = process.geteuid?.() === 0 && owners.find((owner) => owner !== undefined && owner.uid !== 0)
  const found = other || owners.find((owner) => owner !== undefined)
  return found ? { uid: found.uid, gid: found.gid } : null
}

function actAs(owner: Owner, path: string): void {
  const uid = process.geteuid?.()
  if (uid === undefined || uid === owner.uid) return
  if (uid === 0) {
    becomeOwner(owner)
    return
  }
  // A directory that others may write to, with no database in it yet, is like /tmp.
  if (!path.endsWith(`/${DATABASE_DIRECTORY}`)) return
  throw new DataDirectoryRefused(
    `storage.data_dir: ${path} belongs to ${nameOf(owner.uid)}, but this is ${currentUser()}, whose files would keep ` +
      `the service from opening it: run the command as ${nameOf(owner.uid)}, or as root`,
  )
}

/** It cannot be undone: groups come first, since the new user may not change them. */
function becomeOwner({ uid, gid }: Owner): void {
  process.setgroups?.([gid])
  process.setgid?.(gid)
  process.setuid?.(uid)
}

function makePrivate(path: string): void {
  const { mode } = statSync(path)
  if ((mode & OTHERS) !== 0) chmodSync(path, mode & 0o700)
}

/** It returns null where the machine knows only the number, as in many containers. */
export function nameOfUser(uid: number): string | null {
  const lines = existsSync('/etc/passwd') ? readFileSync('/etc/passwd', 'utf8').split('\n') : []
  return lines.map((line) => line.split(':')).find((fields) => fields[2] === String(uid))?.[0] || null
}

function nameOf(uid: number): string {
  const name = nameOfUser(uid)
  return name ? `the user ${name} (${uid})` : `the user ${uid}`
}
