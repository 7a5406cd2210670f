/** Digests that other programs made (helpers/foreign-digests.json): read, stored, opened, and replaced by our own. */
import { afterAll, afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readForeignPassword } from '../../src/domain/credentials/foreign-digests/read-digest.ts'
import { familyOf, maskDigest, parseDigest, showDigest } from '../../src/domain/foundation/hashing/digest.ts'
import { createHashService } from '../../src/domain/foundation/hashing/service.ts'
import made from '../helpers/foreign-digests.json'

setDefaultTimeout(180_000)

const configured = { memoryKib: 1024, iterations: 1 }
const options = { ...configured, concurrency: 1, queue: 64, reserved: 0 }
const startHashing = () => createHashService({ ...options, store: { listFamilies: async () => [] } })
/** A new one for each test: it learns each family that it sees, and a wrong password costs all of them. */
let hashing = startHashing()
afterEach(() => {
  hashing.close()
  hashing = startHashing()
})
afterAll(() => hashing.close())

async function store(password: unknown): Promise<string> {
  const read = readForeignPassword(password, configured)
  if ('refused' in read) throw new Error(read.refused)
  return 'digest' in read ? read.digest : read.wrap(await hashing.wrap(read.inner))
}

const readOf = (password: unknown) => {
  const read = readForeignPassword(password, configured)
  return 'refused' in read ? read.refused : 'taken'
}

describe('the digest of another program', () => {
  test.each(
    made.map(({ by, hash, ...rest }, index) => [
      `${by} (${index}): ${hash.slice(0, 24)}`,
      { by, hash, ...rest },
    ]),
  )(
    'by %s is opened by its password, which makes one of our own',
    async (_, { by, password, trims, ...fields }: Record<string, unknown>) => {
      const digest = await store(fields)
      const typed = password as string
      expect(parseDigest(digest, configured)).not.toBeNull()
      // Stored again, as an export gives it, it is the same.
      expect(await store({ hash: digest })).toBe(digest)
      for (const wrong of [`!${typed.slice(1)}`, 'x', ''])
        expect([wrong, (await hashing.check(wrong, digest)).right]).toEqual([wrong, false])
      const { right, newDigest } = await hashing.check(typed, digest)
      expect(right).toBe(true)
      expect(newDigest).toStartWith(`$${familyOf(configured)}$`)
      expect((await hashing.check(typed, newDigest)).right).toBe(true)
      if (trims) expect((await hashing.check(` \t${typed}\n`, digest)).right).toBe(true)
      else if (!/bytes/.test(by as string))
        expect((await hashing.check(` ${typed}`, digest)).right).toBe(false)
      // Kind and numbers are all that is ever shown.
      if (!digest.startsWith('$argon2id$')) {
        expect(showDigest(digest)).toBe(maskDigest(digest))
        expect(maskDigest(digest)).toMatch(/^\$[a-z0-9-]+\$(?:\d\d|[a-z]+=[a-z0-9=,]+|v=19\$[a-z0-9=,]+)\$…$/)
      }
    },
  )

  test('of 72 bytes is opened by what is longer, and our own is of the whole password', async () => {
    const of73 = made.find(({ by }) => by === '73 bytes')!
    const digest = await store({ hash: of73.hash })
    const cut = Buffer.from(of73.password).subarray(0, 72).toString()
    expect((await hashing.check(cut, digest)).right).toBe(true)
    const { newDigest } = await hashing.check(`${of73.password} and more`, digest)
    expect((await hashing.check(`${of73.password} and more`, newDigest)).right).toBe(true)
    expect((await hashing.check(cut, newDigest)).right).toBe(false)
  })

  test('is not opened without its pepper', async () => {
    const { hash, password } = made.find(({ by }) => by === 'Devise pepper')!
    expect((await hashing.check(password, await store({ hash }))).right).toBe(false)
    expect((await hashing.check(password, await store({ hash, pepper: 'another' }))).right).toBe(false)
  })
})

const bcrypt = '$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW'
const salt = 'c2FsdHNhbHRzYWx0c2FsdA'
const key = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const md5 = 'd41d8cd98f00b204e9800998ecf8427e'
const itoa = 'abcdefghijklmnopqrstuv'

describe('a hash', () => {
  test.each([
    ['$2x$', bcrypt.replace('$2b', '$2x')],
    ['$2$', bcrypt.replace('$2b', '$2')],
    ['of DES', 'abJnggxhB/yWI'],
    ['of yescrypt', '$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7'],
    ['of Argon2 1.0', `$argon2id$v=16$m=64,t=1,p=1$${salt}$${key}`],
    ['of Argon2 with a key', `$argon2id$v=19$m=64,t=1,p=1,keyid=AAAA$${salt}$${key}`],
    ['of Argon2 whose unused bits are set', `$argon2id$v=19$m=64,t=1,p=1$${salt}$${key.slice(0, -1)}B`],
    ['of Argon2 with too little memory', `$argon2id$v=19$m=7,t=1,p=1$${salt}$${key}`],
    ['that is empty', ''],
    ['that is text', 'password'],
    ['of bcrypt, cut short', bcrypt.slice(0, -1)],
    ['with a line break behind it', `${bcrypt}\n`],
    ['of bcrypt with cost 3', bcrypt.replace('$12$', '$03$')],
    ['of PBKDF2 without rounds', `pbkdf2_sha256$0$salt$${key}=`],
    ['of PBKDF2 with a short key', '$pbkdf2-sha256$i=20000,l=4$c2FsdA$AAAAAA'],
    ['of PBKDF2 with another length', `$pbkdf2-sha256$i=20000,l=64$c2FsdA$${key}`],
    ['of scrypt whose N is no power of two', `$scrypt$ln=1000,r=8,p=1$c2FsdA$${key}`],
    ['of ASP.NET with another version', Buffer.alloc(49, 2).toString('base64')],
    [
      'of ASP.NET whose salt is longer than it',
      Buffer.from([1, 0, 0, 0, 1, 0, 0, 99, 99, 9, 9, 9, 9, 1, 2, 3, 4, 5]).toString('base64'),
    ],
    ['of phpass with 2^31', `$P$T12345678${itoa}`],
    ['of phpass with 2^6', `$P$412345678${itoa}`],
    ['of crypt with a short hash', `$6$salt$${itoa}`],
    ['of LDAP with a short hash', '{SHA}AAAA'],
    ['of LDAP in clear', '{CLEARTEXT}secret'],
    ['of an unknown scheme', '{SHA3}AAAA'],
    ['of 100 KB', `$6$salt$${'a'.repeat(100_000)}`],
  ])('%s is not supported, or invalid', (_, hash) => {
    expect(readOf({ hash })).toMatch(/^(unsupported_hash|invalid_value)$/)
  })

  test.each([
    ['bcrypt 15', bcrypt.replace('$12$', '$15$')],
    ['Django bcrypt 31', `bcrypt_sha256$${bcrypt.replace('$12$', '$31$')}`],
    ['WordPress bcrypt 15', `$wp${bcrypt.replace('$12$', '$15$')}`],
    ['more than 256 MiB', `$argon2id$v=19$m=262145,t=1,p=1$${salt}$${key}`],
    ['eleven passes', `$argon2id$v=19$m=64,t=11,p=1$${salt}$${key}`],
    ['17 lanes', `$argon2d$v=19$m=6400,t=1,p=17$${salt}$${key}`],
    ['2,000,001 rounds', `pbkdf2_sha256$2000001$salt$${key}=`],
    ['1,000,001 rounds of two blocks', `$pbkdf2-sha256$i=1000001,l=64$c2FsdA$${'A'.repeat(86)}`],
    ['scrypt of 128 MiB', `$scrypt$ln=17,r=8,p=1$c2FsdA$${key}`],
    ['scrypt of too many lanes', `$scrypt$ln=14,r=8,p=9$c2FsdA$${key}`],
    ['scrypt of 2^40', `$scrypt$ln=40,r=8,p=1$c2FsdA$${key}`],
    ['Firebase of 2^30', `$fbscrypt$v=1,n=30,r=8,p=1,ss=Bw==,sk=AAAA$AAAA$AAAA`],
    ['1,000,001 rounds of crypt', `$5$rounds=1000001$salt$${'a'.repeat(43)}`],
    ['phpass of 2^21', `$P$J12345678${itoa}`],
    ['an own form of too many rounds', `$pbkdf2-sha1$n=2000001$c2FsdA$${key}`],
  ])('with %s is too costly', (_, hash) => {
    expect(readOf({ hash })).toBe('hash_too_costly')
  })

  test('may be as costly as the configuration itself', () => {
    const hash = `$argon2id$v=19$m=524288,t=20,p=1$${salt}$${key}`
    expect(readOf({ hash })).toBe('hash_too_costly')
    expect(readForeignPassword({ hash }, { memoryKib: 524_288, iterations: 20 })).toEqual({ digest: hash })
  })

  test.each([
    [null],
    ['text'],
    [[]],
    [{}],
    [{ hash: 1 }],
    [{ hash: bcrypt, salt: 'x' }],
    [{ hash: bcrypt, pepper: 'x'.repeat(300) }],
    [{ hash: bcrypt, pepper: '\ud800' }],
    [{ algorithm: 'md5', hash: md5, salt: 'x' }],
    [{ algorithm: 'md5', hash: md5, order: 'salt_password' }],
    [{ algorithm: 'md5', hash: md5, salt: 'x', order: 'constructor' }],
    [{ algorithm: 'md5', hash: `${md5}00` }],
    [{ algorithm: 'md5', hash: 'not hexadecimal at all, no, no!!' }],
    [{ algorithm: 'md5', hash: md5, encoding: 'base32' }],
    [{ algorithm: 'md5', hash: md5, pepper: 'x' }],
  ])('in %p is invalid', (password) => {
    expect(readOf(password)).toBe('invalid_value')
  })

  test('of an algorithm that has no place here is not supported', () => {
    for (const algorithm of ['md4', 'crc32', 'constructor', 'MD5'])
      expect(readOf({ algorithm, hash: md5 })).toBe('unsupported_hash')
    expect(readOf({ hash: `$argon2id$v=19$m=64,t=1,p=1$${salt}$${key}`, pepper: 'x' })).toBe(
      'unsupported_hash',
    )
  })
})
