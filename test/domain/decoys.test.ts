/** Stand-ins for what does not exist: they have the form of the real thing, and prove nothing. */
import { describe, expect, test } from 'bun:test'
import {
  decoyContact,
  decoyDigest,
  decoyIdentifier,
  decoyPassword,
  decoySubject,
} from '../../src/domain/foundation/decoys/decoys.ts'
import { parseDigest } from '../../src/domain/foundation/hashing/digest.ts'
import { parseIdentifier } from '../../src/domain/foundation/identifiers/identifier.ts'
import { createServerSecret } from '../../src/platform/secret.ts'

const secret = createServerSecret(new Uint8Array(32).fill(7))

describe('a decoy', () => {
  test.each(['', 'nonsense', ' A@B ', 'x'.repeat(5000), 'nobody'])(
    'for the identifier %j is no identifier itself, and no longer than a real one',
    (input) => {
      const { key, destination } = decoyIdentifier(input)
      expect(parseIdentifier(destination, 'FR')).toBeNull()
      expect(key.length).toBeLessThanOrEqual(254)
      expect(decoyIdentifier(` ${input.toUpperCase()} `).key).toBe(key)
    },
  )

  test('for a contact is nothing that a message could be sent to', () => {
    const { destination } = decoyContact(crypto.randomUUID())
    expect(parseIdentifier(destination, 'FR')).toBeNull()
  })

  test('for a subject has the form of a uuid, is the same for the same parts, and another under another secret', () => {
    const subject = decoySubject(secret, 'a@example.com')
    expect(subject).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    expect(decoySubject(secret, 'a@example.com')).toBe(subject)
    expect(decoySubject(secret, 'a@', 'example.com')).not.toBe(subject)
    expect(decoySubject(createServerSecret(new Uint8Array(32)), 'a@example.com')).not.toBe(subject)
  })

  test.each([
    ['argon2id$v=19$m=8,t=1,p=1', 0, '$argon2id$v=19$m=8,t=1,p=1$'],
    ['bcrypt', 4, '$2b$04$'],
  ])(
    'for a digest of %s costs its work, and the decoy password does not open it',
    async (family, number, start) => {
      const digest = decoyDigest(family, number)
      expect(parseDigest(digest)).not.toBeNull()
      expect(digest).toStartWith(start)
      expect(await Bun.password.verify(decoyPassword, digest)).toBe(false)
      expect(decoyDigest(family, number)).not.toBe(digest)
    },
  )
})
