/** Another process of this very program, for work that must not hold up requests, or whose memory must be free again. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { preparedDatabasePath } from './bundled/paths.ts'

/** The file that runs now on Linux, even if an upgrade has put another one in its place. */
const SELF = '/proc/self/exe'

export function ownCommand(): string[] {
  const program = existsSync(SELF) ? SELF : process.execPath
  // Only the executable carries a prepared database.
  return preparedDatabasePath === null ? [program, join(import.meta.dir, '../main.ts')] : [program]
}

/** The program of the processes that `runInWorker` starts: a test that runs from source puts the executable here. */
export const worker = { command: ownCommand }

/** The hidden command: it reads a task as JSON, and prints lines of JSON. */
export const WORKER_COMMAND = 'worker'

export interface WorkerLine<Result> {
  progress?: { what: string; done: number }
  result?: Result
  /** It is one line. */
  failure?: string
}

interface WorkerOptions {
  onProgress?: ((what: string, done: number) => void) | undefined
  signal?: AbortSignal | undefined
  /** The caller removes whatever it leaves behind. */
  isDisposable?: boolean
}

/** It ended without a result and without saying why, for example because the system killed it. */
export class WorkerEnded extends Error {
  override name = 'WorkerEnded'
}

/** Throws an Error whose message is one line where the task failed, and WorkerEnded. */
export async function runInWorker<Result>(
  task: object,
  { onProgress, signal, isDisposable = false }: WorkerOptions = {},
): Promise<Result> {
  const child = Bun.spawn([...worker.command(), WORKER_COMMAND], {
    argv0: 'poterne',
    stdin: new Blob([JSON.stringify(task)]),
    stdout: 'pipe',
    stderr: 'ignore',
  })
  // It may be busy for long before it notices a signal that can be caught.
  const stop = () => child.kill(isDisposable ? 'SIGKILL' : 'SIGTERM')
  signal?.addEventListener('abort', stop)
  process.once('exit', stop)
  if (signal?.aborted) stop()
  try {
    let last: WorkerLine<Result> = {}
    for await (const line of linesOf(child.stdout)) {
      const parsed = parseLine<Result>(line)
      if (parsed === null) continue
      last = parsed
      if (last.progress) onProgress?.(last.progress.what, last.progress.done)
    }
    const code = await child.exited
    if (last.result !== undefined) return last.result
    if (last.failure !== undefined) throw new Error(last.failure)
    throw new WorkerEnded(
      `its process was ended by ${child.signalCode ?? `itself with ${code}`}${child.signalCode === 'SIGKILL' ? ', as happens where memory is short' : ''}`,
    )
  } finally {
    signal?.removeEventListener('abort', stop)
    process.off('exit', stop)
    stop()
  }
}

/** It is null for a line whose writer was killed in the middle. */
function parseLine<Result>(line: string): WorkerLine<Result> | null {
  try {
    return JSON.parse(line) as WorkerLine<Result>
  } catch {
    return null
  }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() as string
    yield* lines
  }
  if (rest !== '') yield rest
}
