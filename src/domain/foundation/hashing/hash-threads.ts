/**
 * Threads of our own that run Bun.password (docs/decisions/hashing-threads.md). Bun's asynchronous form uses the threads
 * of WebCrypto: if all of them are hashing, signing an access token waits for 40 ms and more.
 */

import { AppError } from '../../../errors.ts'

export type HashJob =
  | { kind: 'hash'; password: string; memoryKib: number; iterations: number }
  | {
      kind: 'verify'
      password: string
      /** Null if there is none. `decoy` is verified instead if Bun.password refuses the digest without any work. */
      stored: { digest: string; decoy: string } | null
      /** Verified as well, so that the work is the same for everybody. */
      decoys: string[]
      /** Made if the password is right; if it is wrong, `decoy` costs the same. */
      renewal: { password: string; memoryKib: number; iterations: number; decoy: string } | null
    }

/** The new digest, or whether the password is right and its renewed digest. Null if Bun.password refused the job. */
export type Result = string | { right: boolean; newDigest: string | null } | null

export interface HashThreads {
  /** The number of jobs that run or wait. */
  readonly jobs: number
  /**
   * First come, first served, with all `first` jobs before all others. Rejects with AppError('unavailable') if the thread
   * ends, and after `close`.
   */
  run(job: HashJob, options?: { first?: boolean }): Promise<Result>
  /** Starts the first threads before they are needed. */
  warmUp(): void
  close(): void
}

/** How many threads `warmUp` starts, at 3 MB each: as many as a small machine has processors. */
const WARM_THREADS = 2

/**
 * The lower priority of hashing (nice, 0 to 19). When all processors are hashing, the thread that answers, PostgreSQL and
 * Redis still come first, and people who log in wait a little longer. With a higher number other programs on a busy
 * machine could stop logins altogether.
 */
const NICENESS = 5

/**
 * The code of a thread, as a text, so that the executable needs no second file. On Linux each thread has its own priority;
 * if the system forbids lowering it, hashing is as important as everything else.
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
  queuedAt: number
  resolve(result: Result): void
  reject(error: AppError): void
}

export interface HashThreadsOptions {
  /** Called when a job begins, with the time that it waited. */
  onBegin?: (waitedMs: number) => void
}

/** At most `count` threads; unless warmed up, a thread starts when it is first needed. */
export function createHashThreads(
  count: number,
  { onBegin = () => {} }: HashThreadsOptions = {},
): HashThreads {
  let source: string | undefined
  const threads = new Set<Thread>()
  const waiting: Record<'first' | 'others', Task[]> = { first: [], others: [] }
  let jobs = 0
  let closed = false

  const threadWith = (tasks: number) => [...threads].find((thread) => thread.tasks === tasks)
  const start = () => {
    source ??= URL.createObjectURL(new Blob([THREAD_SOURCE], { type: 'application/javascript' }))
    const thread = startThread(source, { onBegin, onDone: handOut, onEnd: () => threads.delete(thread) })
    threads.add(thread)
    return thread
  }

  /**
   * Gives a job to an idle thread. If all are busy and enough jobs wait, queues one job ahead for each thread: without a
   * pause between two hashes the second one mostly reuses the memory of the first. The longer the pause, the more often
   * the allocator has put something else there, so that the freed block stays resident beside a new one.
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
          waiting[first ? 'first' : 'others'].push({ job, queuedAt: performance.now(), resolve, reject })
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
      if (source !== undefined) URL.revokeObjectURL(source)
    },
  }
}

interface Thread {
  /** The number of jobs: the one that runs, and those after it. */
  readonly tasks: number
  take(task: Task): void
  stop(): void
}

interface ThreadListeners extends Required<HashThreadsOptions> {
  onDone: () => void
  onEnd: () => void
}

function startThread(source: string, { onBegin, onDone, onEnd }: ThreadListeners): Thread {
  const worker = new Worker(source, { smol: true })
  // Only a thread with work keeps the process alive.
  worker.unref()
  const tasks: Task[] = []
  const began = ({ queuedAt }: Task) => onBegin(performance.now() - queuedAt)
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
    else began(tasks[0] as Task)
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
      if (tasks.length === 1) began(task)
      worker.ref()
      worker.postMessage(task.job)
    },
    stop: end,
  }
}
