/** Finds and signals processes by their working directory: every server of a run has its own under that of the run. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export interface LaunchOptions {
  cwd: string
  /** A file descriptor for what it prints; nothing is kept if not given. */
  output?: number
}

/**
 * Starts a process without a parent, in a session of its own. `bun test --parallel` kills the children of a worker
 * after each file, and an interrupt in the terminal goes to the whole group. Find it by its directory.
 */
export function launch(command: string[], { cwd, output }: LaunchOptions): void {
  const printed = output ?? 'ignore'
  const { error, status } = spawnSync('setsid', ['--fork', ...command], {
    cwd,
    stdio: ['ignore', printed, printed],
  })
  if (error !== undefined || status !== 0)
    throw new Error(`cannot start ${command.join(' ')}`, { cause: error })
}

/** Process ids whose working directory is `directory` or below it, oldest first. Linux only (/proc). */
export function processesUnder(directory: string): number[] {
  const found: number[] = []
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    if (!Number.isInteger(pid) || pid === process.pid) continue
    const workingDirectory = readWorkingDirectory(pid)
    if (workingDirectory === directory || workingDirectory?.startsWith(`${directory}/`)) found.push(pid)
  }
  return found.sort((a, b) => a - b)
}

function readWorkingDirectory(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, '')
  } catch {
    return undefined
  }
}

/**
 * The start of the process, in clock ticks since boot: with the id it names a process for good. It is null for one that
 * is gone or a zombie.
 */
export function processStart(pid: number): string | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

/** It returns false when the process is gone already. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

/** SIGSTOP to all of them, again until no new one appears. */
export function pauseProcesses(directory: string): void {
  const stopped = new Set<number>()
  for (;;) {
    const fresh = processesUnder(directory).filter((pid) => !stopped.has(pid))
    if (fresh.length === 0) return
    for (const pid of fresh) {
      signal(pid, 'SIGSTOP')
      stopped.add(pid)
    }
  }
}

export function resumeProcesses(directory: string): void {
  for (const pid of processesUnder(directory)) signal(pid, 'SIGCONT')
}

/**
 * Ends everything that runs under the directory: SIGINT (PostgreSQL's fast shutdown, which also frees its shared
 * memory), SIGKILL to what is left after the grace.
 */
export async function endProcesses(directory: string, graceMs = 3000): Promise<void> {
  const everything = processesUnder(directory)
  for (const pid of everything) {
    signal(pid, 'SIGINT')
    signal(pid, 'SIGCONT')
  }
  const deadline = Date.now() + graceMs
  while (processesUnder(directory).length > 0) {
    if (Date.now() > deadline) for (const pid of processesUnder(directory)) signal(pid, 'SIGKILL')
    await Bun.sleep(20)
  }
}
