/**
 * The server secret that the service makes for itself where none is configured: the file `secret` in the data
 * directory. Promises: the file is whole on the disk before anything is sealed under it, and nothing but 64 hex
 * characters is ever taken for a secret.
 */
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join, resolve } from 'node:path'

export class SecretFileRefused extends Error {
  override name = 'SecretFileRefused'
}

const PRIVATE = 0o600

const fileIn = (dataDir: string) => resolve(join(dataDir, 'secret'))

/** Makes the file where it is missing and the database is new. Throws SecretFileRefused; the message names the file. */
export function ensureSecretFile(dataDir: string, { isNewDatabase }: { isNewDatabase: boolean }): void {
  const file = fileIn(dataDir)
  if (existsSync(file)) {
    readSecretFile(dataDir)
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, PRIVATE)
  } else if (isNewDatabase) {
    writeDurably(file, `${randomBytes(32).toString('hex')}\n`)
  } else {
    throw new SecretFileRefused(
      `${file} is missing, and the database beside it is sealed under the secret that was in it: put the file back ` +
        'from a backup, or set server.secret to that secret; where it is lost for good, put `poterne secret` into the ' +
        'file and see "Secrets" in docs/operations.md',
    )
  }
}

/** Throws SecretFileRefused where the file is missing or holds something else. */
export function readSecretFile(dataDir: string): Uint8Array {
  const file = fileIn(dataDir)
  const text = readOrRefuse(file).trim()
  if (!/^[\da-f]{64}$/i.test(text)) {
    throw new SecretFileRefused(
      `${file} does not hold a server secret (expected 64 hex characters, as \`poterne secret\` prints them): put the ` +
        'file back from a backup; poterne never makes another one beside a database',
    )
  }
  return Buffer.from(text, 'hex')
}

function readOrRefuse(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code = 'unknown cause' } = error as NodeJS.ErrnoException
    throw new SecretFileRefused(`${file}, which holds the server secret, cannot be read (${code})`)
  }
}

/** A crash leaves the whole file or none: its content is on the disk before its name is. */
function writeDurably(file: string, text: string): void {
  const partial = `${file}.partial`
  const descriptor = openSync(partial, 'w', PRIVATE)
  try {
    writeSync(descriptor, text)
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(partial, file)
  const directory = openSync(join(file, '..'), 'r')
  try {
    fsyncSync(directory)
  } finally {
    closeSync(directory)
  }
}
