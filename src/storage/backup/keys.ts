/**
 * A backup is sealed with a key made from the server secret or from a passphrase. The key of a file is derived from it
 * and from random bytes of that file, so that no two files share one.
 */
import { hkdfSync, randomBytes, scryptSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServerSecret } from '../../platform/secret.ts'
import { BackupRefused } from './refused.ts'

export type BackupKey = { kind: 'secret'; secret: Uint8Array } | { kind: 'passphrase'; passphrase: string }

/** The words about its key that a file holds in clear. */
export interface KeyHeader {
  key: BackupKey['kind']
  /** The id of the secret: it names it, and says nothing about it. */
  key_id?: string
  /** The base-2 logarithm of scrypt's N, for a passphrase. */
  scrypt?: number
  /** Hex. */
  salt: string
  /** Tells a wrong key from a damaged file. */
  check: string
}

/** 128 MiB of memory and about half a second: what OWASP asks of scrypt. */
const SCRYPT_LOG_N = 17
/** 256 MiB. More would let a forged file fill the memory of the machine that opens it. */
const MAXIMUM_LOG_N = 18
const MINIMUM_PASSPHRASE = 12

const derive = (material: Uint8Array, salt: Uint8Array, info: string, length: number) =>
  Buffer.from(hkdfSync('sha256', material, salt, `poterne backup ${info}`, length))

/** By which a backup names the server secret, and so does `poterne secret status`. */
export const secretKeyId = (secret: Uint8Array): string => createServerSecret(secret).current.id

/** A file that was written is read back at once, and one that was checked is loaded. */
let lastStretched: { passphrase: string; salt: Buffer; logN: number; material: Uint8Array } | null = null

function materialOf(key: BackupKey, salt: Buffer, logN: number): Uint8Array {
  if (key.kind === 'secret') return key.secret
  const { passphrase } = key
  const isLast =
    lastStretched?.passphrase === passphrase && lastStretched.logN === logN && salt.equals(lastStretched.salt)
  if (isLast) return lastStretched!.material
  const N = 2 ** logN
  const material = scryptSync(passphrase.normalize('NFC'), salt, 32, { N, r: 8, p: 1, maxmem: 256 * N * 8 })
  lastStretched = { passphrase, salt, logN, material }
  return material
}

/** Makes the key of a new file. */
export function makeFileKey(key: BackupKey): { fileKey: Uint8Array; header: KeyHeader } {
  const salt = randomBytes(32)
  const material = materialOf(key, salt, SCRYPT_LOG_N)
  const header: KeyHeader = {
    key: key.kind,
    ...(key.kind === 'secret' ? { key_id: secretKeyId(key.secret) } : { scrypt: SCRYPT_LOG_N }),
    salt: salt.toString('hex'),
    check: derive(material, salt, 'check', 8).toString('hex'),
  }
  return { fileKey: derive(material, salt, 'file', 32), header }
}

/** The key among these that sealed the file. Throws BackupRefused. */
export function findFileKey(header: KeyHeader, keys: readonly BackupKey[]): Uint8Array {
  const salt = Buffer.from(header.salt, 'hex')
  const logN = header.scrypt ?? SCRYPT_LOG_N
  if (logN > MAXIMUM_LOG_N) throw new BackupRefused('is damaged: its header asks for too much memory')
  const fitting = keys.filter(({ kind }) => kind === header.key)
  for (const key of fitting) {
    const material = materialOf(key, salt, logN)
    if (derive(material, salt, 'check', 8).toString('hex') === header.check)
      return derive(material, salt, 'file', 32)
  }
  if (header.key === 'passphrase')
    throw new BackupRefused(
      fitting.length > 0
        ? 'is sealed with another passphrase'
        : 'is sealed with a passphrase: name its file with --passphrase-file',
    )
  throw new BackupRefused(
    `is sealed with another server secret (key ${header.key_id}): name a file that holds it with --secret-file`,
  )
}

/** The first line of the file that the command line names, or else backup.passphrase_file. Throws BackupRefused. */
export function readPassphrase(named: string | undefined, configured: string | null): BackupKey | null {
  const file = named ?? configured
  if (file === null) return null
  // A credential of systemd's is there only while the service runs.
  const remedy =
    named === undefined
      ? ': let the user of the service read it; a command takes --passphrase-file in its place'
      : ''
  const passphrase = readLine(file, remedy)
  if (passphrase.length < MINIMUM_PASSPHRASE)
    throw new BackupRefused(
      `holds fewer than ${MINIMUM_PASSPHRASE} characters, too few for a passphrase`,
      file,
    )
  return { kind: 'passphrase', passphrase }
}

export function readLine(file: string, remedy = ''): string {
  try {
    return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0]!.trim()
  } catch (error) {
    const { code = 'unknown cause' } = error as NodeJS.ErrnoException
    throw new BackupRefused(`cannot be read (${code})${remedy}`, file)
  }
}
