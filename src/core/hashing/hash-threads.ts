/**
 * Threads of our own that run Bun.password. Bun's asynchronous form would do the same on the threads that WebCrypto
 * uses too: with every one of them at a hash, signing an access token waits 40 ms and more. Starts a thread when it
 * is first needed; the caller gives out at most `count` jobs at once.
 */

import { AppError } from '../../errors.ts'

export type HashJob =
  | { kind: 'hash'; password: string; memoryKib: number; iterations: number }
  | { kind: 'verify'; password: string; digest: string }

/** The new digest, or whether the password is right; null when Bun.password refused the job. */
export type Result = string | boolean | null

export interface HashThreads {
  /** Rejects with AppError('unavailable') when the thread ends, and after `close`. */
  run(job: HashJob): Promise<Result>
  close(): void
}

/**
 * How far hashing stands back (nice, 0 to 19): with every processor at it, the thread that answers, PostgreSQL and
 * Redis still come first, and whoever logs in waits a little longer. Not further, or other programs on a full machine
 * would stop logins altogether.
 */
const NICENESS = 5

/**
 * What a thread runs. Text, so that the executable needs no second file. On Linux a priority is a thread's own; where
 * the system forbids to lower it, hashing is as important as all else.
 */
const THREAD_SOURCE = `try { require('node:os').setPriority(0, ${NICENESS}) } catch {}
self.onmessage = ({ data: job }) => {
  try {
    const value = job.kind === 'hash'
      ? Bun.password.hashSync(job.password, { algorithm: 'argon2id', memoryCost: job.memoryKib, timeCost: job.iterations })
      : Bun.password.verifySync(job.password, job.digest)
    postMessage(value)
  } catch {
    postMessage(null)
  }
}`

interface Thread {
  run(job: HashJob): Promise<Result>
  stop(): void
}

export function createHashThreads(): HashThreads {
  const source = URL.createObjectURL(new Blob([THREAD_SOURCE], { type: 'application/javascript' }))
  const idle: Thread[] = []
  const all = new Set<Thread>()
  let closed = false
  return {
    async run(job) {
      if (closed) throw new AppError('unavailable', { cause: 'hashing closed' })
      const thread = idle.pop() ?? startThread(source)
      all.add(thread)
      try {
        const result = await thread.run(job)
        idle.push(thread)
        return result
      } catch (error) {
        all.delete(thread)
        thread.stop()
        throw error
      }
    },
    close() {
      closed = true
      for (const thread of all) thread.stop()
      idle.length = 0
      URL.revokeObjectURL(source)
    },
  }
}

function startThread(source: string): Thread {
  const worker = new Worker(source)
  let waiting: { resolve(result: Result): void; reject(error: AppError): void } | null = null
  const settle = (finish: (job: NonNullable<typeof waiting>) => void) => {
    const job = waiting
    waiting = null
    // Only a thread at work keeps the process alive.
    worker.unref()
    if (job) finish(job)
  }
  const fail = () =>
    settle(({ reject }) => reject(new AppError('unavailable', { cause: 'hash thread ended' })))
  worker.onmessage = ({ data }: MessageEvent<Result>) => settle(({ resolve }) => resolve(data))
  worker.onerror = fail
  worker.addEventListener('close', fail)
  return {
    run: (job) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        worker.ref()
        worker.postMessage(job)
      }),
    stop: () => worker.terminate(),
  }
}
