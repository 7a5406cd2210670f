/** The form of refresh tokens, and who can read them. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { createRefreshTokens } from '../../src/domain/sessions/tokens/refresh-token.ts'
import { createServerSecret } from '../../src/platform/secret.ts'
import { seed } from '../random/seed.ts'

setDefaultTimeout(20_000)

const tokens = createRefreshTokens(createServerSecret(Buffer.alloc(32, 1)))
const others = createRefreshTokens(createServerSecret(Buffer.alloc(32, 2)))

describe('a refresh token', () => {
  test('is 64 hexadecimal digits, never the same twice, and is read back', () => {
    const token = tokens.create()
    const text = tokens.write(token)
    expect(text).toMatch(/^[0-9a-f]{64}$/)
    expect(tokens.read(text)).toEqual({ ...token, family: Buffer.from(token.family) })
    expect(token.generation).toBe(0)
    expect(tokens.write(tokens.create())).not.toBe(text)
  })

  test('looks random in each of its digits, from family to family and from generation to generation', () => {
    const { family } = tokens.create()
    const families = Array.from({ length: 400 }, () => tokens.write(tokens.create()))
    const generations = Array.from({ length: 400 }, (_, generation) => tokens.write({ family, generation }))
    for (const texts of [families, generations]) {
      for (let index = 0; index < 64; index++) {
        // One digit of 16 is missing among 400 in 1 of 10 to the 10 cases.
        expect(new Set(texts.map((text) => text[index])).size).toBe(16)
      }
    }
  })

  test('has one successor, of the same family, that nobody sees the family in', () => {
    const { family, familyHash, generation } = tokens.create()
    const [one, again] = [1, 1].map((step) => tokens.write({ family, generation: generation + step }))
    expect(one).toBe(again!)
    expect(tokens.read(one!)).toMatchObject({ generation: 1, familyHash })
    expect(one).not.toContain(Buffer.from(family).toString('hex'))
  })

  test('shows the database only the hash of what it has in common with its successors', () => {
    const { family, familyHash } = tokens.create()
    expect(Buffer.from(familyHash).toString('hex')).toBe(createHash('sha256').update(family).digest('hex'))
  })

  test('of another server secret is none', () => {
    expect(others.read(tokens.write(tokens.create()))).toBeNull()
  })

  test('with any digit changed, and any other text, is none', () => {
    const text = tokens.write(tokens.create())
    const oneChanged = fc
      .tuple(fc.nat(63), fc.constantFrom(...'0123456789abcdefABCDEF g'))
      .filter(([index, digit]) => text[index] !== digit)
      .map(([index, digit]) => text.slice(0, index) + digit + text.slice(index + 1))
    const digits = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString('hex'))
    fc.assert(
      fc.property(fc.oneof(oneChanged, digits, fc.string({ unit: 'binary' })), (other) => {
        expect(tokens.read(other)).toBeNull()
      }),
      { seed, numRuns: 2000 },
    )
    for (const other of [`${text}\n`, ` ${text}`, text.toUpperCase(), `${text}00`, '']) {
      expect(other === text ? null : tokens.read(other)).toBeNull()
    }
  })
})
