/** The rules for new passwords. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { maskDigest, parseDigest } from '../../src/domain/foundation/hashing/digest.ts'
import {
  checkPassword,
  createPasswordRules,
  normalizePassword,
} from '../../src/domain/foundation/hashing/password.ts'
import { type Identifier, parseIdentifier } from '../../src/domain/foundation/identifiers/identifier.ts'
import type { Config } from '../../src/platform/config/types.ts'
import { cheapest } from '../helpers/timing.ts'

setDefaultTimeout(20_000)

const email = parseIdentifier('Alice.Smith@Example.com', 'FR') as Identifier
const phone = parseIdentifier('06 12 34 56 78', 'FR') as Identifier
const rules = createPasswordRules(
  { password: { minimumLength: 8 }, server: { baseUrl: 'https://auth.lake-bank.example' } } as Config,
  'Crédit du Lac',
)
const check = (password: string, identifiers: Identifier[] = [email, phone]) =>
  checkPassword(password, password, identifiers, rules)
const weak = (reason: string) => [
  { field: 'password', code: 'weak_password', reason, ...(reason === 'too_short' && { minimum: 8 }) },
]

describe('a new password', () => {
  test.each([
    ['of eight code points', 'tk4-Zq!8'],
    ['of eight code points outside the BMP', '🦊🐙🌵🎻🚲🧭🪁🥨'],
    ['of 256 code points', 'xY7 '.repeat(64)],
    ['of words and spaces', 'correct horse battery staple'],
    ['in another script', 'пароль-для-меня'],
    ['with control characters but NUL', 'tab\there\nand'],
    ['of a row of keys and digits that nobody guesses', 'azerty4902718'],
    ['that only contains the identifier', 'alice.smith@example.com and more'],
    ['that only contains the name of the service', 'credit du lac and more'],
    ['with the name of the service and more than a year', 'Poterne 4902718'],
    ['eight times one that no keyboard has', '🦊'.repeat(8)],
    ['longer than anybody calls common', 'a'.repeat(64)],
    ['as long as it may be', 'a'.repeat(256)],
  ])('%s is accepted', (_, password) => {
    expect(check(password)).toEqual([])
  })

  test.each([
    ['', 'too_short'],
    ['tk4-Zq!', 'too_short'],
    ['🦊🐙🌵🎻🚲🧭🪁', 'too_short'],
    // Eight code points as typed, seven once composed.
    ['e\u0301tk4-Zq', 'too_short'],
    ['password', 'common'],
    ['PassWord', 'common'],
    ['ｐａｓｓｗｏｒｄ', 'common'],
    ['iloveyou', 'common'],
    ['qwertyuiop', 'common'],
    ['azerty123456', 'common'],
    ['Azerty12!', 'common'],
    ['4321motdepasse', 'common'],
    ['aaaaaaaaaaaaaaaaaaaaa', 'common'],
    ['0123456789012345', 'common'],
    ['3210987654', 'common'],
    ['abcdefghijk', 'common'],
    ['１２３４５６７８９', 'common'],
    ['alice.smith@example.com', 'is_identifier'],
    ['ALICE.SMITH@EXAMPLE.COM', 'is_identifier'],
    [' Alice.Smith@Example.com ', 'is_identifier'],
    ['ａｌｉｃｅ.smith@example.com', 'is_identifier'],
    ['Alice.Smith', 'is_identifier'],
    ['+33612345678', 'is_identifier'],
    ['0612345678', 'is_identifier'],
    ['06.12.34.56.78', 'is_identifier'],
    ['0033 6 12 34 56 78', 'is_identifier'],
    ['33612345678', 'is_identifier'],
    ['612345678', 'is_identifier'],
    ['12345678', 'is_identifier'],
    ['Crédit du Lac', 'is_service_name'],
    ['CRÉDITDULAC', 'is_service_name'],
    ['ｃｒéｄｉｔ-ｄｕ-ｌａｃ', 'is_service_name'],
    ['cre\u0301dit du lac', 'is_service_name'],
    ['auth.lake-bank.example', 'is_service_name'],
    ['https://auth.lake-bank.example/'.slice(8), 'is_service_name'],
    ['LakeBank', 'is_service_name'],
    ['lake-bank.example', 'is_service_name'],
    ['poterne!', 'is_service_name'],
    ['PoternePoterne', 'is_service_name'],
    ['Poterne2026', 'is_service_name'],
    ['poterne crédit du lac', 'is_service_name'],
  ])('%p is weak: %s', (password, reason) => {
    expect(check(password)).toEqual(weak(reason) as never)
  })

  test('that is a run of digits is common for whoever it is not the number of', () => {
    expect(check('12345678', [email])).toEqual(weak('common') as never)
  })

  test.each([
    ['of 257 code points', `${'xY7 '.repeat(64)}z`, 'too_long'],
    ['that only normalising makes too long', '\ufdfa'.repeat(40), 'too_long'],
    ['of a megabyte', 'xY7 '.repeat(262144), 'too_long'],
    ['with NUL', 'tk4-Zq!8\0', 'invalid_characters'],
    ['with a lone surrogate', 'tk4-Zq!8\ud800', 'invalid_characters'],
    ['with a reversed pair', 'tk4-Zq!8\udc00\ud800', 'invalid_characters'],
  ])('%s is refused', (_, password, code) => {
    expect(check(password)).toEqual([{ field: 'password', code: code as 'too_long' }])
  })

  test('must be confirmed by the same password, however it was composed', () => {
    expect(checkPassword('tk4-Zq!8', 'tk4-Zq!9', [], rules)).toEqual([
      { field: 'password_confirmation', code: 'password_mismatch' },
    ])
    expect(checkPassword('tk4-Zq!8', '', [], rules)).toEqual([
      { field: 'password_confirmation', code: 'password_mismatch' },
    ])
    expect(checkPassword('tk4-Zqé8', 'tk4-Zqe\u03018', [], rules)).toEqual([])
  })

  test('that is weak and not confirmed tells both', () => {
    expect(checkPassword('short', 'shorT', [], rules).map(({ code }) => code)).toEqual([
      'weak_password',
      'password_mismatch',
    ])
  })

  test('must be as long as the configuration asks', () => {
    expect(checkPassword('tk4-Zq!8', 'tk4-Zq!8', [], { ...rules, minimumLength: 12 })).toEqual([
      { field: 'password', code: 'weak_password', reason: 'too_short', minimum: 12 },
    ])
  })

  test('is checked in under 20 ms even when it is 64 KB long', () => {
    for (const piece of ['a', 'e\u0301', '\ufdfa', '1', '\n']) {
      const password = piece.repeat(65536 / piece.length)
      expect(check(password)).toHaveLength(1)
      expect(cheapest(() => check(password), 20)).toBeLessThan(20)
    }
  })
})

test('composed and decomposed letters have one form', () => {
  expect(normalizePassword('e\u0301te\u0301')).toEqual(normalizePassword('\u00e9t\u00e9'))
})

describe('a stored digest', () => {
  const argon2id =
    '$argon2id$v=19$m=19456,t=2,p=1$S/8W16ud8yYqwhFzKrXrOg$Jk03+X4HEWm2jSK6crieKBX2jmTz5UjQDLvX1xQR0ic'
  const bcrypt = '$2b$12$EixZaYVK1fsbw1ZfbX3OXePaWxn96p36WQoeG6Lruj3vjPGga31lW'

  test('is shown without salt and hash', () => {
    expect(maskDigest(argon2id)).toBe('$argon2id$v=19$m=19456,t=2,p=1$…')
    expect(maskDigest(bcrypt)).toBe('$2b$12$…')
    expect(maskDigest('anything else')).toBe('…')
    expect(maskDigest(null)).toBe('')
  })

  test('says what work it asks for', () => {
    expect(parseDigest(argon2id)).toEqual({
      family: 'argon2id$v=19$m=19456,t=2,p=1',
      number: 0,
      memoryKib: 19456,
    })
    expect(parseDigest(bcrypt)).toMatchObject({ family: 'bcrypt', number: 12 })
  })

  test.each([
    ['nothing', ''],
    ['plain text', 'password'],
    ['more than 256 MiB', argon2id.replace('m=19456', 'm=262145')],
    ['a number that overflows', argon2id.replace('m=19456', 'm=99999999999999')],
    ['more than ten iterations', argon2id.replace('t=2', 't=11')],
    ['too many lanes', argon2id.replace('p=1', 'p=17')],
    ['less memory than its lanes need', argon2id.replace('m=19456', 'm=4')],
    ['another version', argon2id.replace('v=19', 'v=16')],
    ['no salt', '$argon2id$v=19$m=19456,t=2,p=1$$Jk03+X4HEWm2jSK6crieKBX2jmTz5UjQDLvX1xQR0ic'],
    ['something behind it', `${argon2id}\n`],
    ['a bcrypt cost of 15', bcrypt.replace('$12$', '$15$')],
    ['the name of bcrypt with a mistake', bcrypt.replace('$2b$', '$2x$')],
    ['a bcrypt digest cut short', bcrypt.slice(0, -1)],
  ])('with %s is none', (_, digest) => {
    expect(parseDigest(digest)).toBeNull()
  })

  test('may ask for the work at the bounds, or for that of the configuration', () => {
    const most = argon2id.replace('m=19456,t=2,p=1', 'm=262144,t=10,p=16')
    expect(parseDigest(most)).toMatchObject({ family: 'argon2id$v=19$m=262144,t=10,p=16' })
    expect(parseDigest(bcrypt.replace('$12$', '$14$'))).toMatchObject({ number: 14 })
    const large = argon2id.replace('m=19456,t=2', 'm=524288,t=20')
    expect(parseDigest(large, { memoryKib: 524_288, iterations: 20 })).toMatchObject({ memoryKib: 524_288 })
    expect(parseDigest(large, { memoryKib: 524_288, iterations: 19 })).toBeNull()
  })
})
