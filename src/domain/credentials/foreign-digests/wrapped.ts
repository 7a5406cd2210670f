/**
 * Hashes that are too fast by themselves: phpass, crypt(3), those of LDAP, plain digests. Stored is Argon2id of the text
 * that the old system stored beside the salt.
 */
import { bounds } from '../../foundation/hashing/digest.ts'
import {
  type ForeignPassword,
  fromBase64,
  type RefusedPassword,
  refused,
  toBase64,
} from './foreign-password.ts'

const PHPASS = /^\$([PHS])\$([./0-9A-Za-z])([./0-9A-Za-z]{8})([./0-9A-Za-z]{22}|[./0-9A-Za-z]{43})$/
const CRYPT =
  /^\$(1|5|6)\$(?:rounds=(\d{1,9})\$)?([./0-9A-Za-z]{0,16})\$([./0-9A-Za-z]{22}|[./0-9A-Za-z]{43}|[./0-9A-Za-z]{86})$/
const LDAP = /^\{(SHA|SSHA|MD5|SMD5|SSHA256|SSHA512)\}([A-Za-z0-9+/=]+)$/i
const ITOA64 = './0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

type Name = 'md5' | 'sha1' | 'sha256' | 'sha512'
const hashBytes: Record<Name, number> = { md5: 16, sha1: 20, sha256: 32, sha512: 64 }

/** The digest is `$wrapped-KIND$n=…,m=…,t=…,p=…$VARIANT$inner salt$salt$hash`. */
export function wrapped(
  kind: string,
  rounds: number,
  variant: string,
  salt: Uint8Array | string,
  inner: string,
): ForeignPassword {
  const start = `$wrapped-${kind}$${rounds > 0 ? `n=${rounds},` : ''}`
  return {
    inner,
    wrap(argon2id) {
      const [parameters, outerSalt, hash] = argon2id.split('$').slice(3)
      return `${start}${parameters}$${variant}$${toBase64(salt)}$${outerSalt}$${hash}`
    },
  }
}

export function readFastHash(hash: string): ForeignPassword | RefusedPassword | null {
  const crypt = /^\{CRYPT\}/i.test(hash) ? hash.slice('{CRYPT}'.length) : hash
  return readPhpass(hash) ?? readCrypt(crypt) ?? readLdap(hash)
}

function readPhpass(hash: string): ForeignPassword | RefusedPassword | null {
  const found = PHPASS.exec(hash)
  if (found === null) return null
  const [, ident, count, salt, inner] = found as unknown as [string, string, string, string, string]
  const isDrupal = ident === 'S'
  const log = ITOA64.indexOf(count)
  if (log < 7 || log > 30 || inner.length !== (isDrupal ? 43 : 22)) return refused('unsupported_hash')
  if (2 ** log > bounds.phpassRounds) return refused('hash_too_costly')
  // WordPress trims what is typed.
  return wrapped(`phpass-${isDrupal ? 'sha512' : 'md5'}`, 2 ** log, ident === 'P' ? 'trim' : '', salt, inner)
}

const crypts: Record<string, { name: Name; length: number; salt: number }> = {
  1: { name: 'md5', length: 22, salt: 8 },
  5: { name: 'sha256', length: 43, salt: 16 },
  6: { name: 'sha512', length: 86, salt: 16 },
}
const CRYPT_MD5_ROUNDS = 1000
const CRYPT_SHA_ROUNDS = 5000
const FEWEST_ROUNDS = 1000

function readCrypt(hash: string): ForeignPassword | RefusedPassword | null {
  const found = CRYPT.exec(hash)
  if (found === null) return null
  const [, id, rounds, salt, inner] = found as unknown as [string, string, string | undefined, string, string]
  const { name, length, salt: longest } = crypts[id] as (typeof crypts)[string]
  if (inner.length !== length || salt.length > longest || (name === 'md5' && rounds !== undefined))
    return refused('unsupported_hash')
  const number = Number(rounds ?? (name === 'md5' ? CRYPT_MD5_ROUNDS : CRYPT_SHA_ROUNDS))
  if (number < FEWEST_ROUNDS) return refused('unsupported_hash')
  if (number > bounds.cryptRounds) return refused('hash_too_costly')
  return wrapped(`crypt-${name}`, number, '', salt, inner)
}

function readLdap(hash: string): ForeignPassword | RefusedPassword | null {
  const found = LDAP.exec(hash)
  if (found === null) return null
  const scheme = (found[1] as string).toLowerCase()
  const isSalted = scheme.startsWith('ss') || scheme === 'smd5'
  const name = ({ sha: 'sha1', ssha: 'sha1', md5: 'md5', smd5: 'md5' }[scheme] ?? scheme.slice(1)) as Name
  const bytes = fromBase64(found[2] as string)
  const length = hashBytes[name]
  if (bytes === null || (isSalted ? bytes.length <= length || bytes.length > 512 : bytes.length !== length))
    return refused('unsupported_hash')
  return plain(name, 'ps', bytes.subarray(length), bytes.subarray(0, length))
}

const plain = (name: Name, order: 'sp' | 'ps', salt: Uint8Array | string, hash: Buffer) =>
  wrapped('digest', 0, `${name},${order}`, salt, hash.toString('hex'))

interface PlainDigest {
  algorithm: string
  hash: string
  salt?: string
  encoding?: string
  order?: string
}

/** `{algorithm, hash, salt?, encoding?, order?}`. */
export function readPlainDigest({ algorithm, hash, salt, encoding = 'hex', order }: PlainDigest) {
  if (!Object.hasOwn(hashBytes, algorithm)) return refused('unsupported_hash')
  const name = algorithm as Name
  const orders: Record<string, 'sp' | 'ps'> = { salt_password: 'sp', password_salt: 'ps' }
  const ordered = order === undefined ? undefined : Object.hasOwn(orders, order) && orders[order]
  if (ordered === false || (salt !== undefined) !== (ordered !== undefined) || (salt ?? '').length > 500)
    return refused('invalid_value')
  if (encoding !== 'hex' && encoding !== 'base64') return refused('invalid_value')
  const bytes = encoding === 'hex' ? hexBytes(hash) : fromBase64(hash)
  if (bytes?.length !== hashBytes[name]) return refused('invalid_value')
  return plain(name, ordered ?? 'ps', salt ?? '', bytes)
}

const hexBytes = (text: string) => (/^[0-9a-fA-F]+$/.test(text) ? Buffer.from(text, 'hex') : null)
