/** Challenges that are kept nowhere: only what this service gave, for that purpose, in the last five minutes. */
import { describe, expect, test } from 'bun:test'
import { type ChallengePurpose, createChallenges } from '../../src/domain/sign-in/passkeys/challenge.ts'
import { createServerSecret } from '../../src/platform/secret.ts'

const account = '7d1f7b58-2d2e-4c8f-9a8e-0a4f5be2a111'
const session = '0c7d6c3a-1d55-4f3c-8f37-6b9f0b8a2222'
const purposes: ChallengePurpose[] = [
  { kind: 'login' },
  { kind: 'registration', accountUuid: account, sessionId: session },
  { kind: 'step_up', accountUuid: account, sessionId: session },
  { kind: 'step_up', accountUuid: account, sessionId: account },
  { kind: 'step_up', accountUuid: session, sessionId: session },
]

function open(at = 0, secret = new Uint8Array(32)) {
  const clock = { now: () => new Date(1_800_000_000_000 + at) }
  return createChallenges({ secret: createServerSecret(secret), clock })
}

describe('a challenge', () => {
  test('is opened for what it was given for, and for nothing else', () => {
    const challenges = open()
    for (const given of purposes)
      for (const asked of purposes)
        expect(challenges.open(challenges.create(given), asked) !== null).toBe(given === asked)
  })

  test('lives for five minutes, in every process with the secret', () => {
    const challenge = open().create({ kind: 'login' })
    expect(open(299_999).open(challenge, { kind: 'login' })?.expiresAt).toEqual(new Date(1_800_000_300_000))
    expect(open(300_000).open(challenge, { kind: 'login' })).toBeNull()
    expect(open(0, new Uint8Array(32).fill(1)).open(challenge, { kind: 'login' })).toBeNull()
  })

  test('is never the same twice', () => {
    const challenges = open()
    const made = Array.from({ length: 100 }, () =>
      Buffer.from(challenges.create({ kind: 'login' })).toString('hex'),
    )
    expect(new Set(made).size).toBe(100)
  })

  test('that was changed in any byte, cut or made longer is none', () => {
    const challenges = open()
    const challenge = challenges.create({ kind: 'login' })
    for (let at = 0; at < challenge.length; at++) {
      const changed = Uint8Array.from(challenge)
      changed[at]! ^= 1
      expect(challenges.open(changed, { kind: 'login' })).toBeNull()
    }
    for (const length of [0, 1, 71])
      expect(challenges.open(challenge.slice(0, length), { kind: 'login' })).toBeNull()
    expect(challenges.open(Buffer.concat([challenge, Buffer.alloc(1)]), { kind: 'login' })).toBeNull()
  })
})
