/**
 * The operator's command that takes a finished backup elsewhere. No shell reads it, so a name cannot become a command.
 * It has a process group of its own, which is ended with it.
 */
import { BACKUP_FILE } from '../../platform/config/formats.ts'
import { within } from '../../platform/waiting.ts'

/** Failures begin with it. */
export const AFTER = 'backup.after'

const LONGEST_MS = 10 * 60_000
/** The time between the signal that can be caught, by which a tool gives back its locks, and the one that cannot. */
const GRACE_MS = 2000
/** A process that it left behind may hold its standard error open. */
const LAST_WORDS_MS = 200
const MOST_SAID = 1000

/** The message is one line about how it ended. */
export class AfterFailed extends Error {
  override name = 'AfterFailed'

  constructor(
    reason: string,
    /** The end of what it wrote to standard error. */
    readonly said = '',
  ) {
    super(`${AFTER}: ${reason}`)
  }
}

/**
 * The environment of this process, without the variables of poterne and those that its configuration names: they hold
 * its secrets.
 */
export function environmentWithout(named: readonly string[]): Record<string, string> {
  const kept = (name: string) =>
    name === 'PATH' || name === 'HOME' || !(name.startsWith('POTERNE_') || named.includes(name))
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && kept(name) ? [[name, value]] : [],
    ),
  )
}

interface AfterOptions {
  env: Record<string, string>
  signal: AbortSignal
  longestMs?: number
}

/** Throws AfterFailed, and the reason of `signal`. */
export async function runAfter(
  [command = '', ...args]: readonly string[],
  file: string,
  { env, signal, longestMs = LONGEST_MS }: AfterOptions,
): Promise<void> {
  signal.throwIfAborted()
  const child = start([command, ...args.map((arg) => arg.replaceAll(BACKUP_FILE, file))], env)
  const said = tailOf(child.stderr)
  const stop = () => end(child)
  const kill = () => signalGroup(child, 'SIGKILL')
  signal.addEventListener('abort', stop)
  process.once('exit', kill)
  try {
    const isInTime = await within(
      longestMs,
      child.exited.then(() => true),
      false,
    )
    if (!isInTime) await stop()
    await child.exited
    signal.throwIfAborted()
    await within(LAST_WORDS_MS, said.done, null)
    if (!isInTime)
      throw new AfterFailed(`${command} took longer than ${longestMs / 60_000} minutes`, said.text())
    if (child.signalCode !== null)
      throw new AfterFailed(`${command} was ended by ${child.signalCode}`, said.text())
    if (child.exitCode !== 0)
      throw new AfterFailed(`${command} ended with exit code ${child.exitCode}`, said.text())
  } finally {
    signal.removeEventListener('abort', stop)
    process.off('exit', kill)
    said.leave()
  }
}

type Child = Bun.Subprocess<'ignore', 'ignore', 'pipe'>

function start(command: string[], env: Record<string, string>): Child {
  try {
    return Bun.spawn(command, { env, detached: true, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  } catch (error) {
    const { code = 'unknown cause' } = error as NodeJS.ErrnoException
    throw new AfterFailed(`${command[0]} cannot be run (${code})`)
  }
}

/** Its children, too. */
async function end(child: Child): Promise<void> {
  signalGroup(child, 'SIGTERM')
  await within(GRACE_MS, child.exited, null)
  signalGroup(child, 'SIGKILL')
}

function signalGroup({ pid }: Child, name: NodeJS.Signals): void {
  try {
    process.kill(-pid, name)
  } catch {
    // All of it has ended.
  }
}

function tailOf(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let tail = ''
  async function read(): Promise<void> {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      tail = (tail + decoder.decode(value, { stream: true })).slice(-MOST_SAID)
    }
  }
  return {
    done: read().catch(() => {}),
    text: () => tail.trim(),
    leave: () => void reader.cancel().catch(() => {}),
  }
}
