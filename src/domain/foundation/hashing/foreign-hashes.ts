/**
 * Computes what a hashing thread needs beside Bun.password: the functions by which other systems hash passwords. Every
 * digest comes in the form that digest.ts reads. The file goes into the threads as a text (thread-text.ts), so it
 * imports nothing but node:crypto.
 */
import { createCipheriv, createHash, createHmac, pbkdf2Sync, scryptSync, timingSafeEqual } from 'node:crypto'

type Hash = 'md5' | 'sha1' | 'sha256' | 'sha512'

const unbase64 = (text: string) => Buffer.from(text, 'base64')
const digestOf = (name: string, ...parts: (string | Uint8Array)[]) =>
  parts.reduce((hash, part) => hash.update(part), createHash(name)).digest()
const sizes: Record<Hash, number> = { md5: 16, sha1: 20, sha256: 32, sha512: 64 }

/** What Bun.password gets for a digest `$bcrypt$n=…$variant$extra$hash`: no more than 72 bytes count. */
export function bcryptInput(typed: string, variant: string, extra: string, hash: string): string {
  if (variant === 'sha256') return digestOf('sha256', typed).toString('hex')
  if (variant === 'hmac-sha256') return createHmac('sha256', hash.slice(0, 22)).update(typed).digest('base64')
  if (variant === 'wordpress')
    return createHmac('sha384', 'wp-sha384').update(trimmed(typed)).digest('base64')
  return typed + unbase64(extra).toString()
}

/** As PHP does it. */
export const trimmed = (typed: string) => typed.replace(/^[ \t\n\r\0\v]+|[ \t\n\r\0\v]+$/g, '')

/** Tells whether the password opens a digest of PBKDF2. It compares the first block, which is all that is stored. */
export function opensPbkdf2(typed: string, [kind, parameters, salt, hash]: string[]): boolean {
  const expected = unbase64(hash as string)
  const name = (kind as string).slice('pbkdf2-'.length)
  const made = pbkdf2Sync(
    typed,
    unbase64(salt as string),
    Number((parameters as string).slice(2)),
    expected.length,
    name,
  )
  return timingSafeEqual(made, expected)
}

export function opensScrypt(typed: string, [kind, parameters, salt, ...rest]: string[]): boolean {
  const [logN, r, p] = [...(parameters as string).matchAll(/\d+/g)].map(Number) as [number, number, number]
  const [N, maxmem] = [2 ** logN, 2 ** 28]
  const expected = unbase64(rest.at(-1) as string)
  if (kind === 'scrypt') {
    const made = scryptSync(typed, unbase64(salt as string), expected.length, { N, r, p, maxmem })
    return timingSafeEqual(made, expected)
  }
  // Firebase encrypts a key of its project with what scrypt makes.
  const [separator, signer] = rest.map(unbase64) as [Buffer, Buffer]
  const key = scryptSync(typed, Buffer.concat([unbase64(salt as string), separator]), 32, { N, r, p, maxmem })
  const made = createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(signer)
  return made.length === expected.length && timingSafeEqual(made, expected)
}

/** The text of which a wrapped digest holds Argon2id: what the old system stored beside the salt. */
export function innerHash(
  typed: string,
  kind: string,
  rounds: number,
  variant: string,
  salt: string,
): string {
  const bytes = unbase64(salt)
  const name = kind.split('-').at(-1) as Hash
  if (kind === 'wrapped-digest') {
    const [algorithm, order] = variant.split(',') as [Hash, string]
    const parts = order === 'sp' ? [bytes, typed] : [typed, bytes]
    return digestOf(algorithm, ...parts).toString('hex')
  }
  if (kind.startsWith('wrapped-phpass'))
    return phpass(variant === 'trim' ? trimmed(typed) : typed, bytes, rounds, name)
  // The variant says how many bytes the old system stored, such as l20.
  if (kind.startsWith('wrapped-pbkdf2'))
    return pbkdf2Sync(typed, bytes, rounds, Number(variant.slice(1)), name).toString('hex')
  return name === 'md5'
    ? cryptMd5(Buffer.from(typed), bytes)
    : cryptSha(Buffer.from(typed), bytes, rounds, name)
}

const ITOA64 = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Six bits for each character, the lowest ones first. */
function itoa64(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const three = bytes.subarray(at, at + 3)
    let value = three.reduce((sum, byte, index) => sum | (byte << (8 * index)), 0)
    for (let count = 0; count <= three.length; count++, value >>= 6) text += ITOA64[value & 63]
  }
  return text
}

/** Hashes into the same bytes again and again, without a new object each time. */
const into: Record<Hash, (input: Uint8Array, output: Uint8Array) => unknown> = {
  md5: (input, output) => Bun.MD5.hash(input, output),
  sha1: (input, output) => Bun.SHA1.hash(input, output),
  sha256: (input, output) => Bun.SHA256.hash(input, output),
  sha512: (input, output) => Bun.SHA512.hash(input, output),
}

/** Drupal stores 43 characters of the longer hash. */
function phpass(typed: string, salt: Uint8Array, rounds: number, name: Hash): string {
  const password = Buffer.from(typed)
  const input = Buffer.concat([Buffer.alloc(sizes[name]), password])
  const output = input.subarray(0, sizes[name])
  input.set(digestOf(name, salt, password))
  for (let round = 0; round < rounds; round++) into[name](input, output)
  return itoa64(output).slice(0, name === 'md5' ? 22 : 43)
}

/** The bytes of a crypt(3) hash in the order of its text. */
const orders: Partial<Record<Hash, number[]>> = {
  md5: [12, 6, 0, 13, 7, 1, 14, 8, 2, 15, 9, 3, 5, 10, 4, 11],
  sha256: [
    20, 10, 0, 11, 1, 21, 2, 22, 12, 23, 13, 3, 14, 4, 24, 5, 25, 15, 26, 16, 6, 17, 7, 27, 8, 28, 18, 29, 19,
    9, 30, 31,
  ],
  sha512: [
    42, 21, 0, 1, 43, 22, 23, 2, 44, 45, 24, 3, 4, 46, 25, 26, 5, 47, 48, 27, 6, 7, 49, 28, 29, 8, 50, 51, 30,
    9, 10, 52, 31, 32, 11, 53, 54, 33, 12, 13, 55, 34, 35, 14, 56, 57, 36, 15, 16, 58, 37, 38, 17, 59, 60, 39,
    18, 19, 61, 40, 41, 20, 62, 63,
  ],
}

const cryptText = (name: Hash, hash: Uint8Array) =>
  itoa64(Uint8Array.from(orders[name] as number[], (at) => hash[at] as number))

/** As many bytes of the hash, repeated. */
function repeated(hash: Uint8Array, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at++) bytes[at] = hash[at % hash.length] as number
  return bytes
}

function cryptMd5(password: Buffer, salt: Uint8Array): string {
  const alternate = digestOf('md5', password, salt, password)
  const first = createHash('md5').update(password).update('$1$').update(salt)
  first.update(repeated(alternate, password.length))
  for (let bits = password.length; bits > 0; bits >>= 1)
    first.update(bits & 1 ? Buffer.alloc(1) : password.subarray(0, 1))
  return cryptText('md5', stretch('md5', first.digest(), password, Buffer.from(salt), 1000))
}

/** SHA-crypt, as Ulrich Drepper specified it. */
function cryptSha(password: Buffer, salt: Uint8Array, rounds: number, name: Hash): string {
  const alternate = digestOf(name, password, salt, password)
  const first = createHash(name).update(password).update(salt).update(repeated(alternate, password.length))
  for (let bits = password.length; bits > 0; bits >>= 1) first.update(bits & 1 ? alternate : password)
  const start = first.digest()
  const ofPassword = createHash(name)
  for (let at = 0; at < password.length; at++) ofPassword.update(password)
  const ofSalt = createHash(name)
  for (let at = 0; at < 16 + (start[0] as number); at++) ofSalt.update(salt)
  const p = repeated(ofPassword.digest(), password.length)
  const s = repeated(ofSalt.digest(), salt.length)
  return cryptText(name, stretch(name, start, p, s, rounds))
}

/** The rounds of crypt(3): every one hashes the result of the last with password and salt, in one of 8 orders. */
function stretch(name: Hash, start: Uint8Array, password: Buffer, salt: Buffer, rounds: number): Uint8Array {
  const none = Buffer.alloc(0)
  const result = Buffer.alloc(sizes[name])
  const inputs = Array.from({ length: 42 }, (_, round) => {
    const before = round & 1 ? password : result
    const after = round & 1 ? result : password
    const middle = [round % 3 === 0 ? none : salt, round % 7 === 0 ? none : password]
    const at = round & 1 ? password.length + middle[0]!.length + middle[1]!.length : 0
    return { bytes: Buffer.concat([before, ...(middle as Buffer[]), after]), at }
  })
  result.set(start)
  for (let round = 0; round < rounds; round++) {
    const { bytes, at } = inputs[round % 42] as (typeof inputs)[number]
    bytes.set(result, at)
    into[name](bytes, result)
  }
  return result
}
