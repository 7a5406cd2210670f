/** Scheduled backups, and the command of `backup.after`, which takes them to another machine. */
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import { type AfterFailed, environmentWithout, runAfter } from '../../src/operations/backups/after.ts'
import { createBackupService, lastDue } from '../../src/operations/backups/service.ts'
import { createBackupStore } from '../../src/operations/backups/store.ts'
import { connectServer } from '../../src/platform/postgres/server.ts'
import { newDirectory } from '../helpers/run-directory.ts'
import { startService } from '../helpers/service.ts'
import { longTest } from '../helpers/soak.ts'
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

describe('the command of a scheduled backup', () => {
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

describe('a scheduled backup', () => {
  const [directory, elsewhere] = [join(newDirectory('scheduled'), 'backups'), newDirectory('elsewhere')]
  const program = script(
    `test ! -e ${elsewhere}/full || { echo no space left there >&2; exit 7; }`,
    `cp "$1" ${elsewhere}/`,
    `echo "$1" >>${elsewhere}/calls`,
  )
  const backup = { at: '03:30', directory, keep: 1, after: [program, '{file}'] }
  const service = useService({ settings: { backup } })
  const replica = use(
    () => startService({ storage: service.storage, clock: service.clock, settings: { backup } }),
    service,
  )
  const takeDue = () => Promise.all([service, replica].map(({ inside }) => inside.services.backups.takeDue()))
  const events = async (type: string) => (await service.inside.services.auditTrail.list({ type })).items
  const failures = () =>
    [...service.log, ...replica.log].filter((line) => line.includes('the scheduled backup failed'))

  test('is made once its time has come, by one replica, which then runs the command once; the newest files stay', async () => {
    mkdirSync(directory)
    const old = 'poterne-20200101-013000.backup'
    writeFileSync(join(directory, old), '')
    await takeDue()
    expect(readdirSync(directory)).toEqual([old])
    service.clock.advance(86_400_000)
    await takeDue()
    await takeDue()
    const [name, ...more] = readdirSync(directory)
    expect([name, more]).toEqual([expect.stringMatching(/^poterne-\d{8}-\d{6}\.backup$/), []])
    expect(name).not.toBe(old)
    expect(await events('backup.created')).toMatchObject([
      { actor: { type: 'system' }, data: { file: name } },
    ])
    // The file was whole by then.
    expect(readFileSync(join(elsewhere, 'calls'), 'utf8')).toBe(`${join(directory, name!)}\n`)
    expect(readFileSync(join(elsewhere, name!)).equals(readFileSync(join(directory, name!)))).toBe(true)
    const { lastFailureAt, lastSuccessAt } = await service.inside.services.backups.getState()
    expect(lastFailureAt).toBeNull()
    expect(Math.abs(service.clock.now().getTime() - lastSuccessAt!.getTime())).toBeLessThan(60_000)
  })

  longTest('fails where the command does, and the file stays', async () => {
    writeFileSync(join(elsewhere, 'full'), '')
    const before = [await service.inside.services.backups.getState(), readdirSync(directory)] as const
    service.clock.advance(86_400_000)
    await takeDue()
    const files = readdirSync(directory)
    expect(files).toHaveLength(1)
    expect(files).not.toEqual(before[1])
    const cause = `backup.after: ${program} ended with exit code 7`
    const { lastFailure, lastFailureAt, lastSuccessAt } = await service.inside.services.backups.getState()
    expect([lastFailure, lastSuccessAt]).toEqual([cause, before[0].lastSuccessAt])
    expect(lastFailureAt! > lastSuccessAt!).toBe(true)
    expect((await events('backup.failed')).map(({ data }) => data)).toEqual([{ cause }])
    expect(failures().map((line) => JSON.parse(line))).toMatchObject([
      { cause, stderr: 'no space left there' },
    ])
    rmSync(join(elsewhere, 'full'))
  })

  test('whose command fails is a line of the log, an event, and what doctor reads', async () => {
    const database = await connectServer({ url: service.storage.database!.url as string, poolSize: 2 })
    writeFileSync(join(elsewhere, 'full'), '')
    const log: string[] = []
    const failing = createBackupService({
      ...{ files: undefined, clock: service.clock, at: '03:30', store: createBackupStore(database) },
      logger: pino({}, { write: (line) => log.push(line) }),
      make: async (signal) => {
        await runAfter(backup.after, '/backups/file', { env: environmentWithout([]), signal })
        return { file: 'file', bytes: 1, rows: 1 }
      },
    })
    try {
      service.clock.advance(86_400_000)
      await failing.takeDue()
      const cause = `backup.after: ${program} ended with exit code 7`
      const { lastFailure, lastFailureAt, lastSuccessAt } = await failing.getState()
      expect([lastFailure, lastFailureAt! > lastSuccessAt!]).toEqual([cause, true])
      expect((await events('backup.failed'))[0]?.data).toEqual({ cause })
      expect(JSON.parse(log.join(''))).toMatchObject({ cause, stderr: 'no space left there' })
    } finally {
      await failing.close()
      await database.close()
    }
  })

  test('is made up for at the next start where no replica ran at its time, and taken by the next one where it was stopped', async () => {
    const database = await connectServer({ url: service.storage.database!.url as string, poolSize: 2 })
    const made: string[] = []
    const start = (name: string, make: (signal: AbortSignal) => Promise<unknown> = async () => {}) =>
      createBackupService({
        ...{ files: undefined, clock: service.clock, logger: pino({ enabled: false }), at: '03:30' },
        store: createBackupStore(database),
        make: async (signal) => {
          await make(signal)
          made.push(name)
          return { file: name, bytes: 1, rows: 1 }
        },
      })
    try {
      service.clock.advance(86_400_000)
      const stopped = start('stopped', async (signal) => {
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        signal.throwIfAborted()
      })
      const taking = stopped.takeDue()
      const due = lastDue('03:30', service.clock.now())
      const isTaken = async () => (await stopped.getState()).takenFor?.getTime() === due.getTime()
      await waitFor(isTaken, { what: 'the round to be claimed' })
      await Promise.all([stopped.close(), taking])
      for (const name of ['next', 'later']) await start(name).takeDue()
      expect(made).toEqual(['next'])
    } finally {
      await database.close()
    }
  })

  test('that fails is a line of the log and an event', async () => {
    rmSync(directory, { recursive: true })
    writeFileSync(directory, 'no directory')
    service.clock.advance(86_400_000)
    const before = [(await events('backup.failed')).length, failures().length] as const
    await takeDue()
    expect([(await events('backup.failed')).length, failures().length]).toEqual([
      before[0] + 1,
      before[1] + 1,
    ])
    expect((await service.inside.services.backups.getState()).lastFailure).toContain('EEXIST')
  })
})

describe('the times of a schedule', () => {
  test('are those of the clock on the wall', () => {
    const at = (text: string) => lastDue('03:30', new Date(text)).getTime()
    expect(at('2026-07-02T03:30:00')).toBe(new Date('2026-07-02T03:30:00').getTime())
    expect(at('2026-07-02T03:29:59')).toBe(new Date('2026-07-01T03:30:00').getTime())
    expect(at('2026-07-02T23:00:00')).toBe(new Date('2026-07-02T03:30:00').getTime())
  })

  test.each([
    ['Europe/Paris', '2026-03-29T00:00Z', '2026-10-25T00:00Z'],
    ['America/New_York', '2026-03-08T06:00Z', '2026-11-01T06:00Z'],
    // Half an hour.
    ['Australia/Lord_Howe', '2026-10-03T12:00Z', '2026-04-04T12:00Z'],
    // The clock changes at midnight.
    ['Africa/Cairo', '2026-04-23T22:00Z', '2026-10-29T21:00Z'],
  ])('come once a day in %s, also on days when the clock changes', (zone, spring, autumn) => {
    const { env } = process
    const before = env.TZ
    env.TZ = zone
    try {
      for (const at of ['00:00', '00:30', '01:30', '01:45', '02:00', '02:30', '03:00', '23:30']) {
        for (const change of [spring, autumn]) {
          const days = new Map<string, number>()
          let seen = 0
          const from = Date.parse(change) - 3 * 86_400_000
          for (let minute = 0; minute < 6 * 1440; minute += 5) {
            const due = lastDue(at, new Date(from + minute * 60_000))
            // A run is due, as in the service, if it is later than the last look that found one due.
            if (due.getTime() <= seen) continue
            seen = from + minute * 60_000
            days.set(due.toDateString(), (days.get(due.toDateString()) ?? 0) + 1)
          }
          expect([at, change, [...days.values()]]).toEqual([at, change, Array(days.size).fill(1)])
          expect(days.size).toBeGreaterThan(5)
        }
      }
    } finally {
      if (before === undefined) delete env.TZ
      else env.TZ = before
    }
  })
})
