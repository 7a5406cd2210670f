/** The spellings of PBKDF2. */
import { bounds } from '../../foundation/hashing/digest.ts'
import {
  type ForeignPassword,
  fromBase64,
  type RefusedPassword,
  refused,
  toBase64,
} from './foreign-password.ts'
import { wrapped } from './wrapped.ts'

type Name = 'sha1' | 'sha256' | 'sha512'

interface Pbkdf2 {
  name: Name
  rounds: number
  salt: Uint8Array | null
  key: Uint8Array | null
}

const hashBytes: Record<Name, number> = { sha1: 20, sha256: 32, sha512: 64 }
/** Fewer rounds are too fast by themselves. */
const FEW_ROUNDS = 10_000
/** Shorter keys would be opened by other passwords, too. */
const SHORTEST_KEY = 12

const DJANGO = /^pbkdf2_(sha1|sha256)\$(\d{1,9})\$([^$]{1,200})\$([A-Za-z0-9+/=]+)$/
const PASSLIB = /^\$pbkdf2(?:-(sha256|sha512))?\$(\d{1,9})\$([A-Za-z0-9./]*)\$([A-Za-z0-9./]+)$/
const KRATOS =
  /^\$pbkdf2-(sha1|sha256|sha512)\$i=(\d{1,9}),l=(\d{1,3})\$([A-Za-z0-9+/=]+)\$([A-Za-z0-9+/=]+)$/
const WERKZEUG = /^pbkdf2:(sha1|sha256|sha512):(\d{1,9})\$([^$]{1,200})\$([0-9a-f]+)$/
const LDAP = /^\{PBKDF2(?:-SHA(1|256|512))?\}(\d{1,9})\$([A-Za-z0-9./]*)\$([A-Za-z0-9./]+)$/i

export function readPbkdf2(hash: string): ForeignPassword | RefusedPassword | null {
  const found = spelled(hash) ?? ofAspNet(hash)
  return found && stored(found)
}

function spelled(hash: string): Pbkdf2 | null {
  const django = DJANGO.exec(hash)
  if (django)
    return of(django[1], django[2], Buffer.from(django[3] as string), fromBase64(django[4] as string))
  const passlib = PASSLIB.exec(hash)
  if (passlib)
    return of(passlib[1], passlib[2], fromBase64(passlib[3] as string), fromBase64(passlib[4] as string))
  const kratos = KRATOS.exec(hash)
  if (kratos) {
    const key = fromBase64(kratos[5] as string)
    return of(
      kratos[1],
      kratos[2],
      fromBase64(kratos[4] as string),
      key?.length === Number(kratos[3]) ? key : null,
    )
  }
  const werkzeug = WERKZEUG.exec(hash)
  if (werkzeug)
    return of(werkzeug[1], werkzeug[2], Buffer.from(werkzeug[3] as string), fromHex(werkzeug[4] as string))
  const ldap = LDAP.exec(hash)
  return (
    ldap && of(`sha${ldap[1] ?? 1}`, ldap[2], fromBase64(ldap[3] as string), fromBase64(ldap[4] as string))
  )
}

const of = (
  name = 'sha1',
  rounds: string | undefined,
  salt: Uint8Array | null,
  key: Uint8Array | null,
): Pbkdf2 => ({
  name: name as Name,
  rounds: Number(rounds),
  salt,
  key,
})

export const fromHex = (text: string) => (text.length % 2 === 0 ? Buffer.from(text, 'hex') : null)

/** ASP.NET Identity: base64 of its own header, salt and key. */
function ofAspNet(hash: string): Pbkdf2 | null {
  const bytes = /^A[A-Za-z0-9+/=]{20,400}$/.test(hash) ? fromBase64(hash) : null
  if (bytes?.[0] === 0 && bytes.length === 49)
    return { name: 'sha1', rounds: 1000, salt: bytes.subarray(1, 17), key: bytes.subarray(17) }
  if (bytes?.[0] !== 1 || bytes.length < 13) return null
  const [prf, rounds, saltBytes] = [1, 5, 9].map((at) => bytes.readUInt32BE(at)) as [number, number, number]
  const name = (['sha1', 'sha256', 'sha512'] as const)[prf]
  if (name === undefined || saltBytes > bytes.length - 13) return null
  return { name, rounds, salt: bytes.subarray(13, 13 + saltBytes), key: bytes.subarray(13 + saltBytes) }
}

/** The first block says as much as all of them: an attacker would compute no more. So only that one is stored. */
function stored({ name, rounds, salt, key }: Pbkdf2): ForeignPassword | RefusedPassword {
  if (salt === null || key === null || key.length < SHORTEST_KEY || rounds === 0)
    return refused('unsupported_hash')
  if (salt.length > 512 || key.length > 512) return refused('unsupported_hash')
  const blocks = Math.ceil(key.length / hashBytes[name])
  if (rounds * blocks > bounds.pbkdf2) return refused('hash_too_costly')
  const block = key.subarray(0, hashBytes[name])
  if (rounds >= FEW_ROUNDS)
    return { digest: `$pbkdf2-${name}$n=${rounds}$${toBase64(salt)}$${toBase64(block)}` }
  return wrapped(`pbkdf2-${name}`, rounds, `l${block.length}`, salt, Buffer.from(block).toString('hex'))
}
