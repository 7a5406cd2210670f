/** A reader of the log that stops: the service goes on, and says later what was lost. */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { newStorage, poterneCommand, spawnExecutable } from '../helpers/executable.ts'
import { freePort } from '../helpers/free-port.ts'
import { writeSettings } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(120_000)

longTest('a pipe that nobody reads stops no request, and the lines that were lost are counted', async () => {
  const port = await freePort()
  const { file, directory } = writeSettings({ server: { port }, limits: { enabled: false } })
  const pipe = join(directory, 'log')
  Bun.spawnSync(['mkfifo', pipe])
  // The shell opens the pipe for both, so that it exists without anybody reading it.
  const child = Bun.spawn(
    ['sh', '-c', 'exec "$@" 3<>"$0" >"$0"', pipe, ...poterneCommand(), 'serve', '--dev', '--config', file],
    {
      cwd: directory,
      stdout: 'ignore',
      stderr: 'inherit',
    },
  )
  const url = `http://127.0.0.1:${port}`
  try {
    await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { what: 'the service', timeoutMs: 60_000 })
    const ask = async () =>
      (await fetch(`${url}/api/v1/auth/me`, { signal: AbortSignal.timeout(5000) })).status
    // A line has some 200 bytes: far more than a pipe (64 KiB) and the buffer (1 MiB) hold.
    for (let round = 0; round < 160; round++) {
      const statuses = await Promise.all(Array.from({ length: 50 }, ask))
      expect(new Set(statuses)).toEqual(new Set([401]))
    }
    const reader = Bun.spawn(['cat', pipe], { stdout: 'pipe' })
    const text = new Response(reader.stdout).text()
    await Bun.sleep(500)
    await ask()
    child.kill('SIGTERM')
    expect(await child.exited).toBe(0)
    const lines = (await text)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const told = lines.filter(({ lost }) => lost > 0)
    expect(told.length).toBeGreaterThan(0)
    const answered = lines.filter(({ route }) => route === '/api/v1/auth/me').length
    const lost = told.reduce((sum, line) => sum + line.lost, 0)
    expect(lost).toBeGreaterThan(1000)
    expect(answered + lost).toBeGreaterThanOrEqual(8001)
    expect(lines.at(-1)).toMatchObject({ msg: 'ended' })
  } finally {
    child.kill('SIGKILL')
  }
})

test('a log whose disk is full stops no request, and goes on with whole lines once there is space', async () => {
  const [program, ...first] = poterneCommand()
  const [{ settings, drop }, port, metricsPort] = [
    await newStorage('redis'),
    await freePort(),
    await freePort(),
  ]
  const { file, directory } = writeSettings({
    ...settings,
    server: { ...settings.server, port },
    metrics: { listen: `127.0.0.1:${metricsPort}` },
  })
  const running = await spawnExecutable([...first, 'serve', '--dev', '--config', file], {
    ...{ executable: program, directory },
  })
  const limitFiles = (limit: number | 'unlimited') =>
    Bun.spawnSync(['prlimit', `--fsize=${limit}:`, '--pid', String(running.pid)])
  const url = `http://127.0.0.1:${port}`
  const ask = async () => expect((await fetch(`${url}/api/v1/auth/me`)).status).toBe(401)
  const countLost = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return Number(/^poterne_log_lines_lost_total (\d+)$/m.exec(text)?.[1])
  }
  try {
    await waitFor(async () => (await fetch(`${url}/readyz`)).ok, { what: 'the service', timeoutMs: 60_000 })
    // A line has some 200 bytes: the second one is cut.
    limitFiles(Buffer.byteLength(running.stdout()) + 300)
    for (let call = 0; call < 50; call++) await ask()
    await waitFor(async () => (await countLost()) > 40, { what: 'the lines to be counted' })
    limitFiles('unlimited')
    await ask()
    await waitFor(() => running.stdout().includes('"lost":'), { what: 'the line that tells of it' })
    running.signal('SIGTERM')
    expect([await running.exited, running.stderr()]).toEqual([0, ''])
    const pieces = running.stdout().trim().split('\n')
    const lines = pieces.filter((piece) => piece.endsWith('}')).map((line) => JSON.parse(line))
    expect(pieces.length - lines.length).toBeLessThanOrEqual(1)
    const answered = lines.filter(({ route }) => route === '/api/v1/auth/me').length
    expect(answered + lines.find(({ lost }) => lost > 0).lost).toBeGreaterThanOrEqual(51)
  } finally {
    running.signal('SIGKILL')
    await drop()
  }
})

test.each([
  ['>/dev/full', 'no space left on its disk'],
  ['>&-', 'it is closed'],
  ['<&- >&-', 'it is closed'],
])('standard output %s ends a command with one line and exit code 1', async (where, why) => {
  for (const words of [['config', 'example'], ['--help']]) {
    const child = Bun.spawn(['sh', '-c', `exec "$@" ${where}`, 'sh', ...poterneCommand(), ...words], {
      stdout: 'ignore',
      stderr: 'pipe',
    })
    const said = await new Response(child.stderr).text()
    expect([await child.exited, said]).toEqual([1, `standard output takes no more: ${why}\n`])
  }
})
