/**
 * Reads stored password digests (PHC strings and bcrypt's older form) without hashing anything: how much work one
 * requires, and which part of it may be shown.
 */

/**
 * The most work that a stored digest may require, unless the configuration asks for as much: it may have been imported, and
 * anybody's guess at its password costs this work.
 */
const MAXIMUM_MEMORY_KIB = 256 * 1024
const MAXIMUM_ITERATIONS = 10
const MAXIMUM_PARALLELISM = 16
/** 2^14 rounds take about a second. */
const MAXIMUM_BCRYPT_COST = 14

const ARGON2 =
  /^\$(argon2(?:id|i|d))\$v=19\$m=([1-9]\d{0,9}),t=([1-9]\d{0,9}),p=([1-9]\d{0,9})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{16,86})$/
/** `$2x$` marks what a program with a well-known mistake made: no other one computes the same. */
const BCRYPT = /^\$2[aby]\$(\d{2})\$[./A-Za-z0-9]{53}$/

/** Base64 whose last character leaves the bits that do not count zero, as every encoder does. */
const CANONICAL = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]|[A-Za-z0-9+/][AQgw])?$/

/** Shown in place of salt and hash. */
const HIDDEN = '…'

type Digest =
  | {
      algorithm: 'argon2id' | 'argon2i' | 'argon2d'
      memoryKib: number
      iterations: number
      parallelism: number
    }
  | { algorithm: 'bcrypt'; cost: number }

/** The work that the configuration asks for. */
export interface ConfiguredWork {
  memoryKib: number
  iterations: number
}

/**
 * The parameters of a stored digest; null if it is not a digest, or requires more work than this service and `configured`
 * allow.
 */
export function parseDigest(
  digest: string,
  configured: ConfiguredWork = { memoryKib: 0, iterations: 0 },
): Digest | null {
  const argon2 = ARGON2.exec(digest)
  if (argon2) {
    const [memoryKib, iterations, parallelism] = argon2.slice(2, 5).map(Number) as [number, number, number]
    const bounded =
      memoryKib <= Math.max(MAXIMUM_MEMORY_KIB, configured.memoryKib) &&
      iterations <= Math.max(MAXIMUM_ITERATIONS, configured.iterations) &&
      parallelism <= MAXIMUM_PARALLELISM
    if (!bounded || memoryKib < 8 * parallelism) return null
    return { algorithm: argon2[1] as 'argon2id', memoryKib, iterations, parallelism }
  }
  const bcrypt = BCRYPT.exec(digest)
  if (bcrypt === null) return null
  const cost = Number(bcrypt[1])
  return cost >= 4 && cost <= MAXIMUM_BCRYPT_COST ? { algorithm: 'bcrypt', cost } : null
}

/**
 * `$argon2id$v=19$m=19456,t=2,p=1$…`: the digest with salt and hash replaced, so that the field keeps its type and no
 * secret is revealed. `''` for an account without a password; `…` for a value that is not a digest.
 */
export function maskDigest(digest: string | null): string {
  if (digest === null) return ''
  const parameters = /^\$argon2(?:id|i|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$|^\$2[abxy]\$\d{2}\$/.exec(digest)
  return `${parameters?.[0] ?? ''}${HIDDEN}`
}

/**
 * Tells whether the native addon may verify the digest, where passwords are hashed with the `configured` work. It gets
 * what it was built for: well-formed digests of argon2id, version 19, with one lane and bounded work.
 */
export function suitsAddon(digest: string, configured: ConfiguredWork): boolean {
  const parsed = parseDigest(digest, configured)
  return (
    parsed?.algorithm === 'argon2id' &&
    parsed.parallelism === 1 &&
    digest
      .split('$')
      .slice(4)
      .every((part) => CANONICAL.test(part))
  )
}
