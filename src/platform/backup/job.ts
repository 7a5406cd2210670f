/**
 * Makes one backup, from a source that stays as it is until the end, to a file that is whole or not there: it has another
 * name until it was read back and, where it is small, restored into a database that is thrown away.
 */
import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runInWorker } from '../own-process.ts'
import { type CopySession, createEmbeddedCopy, openServerCopy } from '../postgres/copy.ts'
import { openInstance } from '../postgres/embedded-instance.ts'
import { type BackupKey, secretKeyId } from './keys.ts'
import { loadBackup } from './load.ts'
import { bytesIn, type Manifest, rowsIn } from './manifest.ts'
import { verifyBackup } from './read.ts'
import { type Progress, writeBackup } from './write.ts'

/** A task for another process: everything in it survives JSON. */
export interface BackupJob {
  task: 'backup'
  /** `directory`: a copy of the embedded database's files. */
  source: { kind: 'postgres'; url: string } | { kind: 'directory'; path: string }
  file: string
  key: KeyOfJob
  /** Under which rows are sealed, in hex, the current one first. */
  secrets: string[]
  withSecret: boolean
  version: string
}

/** The restore on trial, in a process of its own, whose memory is free again afterwards. */
export interface TrialJob {
  task: 'trial'
  file: string
  key: KeyOfJob
  manifest: Manifest
}

/** The secret in hex, or the passphrase. */
type KeyOfJob = { kind: BackupKey['kind']; value: string }

export interface MadeBackup {
  bytes: number
  rows: number
  tables: number
  /** False where it was too large for a restore on trial. */
  restored: boolean
}

/** Of the rows, before they are compressed. */
const TRIAL_BYTES = 200 * 1024 * 1024

export const partialOf = (file: string): string => `${file}.partial`

export const keyToJob = (key: BackupKey): KeyOfJob =>
  key.kind === 'secret'
    ? { kind: key.kind, value: Buffer.from(key.secret).toString('hex') }
    : { kind: key.kind, value: key.passphrase }

const keyOfJob = ({ kind, value }: KeyOfJob): BackupKey =>
  kind === 'secret' ? { kind, secret: Buffer.from(value, 'hex') } : { kind, passphrase: value }

interface JobOptions {
  now: Date
  onProgress?: Progress | undefined
  signal?: AbortSignal | undefined
}

/** Throws BackupRefused, and whatever the source throws; then there is no new file. */
export async function runBackupJob(
  job: BackupJob,
  { now, onProgress, signal }: JobOptions,
): Promise<MadeBackup> {
  const key = keyOfJob(job.key)
  const partial = partialOf(job.file)
  rmSync(partial, { force: true })
  try {
    const about = {
      version: job.version,
      secret_key_id: secretKeyId(Buffer.from(job.secrets[0]!, 'hex')),
      ...(job.withSecret && { secrets: job.secrets }),
    }
    const source = await openSource(job.source)
    try {
      await writeBackup(source, partial, { key, about, now, ...(onProgress && { onProgress }) })
    } finally {
      await source.close()
    }
    signal?.throwIfAborted()
    const total = statSync(partial).size
    const manifest = await verifyBackup(partial, [key], (bytes) =>
      onProgress?.('checking', bytes / (total + bytes)),
    )
    signal?.throwIfAborted()
    const restored = bytesIn(manifest) < TRIAL_BYTES
    if (restored) {
      const trial: TrialJob = { task: 'trial', file: partial, key: job.key, manifest }
      await runInWorker(trial, { onProgress, signal })
    }
    renameDurably(partial, job.file)
    return { bytes: total, rows: rowsIn(manifest), tables: manifest.parts.length, restored }
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

async function openSource(source: BackupJob['source']): Promise<CopySession> {
  if (source.kind === 'postgres') return openServerCopy(source.url)
  const instance = await openInstance(source.path)
  return createEmbeddedCopy(instance, () => instance.close())
}

/** Restores a backup into a new embedded database beside the file, and removes that. */
export async function runTrialJob(
  { file, key: named, manifest }: TrialJob,
  now: Date,
  onProgress?: Progress,
): Promise<object> {
  const key = keyOfJob(named)
  const directory = join(dirname(file), `.poterne-trial-${crypto.randomUUID()}`)
  const remove = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', remove)
  mkdirSync(directory, { mode: 0o700 })
  try {
    const instance = await openInstance(join(directory, 'postgres'), { bulk: true, throwAway: true })
    const target = createEmbeddedCopy(instance, () => instance.close())
    await target.query('begin')
    await loadBackup(target, file, {
      ...{ keys: [key], manifest, now },
      onProgress: (what, done) => onProgress?.(`${what} on trial`, done),
    })
    await target.query('commit')
    await target.close()
    return {}
  } finally {
    remove()
  }
}

/** A crash leaves the old file or the new one, whole. */
function renameDurably(from: string, to: string): void {
  renameSync(from, to)
  const directory = openSync(dirname(to), 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
