/**
 * A disk whose power can be cut: ext4 on a loop device, shut down without flushing its journal, as xfstests does it.
 * Writes that the file system had not given to the device by then are gone. Needs root, loop devices and mkfs.ext4.
 */
import { dlopen, ptr } from 'bun:ffi'
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const SHUTDOWN = 0x8004587d
const WITHOUT_JOURNAL = 2
/** SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER: the data alone, and no commit of the journal. */
const WRITE_BACK = 7

export interface LossyDisk {
  /** The disk is mounted there. */
  path: string
  /** Each file's bytes reach the device with that probability, as the kernel may decide at any time. */
  writeBack(random: () => number, share: number): void
  /** From now on nothing reaches the device any more. */
  cut(): void
  /** Mounts it after the cut, as the machine finds it when it starts again. */
  mountAgain(): void
  remove(): void
}

const run = (...command: [string, ...string[]]) =>
  spawnSync(command[0], command.slice(1), { encoding: 'utf8' })

function libc() {
  return dlopen('libc.so.6', {
    ioctl: { args: ['int', 'u64', 'ptr'], returns: 'int' },
    sync_file_range: { args: ['int', 'i64', 'i64', 'u32'], returns: 'int' },
  }).symbols
}

/** Returns why there can be none on this machine, or null. */
export function obstacleToLossyDisks(directory: string): string | null {
  if (process.platform !== 'linux') return 'this is not Linux'
  if (process.geteuid?.() !== 0) return 'only root may mount'
  if (!existsSync('/dev/loop-control')) return 'there are no loop devices'
  if (run('mkfs.ext4', '-V').error) return 'mkfs.ext4 is missing'
  try {
    const disk = makeLossyDisk(join(directory, 'trial'), 16)
    disk.remove()
    return null
  } catch (error) {
    return (error as Error).message
  }
}

export function makeLossyDisk(directory: string, mebibytes = 768): LossyDisk {
  mkdirSync(directory, { recursive: true })
  const [image, path] = [join(directory, 'image'), join(directory, 'disk')]
  let present = image
  let cuts = 0
  writeFileSync(image, '')
  truncateSync(image, mebibytes * 2 ** 20)
  const succeed = (...command: [string, ...string[]]) => {
    const { status, stderr } = run(...command)
    if (status !== 0) throw new Error(`${command[0]}: ${stderr}`)
  }
  succeed('mkfs.ext4', '-q', '-F', image)
  mkdirSync(path, { recursive: true })
  const mount = () => succeed('mount', '-o', 'loop', present, path)
  /** It works even if processes have files open there. */
  const unmount = () => {
    while (run('mountpoint', '-q', path).status === 0) succeed('umount', '--lazy', path)
  }
  mount()
  const { ioctl, sync_file_range } = libc()
  return {
    path,
    writeBack(random, share) {
      for (const name of readdirSync(path, { recursive: true }) as string[]) {
        const file = join(path, name)
        if (random() >= share || !lstatSync(file, { throwIfNoEntry: false })?.isFile()) continue
        const descriptor = openSync(file, 'r')
        sync_file_range(descriptor, 0, 0, WRITE_BACK)
        closeSync(descriptor)
      }
    },
    cut() {
      const descriptor = openSync(path, 'r')
      const answer = ioctl(descriptor, SHUTDOWN, ptr(Uint32Array.of(WITHOUT_JOURNAL)))
      closeSync(descriptor)
      if (answer !== 0) throw new Error('the disk could not be shut down')
    },
    mountAgain() {
      // Every mount namespace that another program made meanwhile (unshare, a browser's sandbox) holds the file system
      // that was shut down. The kernel would give it for the same image again.
      const copy = join(directory, `image-${++cuts}`)
      succeed('cp', '--sparse=always', present, copy)
      unmount()
      rmSync(present)
      present = copy
      mount()
    },
    remove() {
      unmount()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
