/**
 * A disk whose power can be cut: ext4 on a loop device, shut down without flushing its journal, as xfstests does it. What
 * the file system had not written to the device by then is gone. Needs root, loop devices and mkfs.ext4.
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
import { waitFor } from './wait.ts'

const SHUTDOWN = 0x8004587d
const WITHOUT_JOURNAL = 2
/** SYNC_FILE_RANGE_WAIT_BEFORE, _WRITE and _WAIT_AFTER: the data alone, and no commit of the journal. */
const WRITE_BACK = 7

export interface LossyDisk {
  /** Where it is mounted. */
  path: string
  /** Each file's bytes reach the device with that probability, as the kernel may decide at any time. */
  writeBack(random: () => number, share: number): void
  /** From now on nothing reaches the device any more. */
  cut(): void
  /** After the cut, once nobody uses it: as the machine finds it when it starts again. */
  mountAgain(): Promise<void>
  remove(): Promise<void>
}

const run = (...command: [string, ...string[]]) =>
  spawnSync(command[0], command.slice(1), { encoding: 'utf8' })

function libc() {
  return dlopen('libc.so.6', {
    ioctl: { args: ['int', 'u64', 'ptr'], returns: 'int' },
    sync_file_range: { args: ['int', 'i64', 'i64', 'u32'], returns: 'int' },
  }).symbols
}

/** Why there can be none on this machine, or null. */
export function obstacleToLossyDisks(directory: string): string | null {
  if (process.platform !== 'linux') return 'this is not Linux'
  if (process.geteuid?.() !== 0) return 'only root may mount'
  if (!existsSync('/dev/loop-control')) return 'there are no loop devices'
  if (run('mkfs.ext4', '-V').error) return 'mkfs.ext4 is missing'
  try {
    const disk = makeLossyDisk(join(directory, 'trial'), 16)
    run('umount', disk.path)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

export function makeLossyDisk(directory: string, mebibytes = 768): LossyDisk {
  mkdirSync(directory, { recursive: true })
  const [image, path] = [join(directory, 'image'), join(directory, 'disk')]
  writeFileSync(image, '')
  truncateSync(image, mebibytes * 2 ** 20)
  const made = run('mkfs.ext4', '-q', '-F', image)
  if (made.status !== 0) throw new Error(`mkfs.ext4: ${made.stderr}`)
  mkdirSync(path, { recursive: true })
  const mount = () => {
    const { status, stderr } = run('mount', '-o', 'loop', image, path)
    if (status !== 0) throw new Error(`mount: ${stderr}`)
  }
  /** The process that was killed may need a moment until its files are closed. */
  const unmount = () =>
    waitFor(() => run('umount', path).status === 0 || run('mountpoint', '-q', path).status !== 0, {
      what: 'the disk to be unmounted',
      timeoutMs: 20_000,
      intervalMs: 50,
    })
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
    async mountAgain() {
      await unmount()
      mount()
    },
    async remove() {
      await unmount()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
