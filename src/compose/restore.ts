/** Replaces the data of a database by that of a backup: all of it or nothing. */

import type { FileHandle } from 'node:fs/promises'
import { recordEvents } from '../domain/foundation/events/event-sql.ts'
import {
  chooseKeys,
  cleanse,
  openSealedRows,
  presentOfSame,
  readLaterKnowledge,
} from '../operations/backups/restored.ts'
import type { Config } from '../platform/config/types.ts'
import { type CopySession, databaseOf, openServerCopy } from '../platform/postgres/copy.ts'
import { inTransaction } from '../platform/postgres/in-transaction.ts'
import { createServerSecret } from '../platform/secret.ts'
import { ensureSecretFile } from '../platform/secret-file.ts'
import { type BackupKey, secretKeyId } from '../storage/backup/keys.ts'
import { loadBackup, requireKnownMigration } from '../storage/backup/load.ts'
import { type Manifest, rowsIn } from '../storage/backup/manifest.ts'
import { verifyBackup } from '../storage/backup/read.ts'
import { continueEventIds, readLastEventId, readState, requireAlone } from '../storage/backup/rebuild.ts'
import { BackupRefused } from '../storage/backup/refused.ts'
import { openSealedFile } from '../storage/backup/sealed-file.ts'
import type { Progress } from '../storage/backup/write.ts'
import { openEmbeddedCopy } from '../storage/embedded/embedded.ts'
import { secretsOf } from './connections.ts'
import { createStores } from './stores.ts'

interface RestoreOptions {
  config: Pick<Config, 'server' | 'storage' | 'database' | 'events'>
  file: string
  /** Every key that may open it, those of passphrases included. */
  keys: BackupKey[]
  /** `--secret-file`. */
  givenSecret: Uint8Array | null
  replace: boolean
  keepSessions: boolean
  now: Date
  onProgress: Progress
  signal: AbortSignal
  /** Asked before accounts are replaced; throws where the answer is no. */
  approve(replaced: Replaced): Promise<void>
}

export interface Replaced {
  accounts: number
  newestAt: Date
  backupMadeAt: string
}

export type Restored = Awaited<ReturnType<typeof restore>>

/** The size of a backup becomes known at its end. */
const TYPICAL_BYTES = 100 * 1024 * 1024

/** Throws BackupRefused, and what opening the database throws; then nothing was changed. */
export async function restore(options: RestoreOptions) {
  // Opened before root takes on the owner of the data directory, who may not read it.
  const opened = await openSealedFile(options.file)
  try {
    return await restoreFrom(opened, options)
  } finally {
    await opened.close()
  }
}

async function restoreFrom(file: FileHandle, options: RestoreOptions) {
  const { config, keys, replace, keepSessions, onProgress } = options
  const own = secretsOf(config)
  const manifest = await verifyBackup(file, keys, (bytes) => {
    options.signal.throwIfAborted()
    onProgress('checking', bytes / (bytes + TYPICAL_BYTES))
  })
  requireKnownMigration(manifest)
  const secrets = secretsForRows(manifest, own, options.givenSecret)
  const kept = new Set((own.length > 0 ? own : secrets.slice(0, 1)).map(secretKeyId))
  if (keepSessions && !kept.has(manifest.secret_key_id)) {
    throw new BackupRefused(
      'cannot be kept: the server secret of the backup is neither server.secret nor one of server.previous_secrets',
      'the sessions',
    )
  }
  const target = await openTarget(config, secrets[0]!)
  try {
    const state = await readState(target)
    if (state.hasAccounts && !replace)
      throw new BackupRefused(
        'has accounts already: --replace puts the backup in their place',
        'the database',
      )
    await requireAlone(target)
    if (state.hasAccounts) await options.approve(await describeReplaced(target, manifest))
    const restored = await replaceData(target, { ...options, file, manifest, state, secrets, kept })
    if (target.kind === 'embedded') await target.query('checkpoint')
    return restored
  } finally {
    await target.close()
  }
}

async function describeReplaced(target: CopySession, manifest: Manifest): Promise<Replaced> {
  const [found] = await target.query<{ count: number; newest: string }>(
    `select count(*)::int as count, to_char(max(created_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as newest
       from accounts`,
  )
  return { accounts: found!.count, newestAt: new Date(found!.newest), backupMadeAt: manifest.created_at }
}

interface Replacement extends Omit<RestoreOptions, 'file'> {
  file: FileHandle
  manifest: Manifest
  state: { hasAccounts: boolean; isOwnVersion: boolean }
  /** The one that seals from now on, and the others that may have sealed the rows. */
  secrets: Uint8Array[]
  /** The ids of those that stay accepted. */
  kept: ReadonlySet<string>
}

async function replaceData(target: CopySession, options: Replacement) {
  const { manifest, state, file, keys, now, keepSessions, onProgress, signal } = options
  const database = databaseOf(target)
  return inTransaction(target.query, async () => {
    await target.query(`set local lock_timeout = '10s'`)
    const knowledge = state.isOwnVersion
      ? await readLaterKnowledge(
          database,
          createStores(options.config, database, null).secrets,
          new Date(manifest.created_at),
        )
      : null
    const lastEventId = await readLastEventId(target)
    await loadBackup(target, file, { keys, manifest, now, onProgress, signal })
    await continueEventIds(target, lastEventId)
    onProgress('finishing', 1)
    const [current, ...others] = options.secrets
    const stores = createStores(options.config, database, null)
    const secret = createServerSecret(current!, others)
    const sealed = await openSealedRows(stores, secret, options.kept)
    const present = await presentOfSame(database, knowledge)
    const lastingKeys = await chooseKeys(database, {
      ...{ secrets: stores.secrets, secret, present, kept: options.kept },
      backupSecretId: manifest.secret_key_id,
    })
    const cleansed = await cleanse(database, knowledge, { present, keepSessions, now })
    const { erased, revokedKeys, revokedTokens, administrators, locked } = cleansed
    const about = { made_at: manifest.created_at, rows: rowsIn(manifest), replaced: state.hasAccounts }
    await recordEvents(
      database,
      [
        { type: 'backup.restored', account: null, data: about },
        ...erased.map((account) => ({ type: 'account.erased' as const, account })),
        ...locked.map((account) => ({ type: 'account.locked' as const, account })),
        ...revokedKeys.map((kid) => ({ type: 'key.revoked' as const, account: null, data: { kid } })),
        ...revokedTokens.map((token) => ({ type: 'token.revoked' as const, account: null, data: { token } })),
        ...administrators.map(({ uuid, role }) =>
          role === null
            ? { type: 'administrator.removed' as const, account: uuid }
            : { type: 'administrator.role_changed' as const, account: uuid, data: { role } },
        ),
      ],
      now,
    )
    signal.throwIfAborted()
    return {
      ...cleansed,
      backupMadeAt: manifest.created_at,
      rows: rowsIn(manifest),
      replaced: state.hasAccounts,
      /** It is false if what the replaced database knew could not be read, or there was none. */
      knewLater: present !== null,
      /** It is false if erasures since the backup may have been forgotten since. */
      knewErasures: present !== null && knowledge!.knowsErasures,
      /** The source of the keys that name rows and hash codes. */
      lastingKeys,
      /** Rows that were sealed anew, under the secret of this configuration. */
      sealedAnew: sealed.reduce((sum, { sealedAnew }) => sum + sealedAnew, 0),
      /** The rows that did not open when the backup was made, either. */
      lost: sealed.filter(({ lost }) => lost > 0).map(({ name, lost }) => ({ name, lost })),
    }
  })
}

/**
 * Those of the configuration, those inside the backup and the one that was given. Throws where none of them is that of the
 * backup. An embedded database that has none yet takes that one.
 */
function secretsForRows(manifest: Manifest, own: Uint8Array[], given: Uint8Array | null): Uint8Array[] {
  const inside = (manifest.secrets ?? []).map((text) => Buffer.from(text, 'hex'))
  const all = [...own, ...(given === null ? [] : [given]), ...inside]
  const theirs = all.find((secret) => secretKeyId(secret) === manifest.secret_key_id)
  if (theirs === undefined)
    throw new BackupRefused(
      `holds rows that are sealed under another server secret (${manifest.secret_key_id}): name a file that holds it with --secret-file`,
    )
  return own.length > 0 ? all : [theirs, ...all]
}

async function openTarget({ server, storage, database }: RestoreOptions['config'], secret: Uint8Array) {
  if (database.url !== null) return openServerCopy(database.url)
  return openEmbeddedCopy(storage.dataDir, (state) => {
    if (server.secret === null) ensureSecretFile(storage.dataDir, state, secret)
  })
}
