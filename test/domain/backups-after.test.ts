/** The command of `backup.after`, which takes a scheduled backup to another machine. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AfterFailed, environmentWithout, runAfter } from '../../src/operations/backups/after.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { startService } from '../helpers/service.ts'
import { use, useService } from '../helpers/use-service.ts'
import { waitFor } from '../helpers/wait.ts'

setDefaultTimeout(60_000)

function script(...lines: string[]): string {
  const file = join(newDirectory('after'), 'command')
  writeFileSync(file, ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(file, 0o755)
  return file
}

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))

describe('the command', () => {
  const never = new AbortController().signal
  const failureOf = (program: string, longestMs = 60_000, signal = never): Promise<AfterFailed> =>
    runAfter([program, '{file}'], '/backups/a file', { env: environmentWithout([]), signal, longestMs }).then(
      () => Promise.reject(new Error('it succeeded')),
      (error) => error,
    )

  test('gets the file where it is named, by no shell', async () => {
    const printed = join(newDirectory('after'), 'printed')
    const program = script(`printf '<%s>' "$@" >${printed}`)
    const args = ['{file}', '--from={file}', '$(touch /tmp/x); *', '{name}']
    await runAfter([program, ...args], '/backups/a file', { env: environmentWithout([]), signal: never })
    expect(readFileSync(printed, 'utf8')).toBe(
      '</backups/a file><--from=/backups/a file><$(touch /tmp/x); *><{name}>',
    )
  })

  test('fails by its exit code, by a signal and where it is not there, and its last words are kept', async () => {
    const code = script(
      'head -c 100000 /dev/zero | tr "\\0" x >&2',
      'echo the disk there is full >&2',
      'exit 3',
    )
    const failed = await failureOf(code)
    expect(failed.message).toBe(`backup.after: ${code} ended with exit code 3`)
    expect(failed.said).toEndWith('xxxthe disk there is full')
    expect(failed.said.length).toBeLessThanOrEqual(1000)
    const killed = script('kill -9 $$')
    expect((await failureOf(killed)).message).toBe(`backup.after: ${killed} was ended by SIGKILL`)
    expect((await failureOf('/nowhere/rclone')).message).toBe(
      'backup.after: /nowhere/rclone cannot be run (ENOENT)',
    )
  })

  test('is ended with its children when it takes too long, and when the service ends', async () => {
    const startStuck = () => {
      const pids = join(newDirectory('after'), 'pids')
      // It does not care for the first signal.
      const program = script(
        "trap '' TERM",
        `(trap '' TERM; echo $$ >>${pids}; sleep 100) &`,
        `echo $! >>${pids}`,
        'wait; sleep 100',
      )
      const readPids = () =>
        (existsSync(pids) ? readFileSync(pids, 'utf8') : '').split('\n').filter(Boolean).map(Number)
      return { program, readPids }
    }
    const late = startStuck()
    expect((await failureOf(late.program, 1500)).message).toContain(' took longer than ')
    expect(late.readPids().length).toBe(2)
    await waitFor(() => !late.readPids().some(isAlive), { what: 'its children to end' })
    const [stopped, ending] = [startStuck(), new AbortController()]
    const failing = failureOf(stopped.program, 60_000, ending.signal)
    await waitFor(() => stopped.readPids().length === 2, { what: 'its child to start' })
    ending.abort(new Error('the service ends'))
    expect((await failing).message).toBe('the service ends')
    await waitFor(() => !stopped.readPids().some(isAlive), { what: 'its children to end' })
  })

  test('does not wait for what it leaves behind, with its standard error open', async () => {
    const startedAt = performance.now()
    await runAfter([script('sleep 20 &'), '{file}'], '/backups/file', { env: {}, signal: never })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  const added = { POTERNE_SERVER_SECRET: 'ab', SMTP_PASSWORD: 'cd', RCLONE_CONFIG: '/etc/rclone' }
  afterEach(() => {
    for (const name of Object.keys(added)) delete process.env[name]
  })

  test('gets the environment without the variables of poterne and those of its configuration', () => {
    Object.assign(process.env, added)
    const env = environmentWithout(['SMTP_PASSWORD', 'HOME'])
    expect(env).toMatchObject({
      RCLONE_CONFIG: '/etc/rclone',
      PATH: process.env.PATH!,
      HOME: process.env.HOME!,
    })
    expect(Object.keys(env).filter((name) => /POTERNE|SMTP/.test(name))).toEqual([])
  })
})

describe('of two replicas', () => {
  const [directory, elsewhere] = [join(newDirectory('scheduled'), 'backups'), newDirectory('elsewhere')]
  const program = script(
    `test ! -e ${elsewhere}/full || { echo no space left there >&2; exit 7; }`,
    `cp "$1" ${elsewhere}/`,
    `echo "$1" >>${elsewhere}/calls`,
  )
  const backup = { at: '03:30', directory, after: [program, '{file}'] }
  const service = useService({ settings: { backup } })
  const replica = use(
    () => startService({ storage: service.storage, clock: service.clock, settings: { backup } }),
    service,
  )
  const takeDue = async () => {
    service.clock.advance(86_400_000)
    await Promise.all([service, replica].map(({ inside }) => inside.services.backups.takeDue()))
  }

  test('the one that made the backup runs it, once, when the file is there and whole', async () => {
    await takeDue()
    const [name] = readdirSync(directory)
    expect(readFileSync(join(elsewhere, 'calls'), 'utf8')).toBe(`${join(directory, name!)}\n`)
    expect(readFileSync(join(elsewhere, name!)).equals(readFileSync(join(directory, name!)))).toBe(true)
    const { lastFailureAt, lastSuccessAt } = await service.inside.services.backups.getState()
    expect([lastFailureAt, lastSuccessAt]).toEqual([null, expect.any(Date)])
  })

  test('its failure is that of the backup, in the log, the events and what doctor reads; the file stays', async () => {
    writeFileSync(join(elsewhere, 'full'), '')
    const before = await service.inside.services.backups.getState()
    await takeDue()
    expect(readdirSync(directory)).toHaveLength(2)
    const cause = `backup.after: ${program} ended with exit code 7`
    const { lastFailure, lastFailureAt, lastSuccessAt } = await service.inside.services.backups.getState()
    expect([lastFailure, lastSuccessAt]).toEqual([cause, before.lastSuccessAt])
    expect(lastFailureAt! > lastSuccessAt!).toBe(true)
    const { items } = await service.inside.services.auditTrail.list({ type: 'backup.failed' })
    expect(items.map(({ data }) => data)).toEqual([{ cause }])
    const lines = [...service.log, ...replica.log].filter((line) =>
      line.includes('the scheduled backup failed'),
    )
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ cause, stderr: 'no space left there' }])
  })
})
