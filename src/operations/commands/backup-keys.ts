/** The keys that may have sealed a backup: those of the configuration, and what the command line names. */
import { secretsOf } from '../../compose/connections.ts'
import { decodeSecret } from '../../platform/config/formats.ts'
import type { Config } from '../../platform/config/types.ts'
import { type BackupKey, readLine, readPassphrase } from '../../storage/backup/keys.ts'
import { BackupRefused } from '../../storage/backup/refused.ts'
import { CommandFailure } from './failure.ts'

export interface BackupKeyOptions {
  secretFile?: string
  passphraseFile?: string
}

export const secretFileOption = [
  '--secret-file <file>',
  'a file with the server secret of the backup, if the present one is another',
] as const

export const passphraseFileOption = [
  '--passphrase-file <file>',
  'the file with the passphrase that sealed it',
] as const

/** Throws CommandFailure with exit code 2 for a file that holds no key. */
export function keysFor(config: Config, { secretFile, passphraseFile }: BackupKeyOptions) {
  try {
    const passphrase = readPassphrase(passphraseFile, config.backup.passphraseFile)
    const givenSecret = secretFile === undefined ? null : readGivenSecret(secretFile)
    const secrets = [...(givenSecret === null ? [] : [givenSecret]), ...secretsOf(config)]
    const keys: BackupKey[] = [
      ...secrets.map((secret) => ({ kind: 'secret' as const, secret })),
      ...(passphrase === null ? [] : [passphrase]),
    ]
    return { keys, givenSecret }
  } catch (error) {
    throw error instanceof BackupRefused ? new CommandFailure(2, error.message) : error
  }
}

function readGivenSecret(file: string): Uint8Array {
  const secret = decodeSecret(readLine(file))
  if (secret === null)
    throw new BackupRefused('holds no server secret, as `poterne secret` prints them', file)
  return secret
}
