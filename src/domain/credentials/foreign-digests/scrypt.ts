/** The spellings of scrypt, and Firebase's cipher with a key that scrypt makes. */
import { isScryptBounded } from '../../foundation/hashing/digest.ts'
import {
  type ForeignPassword,
  fromBase64,
  type RefusedPassword,
  refused,
  toBase64,
} from './foreign-password.ts'
import { fromHex } from './pbkdf2.ts'

const PHC = /^\$scrypt\$ln=(\d{1,9}),r=(\d{1,7}),p=(\d{1,7})\$([A-Za-z0-9+/=]*)\$([A-Za-z0-9+/=]+)$/
const WERKZEUG = /^scrypt:(\d{1,9}):(\d{1,7}):(\d{1,7})\$([^$]{1,200})\$([0-9a-f]+)$/
const DJANGO = /^scrypt\$(\d{1,9})\$([^$]{1,200})\$(\d{1,7})\$(\d{1,7})\$([A-Za-z0-9+/=]+)$/
const BETTER_AUTH = /^([0-9a-f]{32}):([0-9a-f]{128})$/
const FIREBASE =
  /^\$fbscrypt\$v=1,n=(\d{1,2}),r=(\d{1,7}),p=(\d{1,7})(?:,ss=([\w+/=-]*))?,sk=([\w+/=-]+)\$([\w+/=-]+)\$([\w+/=-]+)$/
/** Above it, Kratos writes N in the place of its logarithm. */
const LARGEST_LOG = 63
const SHORTEST_KEY = 12

export function readScrypt(hash: string): ForeignPassword | RefusedPassword | null {
  const phc = PHC.exec(hash)
  if (phc) {
    const ln = Number(phc[1])
    const n = ln > LARGEST_LOG ? ln : 2 ** ln
    return stored(n, phc[2], phc[3], fromBase64(phc[4] as string), fromBase64(phc[5] as string))
  }
  const werkzeug = WERKZEUG.exec(hash)
  if (werkzeug) {
    const [, n, r, p, salt, key] = werkzeug as unknown as string[]
    return stored(Number(n), r, p, Buffer.from(salt as string), fromHex(key as string))
  }
  const django = DJANGO.exec(hash)
  if (django) {
    const [, n, salt, r, p, key] = django as unknown as string[]
    return stored(Number(n), r, p, Buffer.from(salt as string), fromBase64(key as string))
  }
  // It hashes the salt as the text that it stores.
  const better = BETTER_AUTH.exec(hash)
  if (better) return stored(16_384, '16', '1', Buffer.from(better[1] as string), fromHex(better[2] as string))
  return readFirebase(hash)
}

function readFirebase(hash: string): ForeignPassword | RefusedPassword | null {
  const found = FIREBASE.exec(hash)
  if (found === null) return null
  const [, n, r, p, separator = '', ...rest] = found as unknown as string[]
  const [ss, sk, salt, key] = [separator, ...rest].map(fromBase64)
  if (!ss || !sk || !salt || !key || key.length !== sk.length) return refused('unsupported_hash')
  const parameters = numbers(2 ** Number(n), r, p)
  if (typeof parameters !== 'string') return parameters
  return { digest: `$fbscrypt$${parameters}$${[salt, ss, sk, key].map(toBase64).join('$')}` }
}

function stored(
  n: number,
  r: string | undefined,
  p: string | undefined,
  salt: Buffer | null,
  key: Buffer | null,
) {
  if (salt === null || key === null || key.length < SHORTEST_KEY || key.length > 75 || salt.length > 512)
    return refused('unsupported_hash')
  const parameters = numbers(n, r, p)
  if (typeof parameters !== 'string') return parameters
  return { digest: `$scrypt$${parameters}$${toBase64(salt)}$${toBase64(key)}` }
}

function numbers(n: number, r: string | undefined, p: string | undefined): string | RefusedPassword {
  const [blockSize, lanes] = [Number(r), Number(p)]
  if (n < 2 || !Number.isInteger(Math.log2(n)) || blockSize === 0 || lanes === 0)
    return refused('unsupported_hash')
  if (!isScryptBounded(n, blockSize, lanes)) return refused('hash_too_costly')
  return `ln=${Math.log2(n)},r=${blockSize},p=${lanes}`
}
