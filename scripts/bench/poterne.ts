/** The compiled poterne as a process of its own, in the production shape unless told otherwise. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'smol-toml'
import { freePort } from '../../test/helpers/free-port.ts'
import { newDirectory } from '../../test/helpers/run-directory.ts'
import { waitFor } from '../../test/helpers/wait.ts'
import { startServer } from './children.ts'

/** Sections and keys as in config.toml. */
export type Settings = Record<string, Record<string, unknown>>

export interface Poterne {
  url: string
  pid: number
  /** The process was started then, as performance.now() counts. */
  startedAt: number
  settings: Settings
  stop(): Promise<void>
}

export const SERVER_SECRET = 'ab'.repeat(32)

/**
 * Limits off, argon2 as the product ships it, mail to `smtpPort`. No client of the bench has a known device, so no place
 * of the hash queue is reserved for owners: 64 clients find places in it.
 */
export function loadSettings(smtpPort: number): Settings {
  return {
    server: { base_url: 'https://auth.bench' },
    limits: { enabled: false, hash_queue_reserved: 0 },
    smtp: { host: '127.0.0.1', port: smtpPort, security: 'none', from: 'Poterne <no-reply@bench.example>' },
  }
}

export interface PoterneOptions {
  executable: string
  settings: Settings
  /** Put in front of the executable; the process must stay its own. */
  wrapper?: string[]
  /** Return once the process is there, whatever it does. */
  unready?: boolean
}

export async function startPoterne({
  executable,
  settings,
  wrapper = [],
  unready = false,
}: PoterneOptions): Promise<Poterne> {
  const directory = newDirectory('poterne')
  const port = await freePort()
  const all: Settings = {
    ...settings,
    server: { secret: SERVER_SECRET, ...settings.server, host: '127.0.0.1', port },
    storage: { data_dir: join(directory, 'data'), ...settings.storage },
  }
  mkdirSync(String(all.storage?.data_dir), { recursive: true })
  const file = join(directory, 'config.toml')
  writeFileSync(file, stringify(all))
  const startedAt = performance.now()
  const server = startServer([...wrapper, executable, 'serve', '--config', file], { directory })
  const url = `http://127.0.0.1:${port}`
  if (!unready) await untilReady(url, server)
  return { url, pid: server.pid, startedAt, settings: all, stop: server.end }
}

/** Throws with the end of its log when the process ends first. */
export async function untilReady(
  url: string,
  server: { directory: string; exited: Promise<number> },
  path = '/readyz',
): Promise<void> {
  let ended = false
  server.exited.then(() => {
    ended = true
  })
  await waitFor(
    async () => {
      if (ended) return true
      const answer = await fetch(url + path)
      await answer.bytes()
      return answer.ok
    },
    { what: `${url}${path}`, timeoutMs: 30_000, intervalMs: 10 },
  )
  if (ended)
    throw new Error(`ended at start: ${(await Bun.file(join(server.directory, 'log')).text()).slice(-2000)}`)
}
