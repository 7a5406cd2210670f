/** `poterne worker`, which people do not call: does one task of another poterne, see platform/own-process.ts. */

import { rmSync } from 'node:fs'
import { setPriority } from 'node:os'
import { Command } from 'commander'
import {
  type BackupJob,
  partialOf,
  runBackupJob,
  runTrialJob,
  type TrialJob,
} from '../platform/backup/job.ts'
import { WORKER_COMMAND, type WorkerLine } from '../platform/own-process.ts'

/** Requests come first. */
const NICENESS = 10

export function workerCommand(): Command {
  return new Command(WORKER_COMMAND).action(work)
}

async function work(): Promise<void> {
  const job = (await Bun.stdin.json()) as BackupJob | TrialJob
  const ending = new AbortController()
  const stop = () => {
    ending.abort(new Error('interrupted'))
    if (job.task === 'backup') rmSync(partialOf(job.file), { force: true })
    process.exit(1)
  }
  // A terminal interrupts all its processes.
  process.once('SIGTERM', stop).once('SIGINT', stop)
  let printedAt = 0
  const onProgress = (what: string, done: number) => {
    if (performance.now() - printedAt < 100) return
    printedAt = performance.now()
    print({ progress: { what, done } })
  }
  try {
    if (job.task === 'backup') {
      setPriority(NICENESS)
      print({ result: await runBackupJob(job, { now: new Date(), onProgress, signal: ending.signal }) })
    } else print({ result: await runTrialJob(job, new Date(), onProgress) })
  } catch (error) {
    print({ failure: error instanceof Error ? error.message : 'unknown cause' })
  }
}

const print = (line: WorkerLine<object>) => process.stdout.write(`${JSON.stringify(line)}\n`)
