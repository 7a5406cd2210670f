/**
 * Root's commands touch the data only as the user that owns it, and that user may not get there: systemd keeps the data
 * of `DynamicUser=yes` below a directory that only root may pass. Such a command goes on among mounts of its own, as the
 * service itself does: everybody may pass there.
 */
import { dlopen } from 'bun:ffi'
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DATABASE_DIRECTORY, DataDirectoryRefused, type Owner, ownerOfData } from './data-directory.ts'

/** Numbers of Linux, the same on every processor. */
const CLONE_NEWNS = 0x2_0000
const MS_RDONLY = 1
const MS_REMOUNT = 32
const MS_BIND = 4096
const MS_REC = 16_384
const MS_SLAVE = 1 << 19

/**
 * Gives this thread, and every process that it starts, mounts in which the owner may pass to the directory. Returns
 * false where there was nothing to do, or this process may have no mounts of its own.
 */
export function openWayTo(directory: string): boolean {
  const closed = closedAbove(directory)
  if (closed.length === 0) return false
  const { symbols } = dlopen('libc.so.6', {
    unshare: { args: ['i32'], returns: 'i32' },
    mount: { args: ['ptr', 'ptr', 'ptr', 'u64', 'ptr'], returns: 'i32' },
  })
  if (symbols.unshare(CLONE_NEWNS) !== 0) return false
  const mount: Mount = (source, target, flags, type = null) => {
    const texts = [source, target, type, type && 'mode=755']
    const [from, to, kind, data] = texts.map((text) => (text === null ? null : Buffer.from(`${text}\0`)))
    if (symbols.mount(from!, to!, kind!, flags, data!) !== 0)
      throw new DataDirectoryRefused(`storage.data_dir: no way to ${directory} could be mounted at ${target}`)
  }
  mount(null, '/', MS_REC | MS_SLAVE)
  for (const path of closed) cover(path, mount)
  return true
}

type Mount = (source: string | null, target: string, flags: number, type?: 'tmpfs' | null) => void

/** The same entries stand below a directory of another mode. A new one would be lost with it, so that none can be made. */
function cover(path: string, mount: Mount): void {
  const covered = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const entries = readdirSync(`/proc/self/fd/${covered}`, { withFileTypes: true })
    mount('poterne', path, 0, 'tmpfs')
    for (const entry of entries) {
      const [source, target] = [`/proc/self/fd/${covered}/${entry.name}`, join(path, entry.name)]
      if (entry.isSymbolicLink()) {
        symlinkSync(readlinkSync(source), target)
        continue
      }
      if (entry.isDirectory()) mkdirSync(target)
      else writeFileSync(target, '')
      mount(source, target, MS_BIND | MS_REC)
    }
    mount(null, path, MS_REMOUNT | MS_RDONLY, 'tmpfs')
  } finally {
    closeSync(covered)
  }
}

/** Directories of root alone, from the top: nobody else can put a link in the place of one. */
function closedAbove(directory: string): string[] {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return []
  // One that is no directory is refused by whoever opens it.
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return []
  const path = realpathSync(directory)
  const owner = ownerOfData(path, join(path, DATABASE_DIRECTORY))
  if (owner === null || owner.uid === 0) return []
  const above = [dirname(path)]
  while (above[0] !== '/') above.unshift(dirname(above[0]!))
  const foreign = above.findIndex((each) => statSync(each).uid !== 0)
  return above.slice(0, foreign < 0 ? undefined : foreign).filter((each) => !mayPass(owner, statSync(each)))
}

const mayPass = ({ gid }: Owner, found: Stats): boolean =>
  (found.mode & (found.gid === gid ? 0o010 : 0o001)) !== 0
