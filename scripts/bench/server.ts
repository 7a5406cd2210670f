/**
 * Servers that the bench starts: poterne, rivals, a proxy. Each is in a directory under the run's, so that the run's guard
 * (test/helpers) ends it when the bench is gone.
 */
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { newDirectory } from '../../test/helpers/run-directory.ts'
import { waitFor } from '../../test/helpers/wait.ts'

const running = new Set<Subprocess>()

export type Server = Awaited<ReturnType<typeof startServer>>

interface ServerOptions {
  env?: Record<string, string>
  directory?: string
}

/** Resolves at the first 200 of /readyz, asked every 2 ms. Throws with the end of the log when the process ends first. */
export async function startServer(
  command: string[],
  port: number,
  { env = {}, directory = newDirectory('bench') }: ServerOptions = {},
) {
  const [url, file] = [`http://127.0.0.1:${port}`, join(directory, 'log')]
  const log = openSync(file, 'a')
  const startedAt = performance.now()
  const child = Bun.spawn(command, {
    cwd: directory,
    // No setting of the caller's leaks into what is measured.
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/tmp', ...env },
    stdio: ['ignore', log, log],
  })
  running.add(child)
  const isReady = async () => {
    if (child.exitCode !== null) throw new Error(`ended at start: ${readFileSync(file, 'utf8').slice(-2000)}`)
    const answer = await fetch(`${url}/readyz`)
    await answer.bytes()
    return answer.ok
  }
  await waitFor(isReady, { what: `${url}/readyz`, intervalMs: 2 })
  return { url, pid: child.pid, readyMs: performance.now() - startedAt, end: () => end(child) }
}

/** SIGTERM, and SIGKILL when that is not heeded in 10 s. */
async function end(child: Subprocess): Promise<void> {
  child.kill('SIGTERM')
  const ended = await Promise.race([child.exited.then(() => true), Bun.sleep(10_000).then(() => false)])
  if (!ended) child.kill('SIGKILL')
  await child.exited
  running.delete(child)
}

const LOOK_EVERY_MS = 600

/** Resolves once a process uses less than a tenth of a processor: what a load left behind is done, as its messages. */
export async function untilAtRest({ pid }: Pick<Server, 'pid'>): Promise<void> {
  let before = processorMs(pid)
  const isAtRest = async () => {
    await Bun.sleep(LOOK_EVERY_MS)
    const used = processorMs(pid) - before
    before += used
    return used < LOOK_EVERY_MS / 10
  }
  await waitFor(isAtRest, { what: 'poterne at rest', timeoutMs: 300_000 })
}

/** proc(5): user and system time, in hundredths of a second. */
function processorMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

export const endServers = () => Promise.all([...running].map(end))
