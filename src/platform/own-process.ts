/** Another process of this very program, for work that must not hold up requests, or whose memory must be free again. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { preparedDatabasePath } from './bundled/paths.ts'

/** On Linux the file that runs now, also where an upgrade has put another one in its place. */
const SELF = '/proc/self/exe'

function ownCommand(): string[] {
  const program = existsSync(SELF) ? SELF : process.execPath
  // Only the executable carries a prepared database.
  return preparedDatabasePath === null ? [program, join(import.meta.dir, '../main.ts')] : [program]
}

/** The hidden command: it reads a task as JSON, and prints lines of JSON. */
export const WORKER_COMMAND = 'worker'

export interface WorkerLine<Result> {
  progress?: { what: string; done: number }
  result?: Result
  /** In one line. */
  failure?: string
}

export interface WorkerOptions {
  onProgress?: ((what: string, done: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Throws an Error whose message is one line where the task failed. */
export async function runInWorker<Result>(
  task: object,
  { onProgress, signal }: WorkerOptions = {},
): Promise<Result> {
  const child = Bun.spawn([...ownCommand(), WORKER_COMMAND], {
    argv0: 'poterne',
    stdin: new Blob([JSON.stringify(task)]),
    stdout: 'pipe',
    stderr: 'ignore',
  })
  const stop = () => child.kill('SIGTERM')
  signal?.addEventListener('abort', stop)
  process.once('exit', stop)
  if (signal?.aborted) stop()
  try {
    let last: WorkerLine<Result> = {}
    for await (const line of linesOf(child.stdout)) {
      last = JSON.parse(line) as WorkerLine<Result>
      if (last.progress) onProgress?.(last.progress.what, last.progress.done)
    }
    const code = await child.exited
    if (last.result !== undefined) return last.result
    throw new Error(last.failure ?? `the process that does it ended with ${code}`)
  } finally {
    signal?.removeEventListener('abort', stop)
    process.off('exit', stop)
    child.kill('SIGTERM')
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
