/**
 * Challenges that are kept nowhere. A challenge carries its own expiry and a MAC under the server secret over its
 * purpose, so that asking for options writes nothing, however often it is done. Only a challenge that was used is
 * remembered, until it would have expired anyway (store.ts).
 *
 * Layout, 72 bytes: expiry in milliseconds (8), random (32), HMAC-SHA-256 (32). The random part doubles as the user
 * handle of an account that registers its first passkey.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { AcceptedSecret, ServerSecret } from '../../../platform/secret.ts'

/**
 * The purpose of a challenge: nobody in particular, or one session of an account. A challenge of one kind is never
 * taken for another.
 */
export type ChallengePurpose =
  | { kind: 'login' }
  | {
      /** `proved_registration`: asked for with more than a session. */
      kind: 'registration' | 'proved_registration' | 'step_up' | 'second_factor'
      accountUuid: string
      sessionId: string
    }

export interface OpenedChallenge {
  /** SHA-256 of the challenge, under which a spent one is remembered. */
  hash: Uint8Array
  random: Uint8Array
  expiresAt: Date
}

export const CHALLENGE_LIFETIME_MS = 5 * 60_000

const RANDOM_AT = 8
const MAC_AT = 40
const LENGTH = 72

export type Challenges = ReturnType<typeof createChallenges>

export function createChallenges({ secret, clock }: { secret: ServerSecret; clock: Clock }) {
  const macOf = (by: AcceptedSecret, signed: Uint8Array, purpose: ChallengePurpose) =>
    purpose.kind === 'login'
      ? by.tag('passkey challenge', 'login', signed)
      : by.tag('passkey challenge', purpose.kind, purpose.accountUuid, purpose.sessionId, signed)

  return {
    create(purpose: ChallengePurpose): Uint8Array {
      const signed = Buffer.alloc(MAC_AT)
      signed.writeBigUInt64BE(BigInt(clock.now().getTime() + CHALLENGE_LIFETIME_MS))
      randomBytes(MAC_AT - RANDOM_AT).copy(signed, RANDOM_AT)
      return Buffer.concat([signed, macOf(secret.current, signed, purpose)])
    },
    /** The 32 random bytes of a challenge that `create` made. */
    randomOf: (challenge: Uint8Array): Uint8Array => challenge.subarray(RANDOM_AT, MAC_AT),
    /** Null for a challenge that is not ours, was given for something else, or has expired. */
    open(challenge: Uint8Array, purpose: ChallengePurpose): OpenedChallenge | null {
      if (challenge.length !== LENGTH) return null
      const bytes = Buffer.from(challenge)
      const signed = bytes.subarray(0, MAC_AT)
      const mac = bytes.subarray(MAC_AT)
      if (!secret.accepted.some((by) => timingSafeEqual(mac, macOf(by, signed, purpose)))) return null
      const expiresAtMs = Number(signed.readBigUInt64BE())
      if (expiresAtMs <= clock.now().getTime()) return null
      return {
        hash: createHash('sha256').update(bytes).digest(),
        random: signed.subarray(RANDOM_AT),
        expiresAt: new Date(expiresAtMs),
      }
    },
  }
}
