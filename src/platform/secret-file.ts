/**
 * The server secret that the service makes for itself where none is configured: the file `secret` in the data
 * directory. Promises: the file is whole on the disk before anything is sealed under it, and nothing but 64 hex
 * characters is ever taken for a secret. After a rotation the secrets before it stand in `secret.previous`, one a line,
 * and are accepted until the operator removes that file.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { flush } from './flush.ts'

class SecretFileRefused extends Error {
  override name = 'SecretFileRefused'
}

const PRIVATE = 0o600

const HEX = /^[\da-f]{64}$/i

const fileIn = (dataDir: string) => resolve(join(dataDir, 'secret'))
export const previousFileIn = (dataDir: string) => resolve(join(dataDir, 'secret.previous'))

export const hasSecretFile = (dataDir: string): boolean => existsSync(fileIn(dataDir))

/**
 * Makes the file where it is missing and the database is new, with this secret or a new one. Throws SecretFileRefused; the
 * message names the file.
 */
export function ensureSecretFile(
  dataDir: string,
  { isNewDatabase }: { isNewDatabase: boolean },
  secret: Uint8Array = randomBytes(32),
): void {
  const file = fileIn(dataDir)
  if (existsSync(file)) {
    readSecretFile(dataDir)
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, PRIVATE)
  } else if (isNewDatabase) {
    writeDurably(file, `${Buffer.from(secret).toString('hex')}\n`)
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
  if (!HEX.test(text)) {
    throw new SecretFileRefused(
      `${file} does not hold a server secret (expected 64 hex characters, as \`poterne secret\` prints them): put the ` +
        'file back from a backup; poterne never makes another one beside a database',
    )
  }
  return Buffer.from(text, 'hex')
}

/** The secrets before the present one, the newest first. Throws SecretFileRefused where the file holds something else. */
export function readPreviousSecrets(dataDir: string): Uint8Array[] {
  const file = previousFileIn(dataDir)
  if (!existsSync(file)) return []
  const lines = readOrRefuse(file)
    .split('\n')
    .map((line) => line.trim())
  const secrets = lines.filter((line) => line !== '')
  if (!secrets.every((line) => HEX.test(line))) {
    throw new SecretFileRefused(
      `${file} holds something else than server secrets, one of 64 hex characters a line: put it back from a backup`,
    )
  }
  return secrets.map((line) => Buffer.from(line, 'hex'))
}

/** A fresh secret in the place of the present one, which is kept beside it before it is replaced. */
export function rotateSecretFile(dataDir: string): void {
  const all = [readSecretFile(dataDir), ...readPreviousSecrets(dataDir)]
  const lines = all.map((secret) => `${Buffer.from(secret).toString('hex')}\n`)
  writeDurably(previousFileIn(dataDir), [...new Set(lines)].join(''))
  writeDurably(fileIn(dataDir), freshSecret())
}

/** A fresh secret in the place of the present one and of those before it, which are gone. */
export function replaceSecretFile(dataDir: string): void {
  writeDurably(fileIn(dataDir), freshSecret())
  rmSync(previousFileIn(dataDir), { force: true })
}

const freshSecret = () => `${randomBytes(32).toString('hex')}\n`

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
  rmSync(partial, { force: true })
  // A link that somebody planted under this name is not followed.
  writeFileSync(partial, text, { flag: 'wx', mode: PRIVATE })
  flush(partial)
  renameSync(partial, file)
  flush(dirname(file))
}
