/**
 * The things that the processes of one `bun test` share: a directory under the temporary one, named after the run's
 * first process, and work done once per run. `bun test` runs files in one process, `bun test --parallel` in several
 * children of one. The guard ends whatever runs under the directory, and removes it, when that first process ends.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, processStart } from './processes.ts'

/** A worker of `--parallel` is a child of the run; without workers the run is this process. */
const owner = process.env.BUN_TEST_WORKER_ID === undefined ? process.pid : process.ppid
const ownerStart = processStart(owner) ?? 'gone'
const inTemporary = (root: string) => join(root, `poterne-test-${owner}-${ownerStart}`)

/** The run's directory; the first call makes it and starts its guard. */
export const runDirectory = (): string => guarded(inTemporary(tmpdir()))

function guarded(directory: string): string {
  try {
    mkdirSync(directory)
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return directory
    throw error
  }
  // Others may pass, not look: PostgreSQL runs as another user when the tests run as root.
  chmodSync(directory, 0o711)
  launch([process.execPath, join(import.meta.dir, 'guard.ts'), String(owner), ownerStart, directory], {
    cwd: '/',
  })
  return directory
}

/** A new directory of the run. Programs that run in it end with the run at the latest. */
export function newDirectory(prefix: string): string {
  return mkdtempSync(join(runDirectory(), `${prefix}-`))
}

const MEMORY = process.env.TEST_MEMORY_DIRECTORY ?? '/dev/shm'
/** So much stays free for everybody else. */
const FREE_BYTES = 6 * 1024 ** 3

/** The memory that is available, including what the system can take back from caches. */
const availableBytes = () =>
  Number(/^MemAvailable: *(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? 0) * 1024

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return Math.min(bavail * bsize, availableBytes()) > FREE_BYTES
  } catch {
    return false
  }
}

/**
 * A new directory of the run for the files of a database: in memory while there is plenty, because it flushes often and has
 * a thousand files.
 */
export function newFastDirectory(prefix: string): string {
  return hasMemory() ? mkdtempSync(join(guarded(inTemporary(MEMORY)), `${prefix}-`)) : newDirectory(prefix)
}

/**
 * The result of `work`, done by the first process of the run that asks; the others wait for it. The result must
 * survive JSON. A failure is everybody's failure.
 */
export async function oncePerRun<T>(name: string, work: () => Promise<T>): Promise<T> {
  const file = join(runDirectory(), `${name}.json`)
  const lock = join(runDirectory(), `${name}.lock`)
  for (;;) {
    if (existsSync(file)) {
      const done = JSON.parse(readFileSync(file, 'utf8')) as { result: T } | { failed: string }
      if ('failed' in done) throw new Error(done.failed)
      return done.result
    }
    if (takeLock(lock)) break
    await Bun.sleep(20)
  }
  try {
    const result = await work()
    finish(file, { result })
    return result
  } catch (error) {
    finish(file, { failed: `${name}: ${error instanceof Error ? error.message : String(error)}` })
    throw error
  }
}

function finish(file: string, content: object): void {
  writeFileSync(`${file}.new`, JSON.stringify(content))
  renameSync(`${file}.new`, file)
}

/** True for one process only; a lock whose holder died is free again. */
function takeLock(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: 'wx' })
    return true
  } catch {
    const holder = Number(readLock(lock))
    if (holder > 0 && holder !== process.pid && processStart(holder) === null) rmSync(lock, { force: true })
    return false
  }
}

function readLock(lock: string): string {
  try {
    return readFileSync(lock, 'utf8')
  } catch {
    return ''
  }
}
