/**
 * Reads stored password digests without hashing anything: of which kind they are, how much work one requires, and which
 * part of it may be shown. Our own are PHC strings of Argon2id. Those of other systems were brought into one form for each
 * kind when they were imported (src/domain/credentials/foreign-digests); foreign-hashes.ts computes them.
 */

/**
 * The most work that a stored digest may require, unless the configuration asks for as much: it may have been imported, and
 * anybody's guess at its password costs this work.
 */
export const bounds = {
  memoryKib: 256 * 1024,
  iterations: 10,
  parallelism: 16,
  /** 2^14 rounds take about a second. */
  bcryptCost: 14,
  /** Rounds times blocks. */
  pbkdf2: 2_000_000,
  cryptRounds: 1_000_000,
  phpassRounds: 2 ** 20,
  scryptBytes: 64 * 2 ** 20,
  /** N·r·p */
  scryptWork: 2 ** 20,
}

const ARGON2 =
  /^\$(argon2(?:id|i|d))\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,9})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/
/** `$2x$` marks what a program with a well-known mistake made: no other one computes the same. */
const BCRYPT = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/
/** Bcrypt of something else than the password alone (`bcryptInput`). */
const PREPARED_BCRYPT =
  /^\$bcrypt\$n=(\d{2})\$(?:sha256\$|hmac-sha256\$|wordpress\$|pepper\$([A-Za-z0-9+/]{1,700}))\$[./A-Za-z0-9]{53}$/
const PBKDF2 = /^\$pbkdf2-sha(?:1|256|512)\$n=([1-9]\d{0,6})\$([A-Za-z0-9+/]{0,700})\$([A-Za-z0-9+/]{16,86})$/
const SCRYPT =
  /^\$(?:fb)?scrypt\$ln=([1-9]\d?),r=([1-9]\d{0,6}),p=([1-9]\d{0,6})\$([A-Za-z0-9+/]{0,700})((?:\$[A-Za-z0-9+/]{2,100}){1,3})$/
/** Argon2id of a hash that is too fast by itself. */
const WRAPPED =
  /^\$wrapped-(digest|crypt-(?:md5|sha256|sha512)|phpass-(?:md5|sha512)|pbkdf2-sha(?:1|256|512))\$(?:n=([1-9]\d{0,6}),)?(m=\d+,t=\d+,p=1)\$((?:(?:md5|sha1|sha256|sha512),(?:sp|ps))?|trim|l\d\d)\$([A-Za-z0-9+/]{0,700})\$([A-Za-z0-9+/]+\$[A-Za-z0-9+/]+)$/

/** Base64 whose last character leaves the bits that do not count zero, as every encoder does. */
const CANONICAL = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]|[A-Za-z0-9+/][AQgw])?$/

/** Shown in place of salt and hash. */
const HIDDEN = '…'

/** Digests that cost the same work, but for `number`, belong to one family. */
export interface Family {
  /** `bcrypt`, `pbkdf2-sha256`, `argon2id$v=19$m=19456,t=2,p=1`: as the function `digest_family` of the database says it. */
  family: string
  /** The work that adds up within the family: rounds, or the cost of bcrypt; 0 where nothing does. */
  number: number
}

export interface Digest extends Family {
  memoryKib: number
}

/** The work that the configuration asks for. */
export interface ConfiguredWork {
  memoryKib: number
  iterations: number
}

/** The name of our own family. */
export const familyOf = ({ memoryKib, iterations }: ConfiguredWork) =>
  `argon2id$v=19$m=${memoryKib},t=${iterations},p=1`

const NO_WORK: ConfiguredWork = { memoryKib: 0, iterations: 0 }

/**
 * The work of a stored digest; null if it is not a digest, or requires more work than this service and `configured`
 * allow.
 */
export function parseDigest(digest: string, configured = NO_WORK): Digest | null {
  const found = readDigest(digest, configured)
  return found === 'too_costly' ? null : found
}

/** Works like `parseDigest`, and tells what requires too much work. */
export function readDigest(digest: string, configured = NO_WORK): Digest | 'too_costly' | null {
  if (digest.length > 2000) return null
  return (
    parseArgon2(digest, configured) ??
    parseBcrypt(digest) ??
    parsePbkdf2(digest) ??
    parseScrypt(digest) ??
    parseWrapped(digest, configured)
  )
}

type Read = Digest | 'too_costly' | null

function parseArgon2(digest: string, configured: ConfiguredWork): Read {
  const found = ARGON2.exec(digest)
  if (found === null) return null
  const [memoryKib, iterations, parallelism] = found.slice(2, 5).map(Number) as [number, number, number]
  const bounded =
    memoryKib <= Math.max(bounds.memoryKib, configured.memoryKib) &&
    iterations <= Math.max(bounds.iterations, configured.iterations) &&
    parallelism <= bounds.parallelism
  if (memoryKib < 8 * parallelism || parallelism === 0) return null
  if (!bounded) return 'too_costly'
  return { family: `${found[1]}$v=19$m=${memoryKib},t=${iterations},p=${parallelism}`, number: 0, memoryKib }
}

function parseBcrypt(digest: string): Read {
  const found = BCRYPT.exec(digest) ?? PREPARED_BCRYPT.exec(digest)
  if (found === null || !CANONICAL.test(found[2] ?? '')) return null
  const cost = Number(found[1])
  if (cost < 4 || cost > 31) return null
  return cost <= bounds.bcryptCost ? { family: 'bcrypt', number: cost, memoryKib: 4 } : 'too_costly'
}

function parsePbkdf2(digest: string): Read {
  const found = PBKDF2.exec(digest)
  if (found === null || !found.slice(2).every((part) => CANONICAL.test(part))) return null
  const number = Number(found[1])
  const family = digest.split('$')[1] as string
  return number <= bounds.pbkdf2 ? { family, number, memoryKib: 0 } : 'too_costly'
}

function parseScrypt(digest: string): Read {
  const found = SCRYPT.exec(digest)
  if (found === null) return null
  const parts = digest.split('$').slice(3)
  const isFirebase = digest.startsWith('$fb')
  if (parts.length !== (isFirebase ? 4 : 2) || !parts.every((part) => CANONICAL.test(part))) return null
  const [logN, r, p] = found.slice(1, 4).map(Number) as [number, number, number]
  if (!isScryptBounded(2 ** logN, r, p)) return 'too_costly'
  return {
    family: digest.split('$').slice(1, 3).join('$'),
    number: 0,
    memoryKib: Math.ceil((128 * r * (2 ** logN + p)) / 1024),
  }
}

export const isScryptBounded = (n: number, r: number, p: number) =>
  128 * n * r <= bounds.scryptBytes && 128 * r * p <= bounds.scryptBytes && n * r * p <= bounds.scryptWork

function parseWrapped(digest: string, configured: ConfiguredWork): Read {
  const found = WRAPPED.exec(digest)
  if (found === null) return null
  const [, inner, rounds = '0', parameters, , salt, outer] = found as unknown as string[]
  const argon2 = parseArgon2(`$argon2id$v=19$${parameters}$${outer}`, configured)
  const number = Number(rounds)
  const most = inner?.startsWith('phpass') ? bounds.phpassRounds : bounds.cryptRounds
  const isComplete = (inner === 'digest') === (number === 0) && CANONICAL.test(salt as string)
  if (argon2 === null || !isComplete) return null
  if (argon2 === 'too_costly' || number > most) return 'too_costly'
  return { family: `wrapped-${inner}$${parameters}`, number, memoryKib: argon2.memoryKib }
}

/** Tells whether it is a plain Argon2id digest, whatever its parameters: every other kind came from elsewhere. */
export const isOwnKind = (digest: string) => digest.startsWith('$argon2id$')

/**
 * `$argon2id$v=19$m=19456,t=2,p=1$…`: the digest with salt and hash replaced, so that the field keeps its type and no
 * secret is revealed. `''` for an account without a password; `…` for a value that is not a digest.
 */
export function maskDigest(digest: string | null): string {
  if (digest === null) return ''
  const parameters =
    /^\$argon2(?:id|i|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$|^\$2[abxy]\$\d{2}\$|^\$[a-z0-9-]+\$[a-z]+=[a-z0-9=,]*\$/.exec(
      digest,
    )
  return `${parameters?.[0] ?? ''}${HIDDEN}`
}

/** The whole digest, if it is one of our own kind: others may hold what only the old system should know, such as a pepper. */
export const showDigest = (digest: string | null): string =>
  digest !== null && isOwnKind(digest) ? digest : maskDigest(digest)

/**
 * Tells whether the native addon may verify the digest, where passwords are hashed with the `configured` work. It gets
 * what it was built for: well-formed digests of argon2id, version 19, with one lane and bounded work. Of a wrapped
 * hash that is the wrapping.
 */
export function suitsAddon(digest: string, configured: ConfiguredWork): boolean {
  const parsed = parseDigest(digest, configured)
  return (
    parsed !== null &&
    /^\$argon2id\$.*,p=1\$|^\$wrapped-/.test(digest) &&
    digest
      .split('$')
      .slice(-2)
      .every((part) => CANONICAL.test(part))
  )
}
