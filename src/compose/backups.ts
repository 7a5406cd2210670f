/** The scheduled backups of the service: they run in a process of their own, so that requests come first. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { environmentWithout, runAfter } from '../operations/backups/after.ts'
import type { FinishedBackup } from '../operations/backups/store.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/types.ts'
import { isOfAnotherUser } from '../platform/data-directory.ts'
import { runInWorker } from '../platform/own-process.ts'
import type { Database } from '../platform/postgres/database.ts'
import { version } from '../platform/version.ts'
import { backupName, removeOldBackups } from '../storage/backup/files.ts'
import { type BackupJob, keyToJob, type MadeBackup } from '../storage/backup/job.ts'
import { type BackupKey, readPassphrase } from '../storage/backup/keys.ts'
import { BackupRefused } from '../storage/backup/refused.ts'
import { secretsOf } from './connections.ts'

type BackupConfig = Pick<Config, 'server' | 'storage' | 'backup'>

/**
 * A passphrase where one is named, else the configured secret. Throws BackupRefused where only the generated secret is
 * left: it is lost with the machine, and what is sealed with it too.
 */
export function backupKeyOf({ server, storage, backup }: BackupConfig, passphraseFile?: string): BackupKey {
  const passphrase = readPassphrase(passphraseFile, backup.passphraseFile)
  if (passphrase !== null) return passphrase
  if (server.secret !== null) return { kind: 'secret', secret: server.secret }
  throw new BackupRefused(
    `is the file that poterne made in ${resolve(storage.dataDir)}, which would be lost together with the machine, and no backup could be opened without it: name a passphrase file (--passphrase-file, backup.passphrase_file), or set server.secret`,
    'the server secret',
  )
}

/**
 * In clear things are written only where the embedded database is, or on this machine. A command that reaches the service
 * by its socket may know no data directory, and must not make one. Root writes nothing where another user may put links.
 */
export const scratchOf = ({ database, storage }: Pick<Config, 'database' | 'storage'>): string =>
  database.url === null && existsSync(storage.dataDir) && !isOfAnotherUser(storage.dataDir)
    ? resolve(storage.dataDir)
    : tmpdir()

export function createBackupMaker(config: Config, database: Database, clock: Clock) {
  const { directory, keep, after } = config.backup

  async function write(file: string, signal: AbortSignal): Promise<MadeBackup> {
    const copy = database.files ? await database.files.snapshot() : null
    try {
      const job: BackupJob = {
        ...{ task: 'backup', version: version.version, file, key: keyToJob(backupKeyOf(config)) },
        source:
          copy === null ? { kind: 'postgres', url: config.database.url! } : { kind: 'directory', path: copy },
        scratch: scratchOf(config),
        secrets: secretsOf(config).map((secret) => Buffer.from(secret).toString('hex')),
        secretsIn: null,
        withSecret: false,
        // A new service has no account yet; the warning says so.
        allowsEmpty: true,
      }
      return await runInWorker<MadeBackup>(job, { signal })
    } finally {
      if (copy !== null && existsSync(copy)) rmSync(copy, { recursive: true, force: true })
    }
  }

  return async (signal: AbortSignal): Promise<FinishedBackup> => {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const name = backupName(clock.now())
    const file = resolve(join(directory, name))
    const { bytes, rows, warning } = await write(file, signal)
    const warnings = [warning, removeOldBackups(directory, keep)].filter((each) => each !== null)
    if (after !== null)
      await runAfter(after, file, { env: environmentWithout(config.namedVariables), signal })
    return { file: name, bytes, rows, warning: warnings.join('; ') || null }
  }
}
