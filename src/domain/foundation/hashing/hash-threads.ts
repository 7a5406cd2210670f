/**
 * Threads of our own that hash and verify (docs/decisions/hashing-threads.md). The asynchronous form of Bun.password uses
 * the threads of WebCrypto: if all of them are hashing, signing an access token waits for 40 ms and more.
 */

import { type Addon, argon2Addon } from '../../../platform/bundled/argon2-addon.ts'
import { AppError } from '../../../texts/errors.ts'
import { threadSource, type Verifier } from './thread-source.ts'

/** A digest to verify, and whether the native addon may do it (see `suitsAddon`). */
export interface Verifiable {
  digest: string
  suitsAddon: boolean
  /** Of a wrapped hash: without the wrapping. */
  innerOnly?: boolean
}

/** A password, as it was typed and in the form of our own digests. */
export interface TypedPassword {
  typed: string
  normal: string
}

export type HashJob =
  | { kind: 'hash'; password: string; memoryKib: number; iterations: number }
  | {
      kind: 'verify'
      password: TypedPassword
      /** It is null if the password cannot be right here. */
      stored: Verifiable | null
      /** Verified after `stored` was wrong, or in any case if `goesOn`: together they cost as much as `all`. */
      rest: Verifiable[]
      /** Verified if there is nothing stored, or if it is refused without any work. */
      all: Verifiable[]
      goesOn: boolean
      /** Made if the password is right; `ifOtherForm`: only if it was not in the form of our own digests. */
      renewal: { password: string; memoryKib: number; iterations: number; ifOtherForm: boolean } | null
    }

/** First come, first served, with all jobs of one rank before those of the next. */
export type Rank = 'owners' | 'others' | 'later' | 'background'

const ranks: readonly Rank[] = ['owners', 'others', 'later', 'background']

/**
 * The new digest, or whether the password is right and its renewed digest. It is null if Bun.password refused the job.
 */
type HashResult = string | { right: boolean; newDigest: string | null } | null

/** The number of threads that `warmUp` starts, at 3 MB each: as many as a small machine has processors. */
const WARM_THREADS = 2

interface Task {
  job: HashJob
  queuedAt: number
  resolve(result: HashResult): void
  reject(error: AppError): void
}

export interface HashThreadsOptions {
  /** Called when a job begins, with the time that it waited and with what verifies passwords in its thread. */
  onBegin?: (waitedMs: number, verifier: Verifier) => void
  /** Called when a thread has started. */
  onStart?: (verifier: Verifier) => void
  /** Tests give another addon than that of the executable. */
  addon?: Addon | undefined
}

export type HashThreads = ReturnType<typeof createHashThreads>

/** Makes at most `count` threads; unless warmed up, a thread starts when it is first needed. */
export function createHashThreads(
  count: number,
  { onBegin = () => {}, onStart = () => {}, addon }: HashThreadsOptions = {},
) {
  let source: string | undefined
  const threads = new Set<Thread>()
  const waiting: Record<Rank, Task[]> = { owners: [], others: [], later: [], background: [] }
  let jobs = 0
  let closed = false

  const threadWith = (tasks: number) => [...threads].find((thread) => thread.tasks === tasks)
  const start = () => {
    source ??= threadSource(addon ?? argon2Addon())
    const onEnd = () => threads.delete(thread)
    const thread = startThread(source, { onBegin, onStart, onDone: handOut, onEnd })
    threads.add(thread)
    return thread
  }

  /**
   * Gives a job to an idle thread. If all are busy and enough jobs wait, it queues one job ahead for each thread. The
   * second of two hashes without a pause between them mostly reuses the memory of the first. The longer the pause, the
   * more often the allocator has put something else there, so that the freed block stays resident beside a new one.
   * Jobs of the later ranks only run where nothing else waits, so none of them is queued ahead.
   */
  function handOut(): void {
    for (;;) {
      const rank = ranks.find((each) => waiting[each].length > 0)
      if (rank === undefined) return
      const first = waiting.owners.length + waiting.others.length
      const free = threadWith(0) ?? (threads.size < count ? start() : null)
      const thread = free ?? (first >= count ? threadWith(1) : null)
      if (!thread) return
      thread.take(waiting[rank].shift() as Task)
    }
  }

  return {
    /** The number of jobs of the first two ranks that run or wait. */
    get jobs(): number {
      return jobs
    },
    /** Rejects with AppError('unavailable') if the thread ends, and after `close`. */
    async run(job: HashJob, rank: Rank = 'others'): Promise<HashResult> {
      if (closed) throw new AppError('unavailable', { cause: 'hashing closed' })
      const weight = rank === 'owners' || rank === 'others' ? 1 : 0
      jobs += weight
      try {
        return await new Promise<HashResult>((resolve, reject) => {
          waiting[rank].push({ job, queuedAt: performance.now(), resolve, reject })
          handOut()
        })
      } finally {
        jobs -= weight
      }
    },
    /** Starts the first threads before they are needed. */
    warmUp(): void {
      if (closed) return
      while (threads.size < Math.min(count, WARM_THREADS)) start()
    },
    close(): void {
      closed = true
      for (const { reject } of ranks.flatMap((rank) => waiting[rank].splice(0)))
        reject(new AppError('unavailable', { cause: 'hashing closed' }))
      for (const thread of threads) thread.stop()
      if (source !== undefined) URL.revokeObjectURL(source)
    },
  }
}

/** Finds out in a thread of its own which verifier this machine has. */
export async function probeVerifier(): Promise<Verifier> {
  let threads: HashThreads | undefined
  const found = new Promise<Verifier>((resolve) => {
    threads = createHashThreads(1, { onStart: resolve })
  })
  try {
    await threads?.run(NO_WORK)
    return await found
  } finally {
    threads?.close()
  }
}

const NO_WORK: HashJob = {
  ...{ kind: 'verify', password: { typed: '', normal: '' }, stored: null },
  ...{ rest: [], all: [], goesOn: false, renewal: null },
}

interface ThreadListeners extends Required<Pick<HashThreadsOptions, 'onBegin' | 'onStart'>> {
  onDone: () => void
  onEnd: () => void
}

type Thread = ReturnType<typeof startThread>

/** The source finds `require` there, and listens itself from then on. */
const FIRST_LINE = 'const here = require; self.onmessage = ({ data }) => eval(data)'
let firstFile: string | undefined

function startThread(source: string, { onBegin, onStart, onDone, onEnd }: ThreadListeners) {
  // As a message: of a file of some length Bun keeps a copy in the home directory of whoever runs the executable.
  firstFile ??= URL.createObjectURL(new Blob([FIRST_LINE], { type: 'application/javascript' }))
  const worker = new Worker(firstFile, { smol: true })
  worker.postMessage(source)
  // Only a thread with work keeps the process alive.
  worker.unref()
  const tasks: Task[] = []
  let verifier: Verifier | undefined
  const began = () => {
    const [task] = tasks
    if (task && verifier) onBegin(performance.now() - task.queuedAt, verifier)
  }
  const end = () => {
    worker.terminate()
    onEnd()
    for (const { reject } of tasks.splice(0))
      reject(new AppError('unavailable', { cause: 'hash thread ended' }))
    onDone()
  }
  worker.onmessage = ({ data }: MessageEvent<Verifier | HashResult>) => {
    if (verifier === undefined) {
      verifier = data as Verifier
      onStart(verifier)
      began()
      return
    }
    tasks.shift()?.resolve(data as HashResult)
    if (tasks.length === 0) worker.unref()
    else began()
    onDone()
  }
  worker.onerror = end
  worker.addEventListener('close', end)
  return {
    /** The number of jobs: the one that runs, and those after it. */
    get tasks(): number {
      return tasks.length
    },
    take(task: Task): void {
      tasks.push(task)
      if (tasks.length === 1) began()
      worker.ref()
      worker.postMessage(task.job)
    },
    stop: end,
  }
}
