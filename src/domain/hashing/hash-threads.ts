/**
 * Threads of our own that run Bun.password. Bun's asynchronous form would do the same on the threads that WebCrypto
 * uses too: with every one of them at a hash, signing an access token waits 40 ms and more.
 */

import { AppError } from '../../errors.ts'

export type HashJob =
  | { kind: 'hash'; password: string; memoryKib: number; iterations: number }
  | {
      kind: 'verify'
      password: string
      /** Null: there is none. `decoy` is verified where Bun.password refuses it before any work was done. */
      stored: { digest: string; decoy: string } | null
      /** Verified in vain, so that the work is that of everybody else. */
      decoys: string[]
      /** Made where the password is right; where it is wrong, `decoy` costs the same. */
      renewal: { password: string; memoryKib: number; iterations: number; decoy: string } | null
    }

/** The new digest; or whether the password is right, and its renewed digest. Null when Bun.password refused the job. */
export type Result = string | { right: boolean; newDigest: string | null } | null

export interface HashThreads {
  /** How many are at work or wait. */
  readonly jobs: number
  /**
   * First come, first served, and all that are `first` before all others. Rejects with AppError('unavailable') when
   * the thread ends, and after `close`.
   */
  run(job: HashJob, options?: { first?: boolean }): Promise<Result>
  /** Starts the first ones before anybody waits for them. */
  warmUp(): void
  close(): void
}

/** What `warmUp` starts, 3 MB each: as many as a small machine has processors. */
const WARM_THREADS = 2

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
const { hashSync, verifySync } = Bun.password
const hash = ({ password, memoryKib, iterations }) =>
  hashSync(password, { algorithm: 'argon2id', memoryCost: memoryKib, timeCost: iterations })
const opens = (password, { digest, decoy }) => {
  try { return verifySync(password, digest) } catch {}
  return verifySync(password, decoy) && false
}
const verify = ({ password, stored, decoys, renewal }) => {
  const right = stored !== null && opens(password, stored)
  let newDigest = null
  if (renewal && right) newDigest = hash(renewal)
  else if (renewal) verifySync(password, renewal.decoy)
  for (const decoy of decoys) verifySync(password, decoy)
  return { right, newDigest }
}
const run = { hash, verify }
self.onmessage = ({ data: job }) => {
  let result = null
  try { result = run[job.kind](job) } catch {}
  postMessage(result)
}`

interface Task {
  job: HashJob
  resolve(result: Result): void
  reject(error: AppError): void
}

/** At most `count` at work; unless warmed up, a thread starts when it is first needed. */
export function createHashThreads(count: number): HashThreads {
  const source = URL.createObjectURL(new Blob([THREAD_SOURCE], { type: 'application/javascript' }))
  const threads = new Set<Thread>()
  const waiting: Record<'first' | 'others', Task[]> = { first: [], others: [] }
  let jobs = 0
  let closed = false

  const threadWith = (tasks: number) => [...threads].find((thread) => thread.tasks === tasks)
  const start = () => {
    const thread = startThread(source, handOut, () => threads.delete(thread))
    threads.add(thread)
    return thread
  }

  /**
   * To whoever has nothing to do; and one ahead, as long as the others would still find one. With hardly a pause
   * between two hashes the second one mostly gets the memory of the first; the longer the pause, the more often the
   * allocator has something else there, and what was freed stays resident beside what is new.
   */
  function handOut(): void {
    for (;;) {
      const waits = waiting.first.length + waiting.others.length
      if (waits === 0) return
      const free = threadWith(0) ?? (threads.size < count ? start() : null)
      const thread = free ?? (waits >= count ? threadWith(1) : null)
      if (!thread) return
      thread.take((waiting.first.shift() ?? waiting.others.shift()) as Task)
    }
  }

  return {
    get jobs() {
      return jobs
    },
    async run(job, { first = false } = {}) {
      if (closed) throw new AppError('unavailable', { cause: 'hashing closed' })
      jobs++
      try {
        return await new Promise<Result>((resolve, reject) => {
          waiting[first ? 'first' : 'others'].push({ job, resolve, reject })
          handOut()
        })
      } finally {
        jobs--
      }
    },
    warmUp() {
      if (closed) return
      while (threads.size < Math.min(count, WARM_THREADS)) start()
    },
    close() {
      closed = true
      for (const { reject } of [...waiting.first.splice(0), ...waiting.others.splice(0)])
        reject(new AppError('unavailable', { cause: 'hashing closed' }))
      for (const thread of threads) thread.stop()
      URL.revokeObjectURL(source)
    },
  }
}

interface Thread {
  /** The one at work, and those after it. */
  readonly tasks: number
  take(task: Task): void
  stop(): void
}

function startThread(source: string, onDone: () => void, onEnd: () => void): Thread {
  const worker = new Worker(source, { smol: true })
  // Only a thread at work keeps the process alive.
  worker.unref()
  const tasks: Task[] = []
  const end = () => {
    worker.terminate()
    onEnd()
    for (const { reject } of tasks.splice(0))
      reject(new AppError('unavailable', { cause: 'hash thread ended' }))
    onDone()
  }
  worker.onmessage = ({ data }: MessageEvent<Result>) => {
    tasks.shift()?.resolve(data)
    if (tasks.length === 0) worker.unref()
    onDone()
  }
  worker.onerror = end
  worker.addEventListener('close', end)
  return {
    get tasks() {
      return tasks.length
    },
    take(task) {
      tasks.push(task)
      worker.ref()
      worker.postMessage(task.job)
    },
    stop: end,
  }
}
