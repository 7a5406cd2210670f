/**
 * Starts executables as they were built, in an empty directory. A build that left out the program of the embedded
 * database's thread, or the addon that verifies passwords, ends the release here.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface Trial {
  executable: string
  /** Put in front of the executable: an emulator of its processor. */
  emulator?: string[]
  version: string
}

/** An emulated processor needs half a minute, and many times that on a busy machine. */
const READY_WITHIN_MS = 900_000
const PAUSE_MS = 200
/** On a busy machine it is too slow for the watchdog of the embedded database, which ends the service. */
const EMULATED_TRIES = 5
/** So much of the log tells why a trial failed. */
const LAST_LINES = 20

/** Throws where it does not answer `/readyz`, does not verify passwords with the addon, or does not stop. */
export async function tryExecutable({ executable, emulator = [], version }: Trial): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'poterne-release-'))
  const command = [...emulator, executable]
  try {
    const said = await output([...command, 'version', '--json'], folder)
    if (JSON.parse(said).version !== version) throw new Error(`${executable} says another version: ${said}`)
    await tryTimes(emulator.length > 0 ? EMULATED_TRIES : 1, () => tryService(command, folder))
    const { checks } = JSON.parse(await output([...command, 'doctor', '--json'], folder)) as {
      checks: { message: string }[]
    }
    if (!checks.some(({ message }) => message.includes('the native addon verifies passwords')))
      throw new Error(
        `${executable} does not verify passwords with the native addon: ${JSON.stringify(checks)}`,
      )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function tryTimes(times: number, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (times === 1) throw error
    await tryTimes(times - 1, work)
  }
}

const environment = (folder: string) => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  POTERNE_SERVER_PORT: '0',
  POTERNE_STORAGE_DATA_DIR: join(folder, 'data'),
  POTERNE_SMTP_HOST: '127.0.0.1',
  POTERNE_SMTP_FROM: 'release@example.com',
})

async function tryService(command: string[], folder: string): Promise<void> {
  const log = join(folder, 'log')
  const service = Bun.spawn([...command, 'serve', '--dev'], {
    cwd: folder,
    env: environment(folder),
    stdin: 'ignore',
    stdout: Bun.file(log),
    stderr: Bun.file(`${log}.errors`),
  })
  const words = () => [log, `${log}.errors`].map((file) => readFileSync(file, 'utf8')).join('')
  try {
    const url = await waitUntil(() => listensAt(readFileSync(log, 'utf8')), service)
    await waitUntil(() => isReady(url), service)
    service.kill('SIGTERM')
    const code = await service.exited
    if (code !== 0) throw new Error(`it ended with ${code} after SIGTERM`)
  } catch (error) {
    const last = words().trimEnd().split('\n').slice(-LAST_LINES).join('\n')
    throw new Error(`${command.join(' ')} serve: ${(error as Error).message}\n${last}`)
  } finally {
    service.kill('SIGKILL')
  }
}

/** With `--dev` the page of administration listens as well, and says so first. */
function listensAt(log: string): string | undefined {
  const line = log.split('\n').find((each) => each.includes('"msg":"listening"') && each.endsWith('}'))
  return line && JSON.parse(line).url
}

/**
 * It is 503 until the service is ready, and an emulated one may drop a connection. Another answer never becomes the right one.
 * Where it crashed, `waitUntil` says how it ended.
 */
async function isReady(url: string): Promise<true | undefined> {
  const { status } = await fetch(`${url}/readyz`).catch(() => ({ status: 503 }))
  if (status === 503) return undefined
  if (status !== 200) throw new Error(`${url}/readyz answers ${status}`)
  return true
}

async function waitUntil<T>(
  look: () => T | undefined | Promise<T | undefined>,
  service: Bun.Subprocess,
): Promise<T> {
  for (const last = Date.now() + READY_WITHIN_MS; Date.now() < last; await Bun.sleep(PAUSE_MS)) {
    // One that a signal ended, as an instruction that the processor lacks does, has no exit code.
    const end = service.exitCode ?? service.signalCode
    if (end !== null) throw new Error(`it ended with ${end}`)
    const found = await look()
    if (found !== undefined) return found
  }
  throw new Error('it was not ready in time')
}

/** Doctor ends with 1 where a check fails, such as that of the mail server, which is not there. */
async function output(command: string[], folder: string): Promise<string> {
  const child = Bun.spawn(command, { cwd: folder, env: environment(folder), stdout: 'pipe', stderr: 'pipe' })
  const [out, error] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if (out.startsWith('{')) return out
  throw new Error(`${command.join(' ')} ended with ${await child.exited}:\n${error}${out}`)
}
