/** `poterne backup` on a bad day: killed, interrupted, without memory or space, twice at once, to places that are no files. */
import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { verifyBackup } from '../../src/storage/backup/read.ts'
import { poterneCommand, type RunOptions, spawnExecutable } from '../helpers/executable.ts'
import { processStart, signal } from '../helpers/processes.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { createDatabase } from '../helpers/servers.ts'
import { writeSettings } from '../helpers/service.ts'
import { reduced } from '../helpers/soak.ts'
import { use } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

const secret = 'ab'.repeat(32)

const database = use(async () => {
  const { url, drop } = await createDatabase()
  const { file: config } = writeSettings({ server: { secret }, database: { url } })
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  // A database without accounts is not backed up unasked.
  await sql`insert into accounts (uuid, email, email_key, accountable_type, role_id, created_at, updated_at, language)
            values (gen_random_uuid(), 'a@example.com', 'a@example.com', 'User', 1, now(), now(), 'en')`
  return {
    ...{ url, config, sql },
    async close() {
      await sql.end()
      await drop()
    },
  }
})

const scratch = newDirectory('scratch')
const trials = () => readdirSync(scratch).filter((name) => name.startsWith('trial-'))

async function start(args: string[], options: RunOptions = {}) {
  const [program, ...first] = poterneCommand()
  return spawnExecutable([...first, 'backup', ...args, '--config', database.config], {
    ...{ directory: newDirectory('run'), executable: program },
    ...options,
    // The trial restore writes there.
    env: { TMPDIR: scratch, ...options.env },
  })
}

async function backUp(args: string[], options: RunOptions = {}) {
  const started = await start(args, options)
  const code = await started.exited
  return { code, out: started.stdout(), error: started.stderr() }
}

/** The process that restores on trial, while it lives. */
function childOf(pid: number): number | undefined {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return children.map(Number).find((child) => child > 0)
}

const isWhole = async (file: string) =>
  (await verifyBackup(file, [{ kind: 'secret', secret: Buffer.from(secret, 'hex') }])).parts.length > 0

test('a trial restore whose process the system kills is a warning of a backup that is good', async () => {
  const directory = newDirectory('backups')
  const file = join(directory, 'a.backup')
  const running = await start([file, '--json'])
  const trial = await waitFor(() => childOf(running.pid), {
    what: 'the trial restore',
    timeoutMs: 30_000,
    intervalMs: 1,
  })
  await waitFor(() => readFileSync(`/proc/${trial}/oom_score_adj`, 'utf8').trim() === '1000', {
    what: 'the trial restore to be the first that the system ends',
    intervalMs: 1,
  })
  signal(trial, 'SIGKILL')
  expect(await running.exited).toBe(0)
  const warning =
    'every part was read back, but the trial restore could not run: its process was ended by SIGKILL, as happens where memory is short'
  expect(running.stderr()).toBe(`warning: ${warning}\n`)
  expect(JSON.parse(running.stdout())).toMatchObject({ file, restored: false, warning })
  expect(readdirSync(directory)).toEqual(['a.backup'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await isWhole(file)).toBeTrue()
  expect(await database.sql`select last_warning, last_success_at is not null as made from backups`).toEqual([
    { last_warning: warning, made: true },
  ] as never)
})

test(`a backup that is killed leaves what the next one removes${reduced('', ', and two at once into one file leave one that is whole')}`, async () => {
  const directory = newDirectory('backups')
  const file = join(directory, 'a.backup')
  writeFileSync(file, 'the old one')
  const killed = await start([file])
  const trial = await waitFor(() => childOf(killed.pid), {
    ...{ what: 'the trial restore', timeoutMs: 30_000, intervalMs: 1 },
  })
  killed.signal('SIGKILL')
  await killed.exited
  await waitFor(() => processStart(trial) === null, { what: 'the trial restore to end as well' })
  expect(readFileSync(file, 'utf8')).toBe('the old one')
  // The file beside the backup is sealed: the database of the trial restore was elsewhere.
  expect(readdirSync(directory)).toHaveLength(2)
  const left = readdirSync(directory, { recursive: true }) as string[]
  expect(left.filter((name) => name.includes('PG_VERSION') || name.includes('trial'))).toEqual([])
  expect(trials()).toHaveLength(1)
  const next = await Promise.all(Array.from({ length: reduced(1, 2) }, () => backUp([file])))
  for (const { code, error } of next) expect([code, error]).toEqual([0, ''])
  expect(readdirSync(directory)).toEqual(['a.backup'])
  expect(trials()).toEqual([])
  expect(await isWhole(file)).toBeTrue()
})

test.each(reduced<NodeJS.Signals[]>(['SIGTERM'], ['SIGINT', 'SIGTERM']))(
  '%s leaves the old file, and nothing else',
  async (name) => {
    const directory = newDirectory('backups')
    const file = join(directory, 'a.backup')
    writeFileSync(file, 'the old one')
    const running = await start([file])
    await waitFor(() => childOf(running.pid), { what: 'the trial restore', timeoutMs: 30_000, intervalMs: 1 })
    running.signal(name)
    expect([await running.exited, running.stderr()]).toEqual([130, 'interrupted: nothing was changed\n'])
    expect(readdirSync(directory)).toEqual(['a.backup'])
    expect(trials()).toEqual([])
    expect(readFileSync(file, 'utf8')).toBe('the old one')
  },
)

test('what cannot be written is one line, and the old file stays', async () => {
  const directory = newDirectory('backups')
  const file = join(directory, 'a.backup')
  writeFileSync(file, 'the old one')
  symlinkSync(file, join(directory, 'link'))
  mkdirSync(join(directory, 'below'))
  Bun.spawnSync(['mkfifo', join(directory, 'pipe')])
  const before = readdirSync(directory)
  const full = await backUp([file], { wrapper: ['prlimit', '--fsize=4096'] })
  expect(full).toEqual({
    ...{ code: 1, out: '' },
    error: `${file} cannot be written to (EFBIG): make space on its disk\n`,
  })
  const refused = await Promise.all(
    ['link', 'below', 'pipe', 'nowhere/a.backup', '/proc/a.backup'].map((name) =>
      backUp([join(directory, name)]),
    ),
  )
  expect(refused.map(({ code, error }) => [code, error])).toEqual([
    [1, `${directory}/link is no ordinary file: name another one, or "-" for standard output\n`],
    [1, `${directory}/below is a directory: name a file in it\n`],
    [1, `${directory}/pipe is no ordinary file: name another one, or "-" for standard output\n`],
    [1, `there is no directory ${directory}/nowhere\n`],
    [1, `there is no directory ${directory}/proc\n`],
  ])
  expect(readdirSync(directory)).toEqual(before)
  expect(readFileSync(file, 'utf8')).toBe('the old one')
})

const takers: [string, string, string][] = [
  [
    'a full disk behind standard output',
    '"$0" "$@" >/dev/full; echo $? >&2',
    'standard output takes no more: no space left on its disk',
  ],
  [
    'a reader that goes away early',
    '{ "$0" "$@"; echo $? >&2; } | head -c 10 >/dev/null',
    'standard output was closed before the backup was written to it (EPIPE)',
  ],
]

test.each(reduced(takers.slice(0, 1), takers))(
  '%s gets no backup, and ends the command with one line',
  async (_, line, said) => {
    const temporary = newDirectory('temporary')
    // It is more than a pipe holds.
    await database.sql`insert into tickets (key, value, expires_at)
    select gen_random_uuid(), to_jsonb(gen_random_uuid()), now() from generate_series(1, 10000)`
    const [program, ...first] = poterneCommand()
    const running = await spawnExecutable([...first, 'backup', '-', '--config', database.config], {
      ...{ executable: program, wrapper: ['sh', '-c', line], env: { TMPDIR: temporary } },
    })
    await running.exited
    expect(running.stderr()).toBe(`${said}\n1\n`)
    expect(readdirSync(temporary)).toEqual([])
  },
)
