/**
 * Processes that the bench starts. Each is in a directory under the run's, so that the run's guard (test/helpers) ends
 * them too if the bench is killed. `endChildren` ends, by their ids, all that still run.
 */
import { openSync } from 'node:fs'
import { join } from 'node:path'
import type { Subprocess } from 'bun'
import { newDirectory } from '../../test/helpers/run-directory.ts'

export interface Child {
  pid: number
  /** Sends a question and waits for its answer. Throws when the process ends first. */
  ask<Answer>(question: unknown): Promise<Answer>
  end(): Promise<void>
}

const running = new Set<Subprocess>()

export interface ChildOptions {
  env?: Record<string, string>
  /** It runs there; its log is the file `log` there. */
  directory?: string
}

/** Only what a program needs to be found and run: no setting of the caller's leaks into what is measured. */
const baseEnvironment = () => ({ PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '/tmp' })

/** A program that talks with nobody: a server. Its output goes to a file. */
export function startServer(
  command: string[],
  { env, directory = newDirectory('bench') }: ChildOptions = {},
) {
  const log = openSync(join(directory, 'log'), 'a')
  const child = Bun.spawn(command, {
    cwd: directory,
    env: { ...baseEnvironment(), ...env },
    stdio: ['ignore', log, log],
  })
  running.add(child)
  return { pid: child.pid, directory, exited: child.exited, end: () => end(child) }
}

/** A process that answers questions: see child-side.ts. Resolves when it is ready for them. */
export async function startChild(command: string[], { env }: ChildOptions = {}): Promise<Child> {
  const child = Bun.spawn(command, {
    cwd: newDirectory('bench'),
    env: { ...baseEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.add(child)
  const lines = readLines(child.stdout)
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error(`${command.join(' ')} ended`)
    return JSON.parse(value)
  }
  await next()
  return {
    pid: child.pid,
    ask: async (question) => {
      child.stdin.write(`${JSON.stringify(question)}\n`)
      child.stdin.flush()
      return next()
    },
    end: () => end(child),
  }
}

async function* readLines(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    rest += decoder.decode(chunk, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

/** SIGTERM, and SIGKILL when that is not heeded in 10 s. */
async function end(child: Subprocess): Promise<void> {
  child.kill('SIGTERM')
  const ended = await Promise.race([child.exited.then(() => true), Bun.sleep(10_000).then(() => false)])
  if (!ended) child.kill('SIGKILL')
  await child.exited
  running.delete(child)
}

export async function endChildren(): Promise<void> {
  await Promise.all([...running].map(end))
}
