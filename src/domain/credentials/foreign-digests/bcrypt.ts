/** The spellings of bcrypt, of the password or of a digest of it. */
import { bounds } from '../../foundation/hashing/digest.ts'
import { type ForeignPassword, type RefusedPassword, refused, toBase64 } from './foreign-password.ts'

const PLAIN = /^(?:bcrypt\$)?\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{53})$/
const OF_DJANGO = /^bcrypt_sha256\$\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{53})$/
const OF_PASSLIB = /^\$bcrypt-sha256\$v=2,t=2[aby],r=(\d{1,2})\$([./A-Za-z0-9]{22})\$([./A-Za-z0-9]{31})$/
const OF_WORDPRESS = /^\$wp\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{53})$/

export function readBcrypt(hash: string, pepper?: string): ForeignPassword | RefusedPassword | null {
  const plain = PLAIN.exec(hash)
  if (plain && pepper !== undefined) return prepared('pepper', toBase64(pepper), plain)
  if (pepper !== undefined) return null
  if (plain) return withCost(plain[1] as string, () => `$2b$${plain[1]}$${canonical(plain[2] as string)}`)
  const found: [string, RegExp][] = [
    ['sha256', OF_DJANGO],
    ['hmac-sha256', OF_PASSLIB],
    ['wordpress', OF_WORDPRESS],
  ]
  for (const [variant, pattern] of found) {
    const parts = pattern.exec(hash)
    if (parts) return prepared(variant, '', parts)
  }
  return null
}

const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Salt and hash, whose last characters have bits that do not count: Bun.password wants them to be zero. */
function canonical(text: string): string {
  const masked = (at: number, bits: number) => ALPHABET[ALPHABET.indexOf(text[at] as string) & bits] as string
  return text.slice(0, 21) + masked(21, 0b110000) + text.slice(22, 52) + masked(52, 0b111100)
}

function prepared(variant: string, extra: string, [, cost, ...rest]: RegExpExecArray) {
  const two = (cost as string).padStart(2, '0')
  return withCost(two, () => `$bcrypt$n=${two}$${variant}$${extra}$${canonical(rest.join(''))}`)
}

function withCost(cost: string, digest: () => string): ForeignPassword | RefusedPassword {
  if (Number(cost) < 4 || Number(cost) > 31) return refused('unsupported_hash')
  return Number(cost) > bounds.bcryptCost ? refused('hash_too_costly') : { digest: digest() }
}
