/**
 * Makes one backup, from a source that stays as it is until the end, to a file that is whole or not there. The file
 * lies in a workspace until it was read back. A small one is also restored into a database that is thrown away.
 */
import { readFileSync, renameSync, statSync } from 'node:fs'
import { freemem } from 'node:os'
import { dirname, join } from 'node:path'
import { takeOnOwnerOf } from '../../platform/data-directory.ts'
import { lockDirectory } from '../../platform/directory-lock.ts'
import { flush } from '../../platform/flush.ts'
import { runInWorker, WorkerEnded } from '../../platform/own-process.ts'
import { type CopySession, createEmbeddedCopy, openServerCopy } from '../../platform/postgres/copy.ts'
import { freeBytes } from '../../platform/postgres/disk-space.ts'
import { isOfTheMachine } from '../../platform/postgres/failure.ts'
import { readPreviousSecrets, readSecretFile } from '../../platform/secret-file.ts'
import { openTrialDirectory } from '../embedded/directory.ts'
import { openInstance } from '../embedded/instance.ts'
import { type BackupKey, secretKeyId } from './keys.ts'
import { loadBackup } from './load.ts'
import { accountsIn, bytesIn, type Manifest, rowsIn } from './manifest.ts'
import { verifyBackup } from './read.ts'
import { BackupRefused, cannotWrite } from './refused.ts'
import { createSealedFile } from './sealed-file.ts'
import type { Workspace } from './workspace.ts'
import { type Progress, writeBackup } from './write.ts'

/** A task for another process: everything in it survives JSON. */
export interface BackupJob {
  task: 'backup'
  /** `directory`: a copy of the embedded database's files. `isForeign`: its owner may put links in it, and this is root. */
  source: { kind: 'postgres'; url: string } | { kind: 'directory'; path: string; isForeign?: boolean }
  /** It is null if the file stays in the workspace. */
  file: string | null
  /** The trial restore may write here, on this machine. */
  scratch: string
  key: KeyOfJob
  /** Rows are sealed under these, in hex, the current one first. */
  secrets: string[]
  /** The data directory whose own secrets come before those. */
  secretsIn: string | null
  withSecret: boolean
  /** True if a backup without an account is kept. */
  allowsEmpty: boolean
  version: string
}

/** The trial restore, in a process of its own, whose memory is free again afterwards. */
export interface TrialJob {
  task: 'trial'
  file: string
  /** It is empty and takes the database; the caller removes it. */
  directory: string
  key: KeyOfJob
  manifest: Manifest
}

/** A copy of the files of an embedded database that no service has open, by a process that takes on its owner. */
export interface CopyJob {
  task: 'copy'
  dataDir: string
}

/** The first part of a backup by a process that takes on the owner of the copy, with the file of this one already open. */
export interface ReadJob extends Omit<BackupJob, 'task'> {
  task: 'read'
  /** The new file. */
  into: string
}

/** Removes a copy, by a process that takes on its owner. */
export interface DiscardJob {
  task: 'discard'
  directory: string
}

/** The secret in hex, or the passphrase. */
type KeyOfJob = { kind: BackupKey['kind']; value: string }

/** Of the rows, before they are compressed. */
const TRIAL_BYTES = 200 * 1024 * 1024
/** The memory of the process of a trial restore. With less the system would end it, or another process in its place. */
const TRIAL_MEMORY = 400 * 1024 * 1024
/** The space for an empty database, its log, and what must stay free for the database of the service. */
const TRIAL_SPACE = 192 * 1024 * 1024
/** The memory of all processes where the system ends them together, as Kubernetes has it. */
const WHOLE_GROUP_MEMORY = 1024 * 1024 * 1024

export const keyToJob = (key: BackupKey): KeyOfJob =>
  key.kind === 'secret'
    ? { kind: key.kind, value: Buffer.from(key.secret).toString('hex') }
    : { kind: key.kind, value: key.passphrase }

const keyOfJob = ({ kind, value }: KeyOfJob): BackupKey =>
  kind === 'secret' ? { kind, secret: Buffer.from(value, 'hex') } : { kind, passphrase: value }

const EMPTY = 'holds no account: name the right one with --config, or keep an empty backup with --allow-empty'

interface JobOptions {
  now: Date
  onProgress?: Progress | undefined
  signal?: AbortSignal | undefined
}

export type MadeBackup = Awaited<ReturnType<typeof runBackupJob>>

/**
 * Throws BackupRefused, and whatever the source throws; then there is no new file. The caller removes the workspace.
 * `restored`: it was also restored into a database that was thrown away, as nothing above 200 MB is. `warning`: about a
 * backup that is good, but empty, or not restored on trial.
 */
export async function runBackupJob(
  job: BackupJob,
  workspace: Workspace,
  { now, onProgress, signal }: JobOptions,
) {
  const key = keyOfJob(job.key)
  const reading: ReadJob = { ...job, task: 'read', into: workspace.file }
  if (job.source.kind === 'directory' && job.source.isForeign)
    await runInWorker(reading, { onProgress, signal })
  else await runReadJob(reading, now, onProgress)
  signal?.throwIfAborted()
  const total = statSync(workspace.file).size
  const manifest = await verifyBackup(workspace.file, [key], (bytes) =>
    onProgress?.('checking', bytes / (total + bytes)),
  )
  signal?.throwIfAborted()
  const accounts = accountsIn(manifest)
  if (accounts === 0 && !job.allowsEmpty) throw new BackupRefused(EMPTY, 'the database')
  const isSmall = bytesIn(manifest) < TRIAL_BYTES
  const obstacle = isSmall
    ? await tryRestoring({ ...job, manifest }, workspace, { onProgress, signal })
    : null
  signal?.throwIfAborted()
  if (job.file !== null) renameDurably(workspace.file, job.file)
  const warnings = [
    ...(accounts === 0 ? ['it holds no account'] : []),
    ...(obstacle === null
      ? []
      : [`every part was read back, but the trial restore could not run: ${obstacle}`]),
  ]
  const warning = warnings.join('; ') || null
  return {
    ...{ bytes: total, accounts, rows: rowsIn(manifest), tables: manifest.parts.length },
    ...{ restored: isSmall && obstacle === null, warning },
  }
}

export async function runReadJob(job: ReadJob, now: Date, onProgress?: Progress): Promise<void> {
  // Where this process takes on another user, it may not open the file afterwards.
  const writer = await createSealedFile(job.into, keyOfJob(job.key))
  try {
    if (job.source.kind === 'directory' && job.source.isForeign) takeOnOwnerOf(job.source.path)
    const secrets = secretsOf(job)
    const about = {
      version: job.version,
      secret_key_id: secretKeyId(Buffer.from(secrets[0]!, 'hex')),
      ...(job.withSecret && { secrets }),
    }
    const source = await openSource(job.source)
    try {
      await writeBackup(source, writer, { about, now, ...(onProgress && { onProgress }) })
    } finally {
      await source.close()
    }
  } finally {
    await writer.close()
  }
}

function secretsOf({ secrets, secretsIn }: Pick<BackupJob, 'secrets' | 'secretsIn'>): string[] {
  if (secretsIn === null) return secrets
  const own = [readSecretFile(secretsIn), ...readPreviousSecrets(secretsIn)]
  return [...own.map((secret) => Buffer.from(secret).toString('hex')), ...secrets]
}

/** Returns what on this machine prevents it, or null. Throws where the backup cannot be restored. */
async function tryRestoring(
  { key, manifest, scratch }: Pick<TrialJob, 'key' | 'manifest'> & Pick<BackupJob, 'scratch'>,
  { file }: Workspace,
  options: Omit<JobOptions, 'now'>,
): Promise<string | null> {
  const there = Math.min(freemem(), process.constrainedMemory())
  const needed = isEndedAsAWhole() ? WHOLE_GROUP_MEMORY : TRIAL_MEMORY
  if (there < needed)
    return `it needs ${needed / 2 ** 20} MiB of memory, and ${Math.floor(there / 2 ** 20)} are available`
  const space = TRIAL_SPACE + 4 * bytesIn(manifest)
  if (freeBytes(scratch) < space) return `it needs ${Math.ceil(space / 2 ** 20)} MiB of space in ${scratch}`
  const directory = openTrialDirectory(scratch)
  const trial: TrialJob = { task: 'trial', file, directory: directory.path, key, manifest }
  try {
    return (
      await runInWorker<Awaited<ReturnType<typeof runTrialJob>>>(trial, { ...options, isDisposable: true })
    ).obstacle
  } catch (error) {
    options.signal?.throwIfAborted()
    if (error instanceof WorkerEnded) return error.message
    throw new BackupRefused(`could not be restored on trial: ${(error as Error).message}`)
  } finally {
    directory.remove()
  }
}

function isEndedAsAWhole(): boolean {
  try {
    return readFileSync('/sys/fs/cgroup/memory.oom.group', 'utf8').trim() === '1'
  } catch {
    return false
  }
}

async function openSource(source: BackupJob['source']): Promise<CopySession> {
  if (source.kind === 'postgres') return openServerCopy(source.url)
  const lock = lockDirectory(source.path)
  const instance = await openInstance(source.path, { throwAway: true })
  return createEmbeddedCopy(instance, async () => {
    await instance.close()
    if (typeof lock === 'function') lock()
  })
}

/**
 * Restores a backup into a new embedded database; `obstacle`: the fact about this machine that prevented it. Throws where
 * the backup is to blame.
 */
export async function runTrialJob(
  { file, directory, key: named, manifest }: TrialJob,
  now: Date,
  onProgress?: Progress,
) {
  try {
    const instance = await openInstance(join(directory, 'postgres'), { bulk: true, throwAway: true })
    const target = createEmbeddedCopy(instance, () => instance.close())
    await target.query('begin')
    await loadBackup(target, file, {
      ...{ keys: [keyOfJob(named)], manifest, now },
      onProgress: (what, done) => onProgress?.(`${what} on trial`, done),
    })
    await target.query('commit')
    await target.close()
    return { obstacle: null }
  } catch (error) {
    if (isOfTheMachine(error)) return { obstacle: (error as Error).message.split('\n', 1)[0]! }
    throw error
  }
}

/** A crash leaves the old file or the new one, whole. */
function renameDurably(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    throw cannotWrite(error)
  }
  flush(dirname(to))
}
