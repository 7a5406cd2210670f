/** `poterne worker`, which people do not call: does one task of another poterne, see platform/own-process.ts. */

import { rmSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname } from 'node:path'
import { Command } from 'commander'
import { type EmbeddedState, putBack, readEmbeddedState } from '../../compose/going-back.ts'
import { takeOnOwnerOf } from '../../platform/data-directory.ts'
import { WORKER_COMMAND, type WorkerLine } from '../../platform/own-process.ts'
import {
  type BackupJob,
  type CopyJob,
  type DiscardJob,
  type MadeBackup,
  type ReadJob,
  runBackupJob,
  runReadJob,
  runTrialJob,
  type TrialJob,
} from '../../storage/backup/job.ts'
import { BackupRefused } from '../../storage/backup/refused.ts'
import { openWorkspace } from '../../storage/backup/workspace.ts'
import type { Progress } from '../../storage/backup/write.ts'
import { copyUnopened } from '../../storage/embedded/embedded.ts'

/** Requests come first. */
const NICENESS = 10

/** Root takes on the owner of the data directory for good, and must stay root to replace the executable. */
export interface StateJob {
  task: 'embedded state'
  dataDir: string
  /** The address of a server: then there is no embedded database. */
  database: string | null
}

export interface PutBackJob {
  task: 'put back'
  dataDir: string
  /** The end of the name under which the present database is kept. */
  label: string
}

type Job = BackupJob | TrialJob | CopyJob | ReadJob | DiscardJob | StateJob | PutBackJob

export function workerCommand(): Command {
  return new Command(WORKER_COMMAND).action(work)
}

async function work(): Promise<void> {
  // It comes from a terminal that closes, and the command that waits for this one goes on.
  process.on('SIGHUP', () => {})
  const job = (await Bun.stdin.json()) as Job
  if (job.task !== 'embedded state' && job.task !== 'put back') dieFirst(job.task === 'trial' ? 1000 : 500)
  if (job.task === 'trial') endWithParent()
  let printedAt = 0
  const onProgress = (what: string, done: number) => {
    if (performance.now() - printedAt < 100) return
    printedAt = performance.now()
    print({ progress: { what, done } })
  }
  try {
    print({ result: await resultOf(job, onProgress) })
  } catch (error) {
    print({ failure: describe(error, job.task === 'backup' || job.task === 'read' ? job.file : null) })
  }
}

async function resultOf(job: Job, onProgress: Progress): Promise<object> {
  if (job.task === 'backup') return backUp(job, onProgress)
  if (job.task === 'copy') return copyFiles(job)
  if (job.task === 'embedded state') return { state: await readState(job) }
  if (job.task === 'put back') return { kept: await putBack(job.dataDir, job.label) }
  if (job.task === 'trial') return runTrialJob(job, new Date(), onProgress)
  if (job.task === 'read') await runReadJob(job, new Date(), onProgress)
  else discard(job)
  return {}
}

const readState = ({ dataDir, database }: StateJob): Promise<EmbeddedState | null> =>
  database === null ? readEmbeddedState(dataDir) : Promise.resolve(null)

/** As in copyFiles, the command waits for it. */
function discard({ directory }: DiscardJob): void {
  process.on('SIGINT', () => {})
  takeOnOwnerOf(directory)
  rmSync(directory, { recursive: true, force: true })
}

async function copyFiles({ dataDir }: CopyJob): Promise<{ directory: string }> {
  // A terminal interrupts this process too. The command waits for the copy, and removes it.
  process.on('SIGINT', () => {})
  return { directory: await copyUnopened(dataDir) }
}

async function backUp(job: BackupJob, onProgress: Progress): Promise<MadeBackup> {
  setPriority(NICENESS)
  const workspace = openWorkspace(dirname(job.file!))
  const ending = new AbortController()
  const stop = () => {
    ending.abort(new Error('interrupted'))
    process.exit(1)
  }
  process.once('exit', workspace.remove)
  process.once('SIGTERM', stop).once('SIGINT', stop)
  try {
    return await runBackupJob(job, workspace, { now: new Date(), onProgress, signal: ending.signal })
  } finally {
    workspace.remove()
  }
}

/** Nobody reads the result of a trial restore whose backup was killed. */
function endWithParent(): void {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1)
  }, 200).unref()
}

/** Where memory runs out, Linux ends the process with the highest number rather than the service. */
function dieFirst(score: number): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', String(score))
  } catch {
    // Another system.
  }
}

const describe = (error: unknown, file: string | null): string =>
  error instanceof BackupRefused
    ? error.describe(file ?? 'the backup')
    : error instanceof Error
      ? error.message
      : 'unknown cause'

const print = (line: WorkerLine<object>) => process.stdout.write(`${JSON.stringify(line)}\n`)
