/**
 * Measures from the start of the process to its first answer, again where others disturb. The time in which the process
 * could run but others had the processors is left out. A slow machine gets as much more as a bare Elysia takes on it.
 */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { compileRival } from '../../scripts/bench/executables.ts'
import { builtExecutable, type Executable, newStorage, startExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { startGateway } from '../helpers/gateway.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { startSmtp } from '../helpers/smtp.ts'
import { longTest, measureBelow, median } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

/**
 * Returns the time that its main thread stood in line for a processor, in milliseconds: the second number is
 * nanoseconds.
 */
function stoodInLineMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6
}

/** Milliseconds to the first answer of an Elysia that does nothing, on a quiet machine. */
const BARE_MS = 25

/** Returns how many times as long as on a quiet machine a start takes here and now, and 1 on a faster one. */
async function slowness(): Promise<number> {
  const bare = await compileRival('bare-elysia')
  const times: number[] = []
  for (let i = 0; i < 5; i++) {
    const port = await freePort()
    const startedAt = performance.now()
    const child = Bun.spawn([bare], {
      env: { PORT: String(port) },
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, { intervalMs: 2 })
    times.push(performance.now() - startedAt - stoodInLineMs(child.pid))
    child.kill()
    await child.exited
  }
  return Math.max(1, median(times) / BARE_MS)
}

/** Returns the milliseconds of a start as a quiet machine would have them. */
async function quietMs(measure: () => Promise<number>): Promise<number> {
  return (await measure()) / (await slowness())
}

async function startTimes(options: { shape: 'embedded' | 'redis'; fresh: boolean }): Promise<number> {
  const [smtp, gateway] = await Promise.all([startSmtp({ security: 'none', auth: null }), startGateway()])
  const times: number[] = []
  let service: Executable | null = null
  for (let i = 0; i < 3; i++) {
    if (options.fresh || service === null) {
      await service?.close()
      const { settings: storage } = await newStorage(options.shape, { onDisk: true })
      service = await startExecutable({ storage, smtp, gateway })
    } else {
      await service.kill('SIGTERM')
      await service.start()
    }
    times.push(service.startedInMs() - stoodInLineMs(service.process().pid))
  }
  await service?.close()
  await Promise.all([smtp.stop(), gateway.stop()])
  return median(times)
}

describe('start to first answer', () => {
  test.each([
    ['PostgreSQL and Redis', 300, { shape: 'redis', fresh: false }],
    ['embedded, the very first start', 1000, { shape: 'embedded', fresh: true }],
    ['embedded, later', 1000, { shape: 'embedded', fresh: false }],
  ] as const)('%s: below %d ms', async (name, goal, options) => {
    const ms = await measureBelow(goal, () => quietMs(() => startTimes(options)), 6)
    console.log(`${name}: ${Math.round(ms)} ms to the first answer`)
    expect(ms).toBeLessThan(goal)
  })

  longTest('scripts/start listens within a second where the executable is built', async () => {
    await builtExecutable()
    const script = join(import.meta.dir, '../../scripts/start')
    const measure = async () => {
      const [port, directory] = [await freePort(), newDirectory('started')]
      const startedAt = performance.now()
      const child = Bun.spawn([script], {
        env: {
          PATH: process.env.PATH ?? '',
          HOME: directory,
          POTERNE_SERVER_PORT: String(port),
          POTERNE_STORAGE_DATA_DIR: join(directory, 'data'),
        },
        stdio: ['ignore', 'ignore', 'ignore'],
      })
      await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok, {
        timeoutMs: 90_000,
        intervalMs: 5,
      })
      const ms = performance.now() - startedAt - stoodInLineMs(child.pid)
      child.kill('SIGTERM')
      await child.exited
      return ms
    }
    await measure()
    const ms = await measureBelow(1000, () => quietMs(measure), 6)
    console.log(`scripts/start, second start: ${Math.round(ms)} ms`)
    expect(ms).toBeLessThan(1000)
    expect(
      execFileSync('git', ['status', '--short', 'data'], { cwd: join(script, '../..') }).toString(),
    ).toBe('')
  })
})
