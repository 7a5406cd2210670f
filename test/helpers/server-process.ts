/** One server program in a directory of its own under the run's, that can be stopped, started again, paused. */
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endProcesses, launch, pauseProcesses, processesUnder, resumeProcesses, signal } from './processes.ts'
import { waitFor } from './wait.ts'

export interface ServerControls {
  /** Orderly; resolves when it and its children are gone. */
  stop(): Promise<void>
  /** Kills it and its children at once, like a power failure. */
  kill(): Promise<void>
  /** Starts on the same port with the same data; resolves when it answers. */
  start(): Promise<void>
  restart(): Promise<void>
  /** SIGSTOP to it and its children: connections stay open, nothing answers. */
  pause(): void
  resume(): void
}

export interface ServerProcessOptions {
  directory: string
  command: string[]
  /** Throws or says false until the server answers. */
  answers: () => Promise<boolean>
}

export const installHint =
  'apt-get install postgresql redis-server pgbouncer oathtool zbar-tools librsvg2-bin'

/** The tests never skip for want of a program: one line, and out. */
export function leaveWithoutProgram(program: string): never {
  console.error(`${program} is not installed, the tests need it: ${installHint}`)
  process.exit(1)
}

export function controlServer({ directory, command, answers }: ServerProcessOptions): ServerControls {
  const logFile = join(directory, 'log')
  const start = async () => {
    const log = openSync(logFile, 'a')
    launch(command, { cwd: directory, output: log })
    closeSync(log)
    let looksWithout = 0
    await waitFor(
      async () => {
        looksWithout = processesUnder(directory).length === 0 ? looksWithout + 1 : 0
        return looksWithout > 1 || (await answers())
      },
      { what: command.join(' '), timeoutMs: 30_000 },
    )
    if (looksWithout > 1)
      throw new Error(`${command.join(' ')} ended at start: ${readFileSync(logFile, 'utf8').slice(-2000)}`)
  }
  const stop = () => endProcesses(directory, 10_000)
  return {
    start,
    stop,
    kill: async () => {
      pauseProcesses(directory)
      const killed = processesUnder(directory).filter((pid) => signal(pid, 'SIGKILL'))
      // They must not stay even as zombies: PostgreSQL would take one for a server that still runs.
      await waitFor(() => !killed.some((pid) => existsSync(`/proc/${pid}`)), {
        what: 'the killed to be gone',
      })
    },
    restart: async () => {
      if (processesUnder(directory).length > 0) await stop()
      await start()
    },
    pause: () => pauseProcesses(directory),
    resume: () => resumeProcesses(directory),
  }
}
