/**
 * Every stand-in for something that does not exist (docs/decisions/parity-and-decoys.md). An operation that anybody may
 * call replaces what it does not find by a decoy, and then does the same work with it as with the real thing. So
 * neither the answer nor its time reveals whether an account exists. A decoy never proves anything: no code, password
 * or message of one is ever right or sent.
 */
import { randomBytes } from 'node:crypto'
import type { ServerSecret } from '../../../platform/secret.ts'

/** No account has this id: statements look for it like for any other, and find nothing. */
export const decoyAccount = { id: 0, uuid: '' }

/** The same where a uuid is looked up by itself. */
export const decoyUuid = '00000000-0000-0000-0000-000000000000'

/**
 * The destination of a message that is never sent. It is queued where an identifier has no account, so that the answer
 * takes the same time, and the worker deletes it.
 */
export const decoyDestination = ''

/** Keys are part of counters' names, so those of decoys are no longer than those of real identifiers. */
const MAXIMUM_KEY = 247

/**
 * Stands in for input that is not an identifier: an e-mail address that nobody can have, because it contains a space.
 * It is looked up, counted and answered like an address without an account.
 */
export function decoyIdentifier(input: string) {
  const key = `nobody ${input.trim().toLowerCase().slice(0, MAXIMUM_KEY)}`
  return { kind: 'email' as const, destination: key, key }
}

/** Stands in for the recipient of a code that is sent to nobody: no address that can be typed has this key. */
export const decoyRecipient = (key: string) => ({
  kind: 'email' as const,
  destination: decoyDestination,
  key: `decoy of ${key}`,
})

/** Stands in for the contact of an account without a verified one: a destination to which no message is ever sent. */
export function decoyContact(accountUuid: string) {
  return { kind: 'email' as const, destination: accountUuid, key: accountUuid }
}

/**
 * The subject of codes and budgets for something that has none: the same parts give the same decoy. It has the form of a
 * uuid (version 8).
 */
export function decoySubject(secret: ServerSecret, ...parts: string[]): string {
  const bytes = secret.tag('code decoy', ...parts)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

/** The password that is checked if none could be right, against decoy digests only. */
export const decoyPassword = 'impossible'

/**
 * A digest that takes the work of a real one of this family (`argon2id$v=19$m=19456,t=2,p=1`, `bcrypt`) with this number of
 * rounds, and that no known password matches. Making it costs nothing.
 */
export function decoyDigest(family: string, number = 0): string {
  const random = (bytes = 32) => randomBytes(bytes).toString('base64').replaceAll('=', '')
  if (family === 'bcrypt') {
    const hex = () => randomBytes(16).toString('hex')
    // Only some bits of the last character of salt and hash count; the others must be zero.
    return `$2b$${String(number).padStart(2, '0')}$${hex().slice(0, 21)}.${hex().slice(0, 30)}.`
  }
  const [kind, ...parameters] = family.split('$') as [string, ...string[]]
  const numbers = [
    ...(number > 0 ? [`n=${number}`] : []),
    ...(parameters.length > 0 ? [parameters.join('$')] : []),
  ]
  const start = `$${kind}$${numbers.join(',')}$`
  if (kind.startsWith('wrapped-')) {
    const variants: Record<string, string> = { digest: 'sha256,sp', pbkdf2: 'l20' }
    const variant = variants[kind.split('-')[1] as string] ?? ''
    return `${start}${variant}$${random(kind.includes('-crypt-md5') ? 8 : 16)}$${random()}$${random()}`
  }
  const hashBytes = kind === 'pbkdf2-sha1' ? 20 : 32
  return kind === 'fbscrypt'
    ? `${start}${random(16)}$${random(1)}$${random(64)}$${random(64)}`
    : `${start}${random()}$${random(hashBytes)}`
}

/** The secret of an authenticator app for an account without one. */
export const decoyTotpSecret = (bytes: number) => new Uint8Array(randomBytes(bytes))

/** Stored hashes of recovery codes, to bring the number that is compared up to `count`. */
export const decoyRecoveryHashes = (count: number, bytes: number): Uint8Array[] =>
  Array.from({ length: count }, () => randomBytes(bytes))
