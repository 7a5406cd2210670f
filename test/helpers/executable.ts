/**
 * Runs dist/poterne as users do: a process of its own in a directory of its own, asked over HTTP. Its messages are read
 * from a real mail server and a real gateway, and a signal ends it. Builds it once a run where it is missing or older
 * than its sources.
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Glob } from 'bun'
import { stringify } from 'smol-toml'
import { type ApiClient, createApiClient } from './api-client.ts'
import { freePort } from './free-port.ts'
import { startGateway, type TestGateway } from './gateway.ts'
import { createInbox, type Inbox } from './inbox.ts'
import { signal } from './processes.ts'
import { newDirectory, newFastDirectory, oncePerRun } from './run-directory.ts'
import { createDatabase, redisPrefix, sharedRedis } from './servers.ts'
import { deliverySettings, mergeSettings, quickSettings, type Settings, type Shape } from './service.ts'
import { startSmtp, type TestSmtp } from './smtp.ts'
import { waitFor } from './wait.ts'

const root = join(import.meta.dir, '../..')
const executable = join(root, 'dist/poterne')
const builtFrom = [
  'src/**/*',
  'drizzle/**/*',
  'scripts/{build,prepare-embedded}.ts',
  'package.json',
  'bun.lock',
]

/** The path of an executable that is not older than what it is built from. */
export const builtExecutable = () =>
  oncePerRun('executable', async () => {
    if (isStale()) {
      const build = Bun.spawn([process.execPath, 'scripts/build.ts'], {
        cwd: root,
        stdout: 'ignore',
        stderr: 'pipe',
      })
      const [said, code] = await Promise.all([new Response(build.stderr).text(), build.exited])
      if (code !== 0) throw new Error(`the executable could not be built: ${said}`)
    }
    return executable
  })

/**
 * Says how a test that starts many processes runs poterne. It uses the executable if that is as new as its sources, as
 * it is in scripts/test, since that starts in a fifth of the time. Otherwise it runs the sources, since a build takes
 * longer than most tests.
 */
export const poterneCommand = (): [string, ...string[]] => {
  command ??= isStale() ? [process.execPath, join(root, 'src/main.ts')] : [executable]
  return command
}
let command: [string, ...string[]] | undefined

/** The archive of a database that the build made of the present sources; null where it is older than they are. */
export const builtDatabase = (): string | null =>
  isStale()
    ? null
    : ([...new Glob('embedded-*.tar.zst').scanSync({ cwd: join(root, 'dist'), absolute: true })][0] ?? null)

/** One command to its end, run by `poterneCommand`. */
export async function runPoterne(
  args: string[],
  { directory, env = {} }: { directory: string; env?: Record<string, string> },
) {
  const child = Bun.spawn([...poterneCommand(), ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH ?? '', ...givenOptions(), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, error, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, out, error }
}

function isStale(): boolean {
  const built = statSync(executable, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return builtFrom.some((pattern) =>
    [...new Glob(pattern).scanSync({ cwd: root })].some((file) => statSync(join(root, file)).mtimeMs > built),
  )
}

export interface RunOptions {
  /** An empty one if not given. */
  directory?: string
  /** Everything the process knows of the environment, beside PATH, HOME and what scripts/test tells it. */
  env?: Record<string, string>
  /** Put in front, e.g. `['prlimit', '--fsize=1000000']`. */
  wrapper?: string[]
  /** Another one than the present: that of an older version. */
  executable?: string
  /** True for a test that measures: memory is given back, and the embedded database lies on the disk, not in memory. */
  measures?: boolean
}

/** One command to its end. */
export async function runExecutable(args: string[], options: RunOptions = {}) {
  const started = await spawnExecutable(args, options)
  const code = await started.exited
  return { code, out: started.stdout(), error: started.stderr() }
}

export interface RunningProcess {
  readonly pid: number
  readonly directory: string
  /** The exit code; 128 and the number of the signal that killed it. */
  readonly exited: Promise<number>
  stdout(): string
  stderr(): string
  signal(name: NodeJS.Signals): void
}

/** What scripts/test tells the processes of the run: of the compilers, and of memory those that no test measures. */
function givenOptions({ measures = false } = {}) {
  const given = measures ? /^BUN_JSC_/ : /^(BUN_JSC|MIMALLOC)_/
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => given.test(name)))
}

export async function spawnExecutable(args: string[], options: RunOptions = {}): Promise<RunningProcess> {
  const { directory = newFastDirectory('executable'), env = {}, wrapper = [], measures = false } = options
  // It lies beside the directory, not in it: that one stays as the caller made it.
  const printed = newDirectory('printed')
  const [out, error] = [join(printed, 'out'), join(printed, 'error')]
  const child = Bun.spawn([...wrapper, options.executable ?? (await builtExecutable()), ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH ?? '', HOME: directory, ...givenOptions({ measures }), ...env },
    stdin: 'ignore',
    stdout: Bun.file(out),
    stderr: Bun.file(error),
  })
  return {
    pid: child.pid,
    directory,
    exited: child.exited,
    stdout: () => readFileSync(out, 'utf8'),
    stderr: () => readFileSync(error, 'utf8'),
    signal: (name) => void signal(child.pid, name),
  }
}

/** The embedded database of the working directory, or of `POTERNE_STORAGE_DATA_DIR`, as a first start makes it. */
export async function makeDatabase(options: RunOptions): Promise<void> {
  const env = { POTERNE_SERVER_PORT: '0', ...options.env }
  const service = await spawnExecutable(['serve', '--dev'], { ...options, env })
  await waitFor(() => service.stdout().includes('"listening"'), { what: 'a first start' })
  service.signal('SIGTERM')
  await service.exited
}

export interface ExecutableOptions extends RunOptions {
  /** Default: redis, the production shape. */
  shape?: Shape
  settings?: Settings
  /** Stores of another one, for a second replica. */
  storage?: Settings
  /** The servers of another one, which outlive this one. */
  smtp?: TestSmtp
  gateway?: TestGateway
  /** More options of `serve`. */
  args?: string[]
}

export interface Executable extends ApiClient {
  url: string
  port: number
  inbox: Inbox
  smtp: TestSmtp
  gateway: TestGateway
  storage: Settings
  /** `--config FILE` of exactly this one, for other commands. */
  configArgs: string[]
  /** The newest process. */
  process(): RunningProcess
  /** From the start of the process to its first answer. */
  startedInMs(): number
  /** Every line of all its processes, parsed. */
  log(): Record<string, unknown>[]
  /** Resident memory, in bytes. */
  memory(): number
  /** Waits for its end; gives the exit code. */
  kill(name?: NodeJS.Signals): Promise<number>
  /** Again, on the same port, stores and directory; resolves when it is ready. */
  start(): Promise<void>
  /** The process, and what was started for it. */
  close(): Promise<void>
}

/** An empty database (`migrated`: with tables), key prefix or data directory. */
export async function newStorage(shape: Shape, { migrated = true, onDisk = false } = {}) {
  if (shape === 'embedded') {
    const directory = onDisk ? newDirectory('data') : newFastDirectory('data')
    return { settings: { storage: { data_dir: join(directory, 'data') } }, drop: async () => {} }
  }
  const { url, drop } = await createDatabase({ migrated })
  const settings: Settings = { server: { secret: 'ab'.repeat(32) }, database: { url } }
  if (shape === 'redis') settings.redis = { url: (await sharedRedis()).url, key_prefix: redisPrefix() }
  return { settings, drop }
}

/** Resolves when it is ready. `POTERNE_*` in `env` wins over `settings`. */
export async function startExecutable(options: ExecutableOptions = {}): Promise<Executable> {
  const { shape = 'redis', args = [], measures = false } = options
  const stores = options.storage
    ? { settings: options.storage, drop: async () => {} }
    : await newStorage(shape, { onDisk: measures })
  const smtp = options.smtp ?? (await startSmtp({ security: 'none', auth: null }))
  const gateway = options.gateway ?? (await startGateway())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const configFile = join(newDirectory('config'), 'poterne.toml')
  const settings = mergeSettings(
    quickSettings,
    { server: { port, docs: true } },
    stores.settings,
    deliverySettings(smtp, gateway),
    options.settings,
  )
  mkdirSync(dirname(configFile), { recursive: true })
  writeFileSync(configFile, stringify(settings))
  const configArgs = ['--config', configFile]
  const authority: Record<string, string> = smtp.caFile === '' ? {} : { NODE_EXTRA_CA_CERTS: smtp.caFile }
  const runOptions: RunOptions = {
    directory: options.directory ?? newFastDirectory('executable'),
    env: { ...authority, ...options.env },
    measures,
    ...(options.wrapper === undefined ? {} : { wrapper: options.wrapper }),
    ...(options.executable === undefined ? {} : { executable: options.executable }),
  }
  const processes: RunningProcess[] = []
  let startedInMs = 0
  const newest = () => processes.at(-1) as RunningProcess

  async function start() {
    const startedAt = performance.now()
    processes.push(await spawnExecutable(['serve', ...configArgs, ...args], runOptions))
    await untilReady(newest(), url)
    startedInMs = performance.now() - startedAt
  }
  async function kill(name: NodeJS.Signals = 'SIGKILL') {
    newest().signal(name)
    return newest().exited
  }
  await start()
  const inbox = createInbox(smtp, gateway)
  return {
    ...createApiClient(url, inbox),
    ...{ url, port, inbox, smtp, gateway, configArgs, start, kill },
    storage: stores.settings,
    process: newest,
    startedInMs: () => startedInMs,
    log: () => processes.flatMap(({ stdout }) => parseLines(stdout())),
    memory: () => residentBytes(newest().pid),
    async close() {
      await kill()
      await Promise.all([
        options.smtp === undefined && smtp.stop(),
        options.gateway === undefined && gateway.stop(),
      ])
      await stores.drop()
    },
  }
}

/** Throws what it said when it ends instead. */
async function untilReady(running: RunningProcess, url: string): Promise<void> {
  let ended: number | null = null
  void running.exited.then((code) => {
    ended = code
  })
  const isReady = async () => ended !== null || (await fetch(`${url}/readyz`)).status === 200
  await waitFor(isReady, { what: `${url} to be ready`, timeoutMs: 30_000, intervalMs: 5 })
  if (ended !== null) throw new Error(`poterne ended with ${ended}: ${running.stderr()}${running.stdout()}`)
}

const parseLines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)

function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024
}
