/**
 * Decides when a signing key begins and ends. A new one is published a day before it signs, signs for 90 days, and
 * stays published until the last token it signed has expired. Knows the table, not what a process keeps in memory.
 */

import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import type { Ground } from '../../../platform/ground.ts'
import type { ServerSecret } from '../../../platform/secret.ts'
import type { KeyStore, PublicJwk, SigningAlgorithm, StoredKey } from './key-store.ts'

/** The label of the sealed private part. */
export const SEAL_LABEL = 'signing key'

/** NIST SP 800-57 has it last until 2030, and every library verifies it. */
const RSA_BITS = 2048

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** NIST SP 800-57 allows years for a private signature key. Ours is short, so that changing keys is routine. */
const SIGNS_FOR_MS = 90 * DAY_MS
/** Much longer than anybody should keep a copy of the published keys. */
const PUBLISHED_BEFORE_MS = DAY_MS
/** Time for replicas that notice late and for clocks that differ. */
const PUBLISHED_AFTER_MARGIN_MS = HOUR_MS
/** The clocks of replicas may differ by so much without one of them missing the successor of a revoked key. */
const CLOCK_MARGIN_MS = HOUR_MS

/** `removed`: no longer published; the row goes with the next new key. */
type KeyState = 'next' | 'signing' | 'superseded' | 'removed'

export interface KeyDescription
  extends Pick<StoredKey, 'kid' | 'createdAt' | 'signsFrom' | 'publishedUntil'> {
  algorithm: SigningAlgorithm
  state: KeyState
}

export interface KeyRotationOptions extends Pick<Ground, 'clock' | 'secret'> {
  store: KeyStore
  accessLifetimeSeconds: number
}

/**
 * The key that signs: the newest one whose time has begun. If there is none (the clock was set back), the oldest key,
 * since signing with a key too early is better than signing nothing.
 */
export function pickSigningKey<Key extends { signsFrom: Date }>(keys: readonly Key[], now: Date) {
  return keys.findLast((key) => key.signsFrom <= now) ?? keys[0]
}

export function isPublished(key: { publishedUntil: Date | null }, now: Date): boolean {
  return key.publishedUntil === null || key.publishedUntil > now
}

export function createKeyRotation(options: KeyRotationOptions) {
  const { store, secret, clock, accessLifetimeSeconds } = options
  const { algorithm } = store
  const publishedAfterMs = accessLifetimeSeconds * 1000 + PUBLISHED_AFTER_MARGIN_MS

  /** It returns null if another process added a key first. `revoked` is removed in the same step. */
  const addKey = async (keys: readonly StoredKey[], signsFrom: Date, now: Date, revoked?: StoredKey) => {
    const key = await makeKey(algorithm, secret, signsFrom, now)
    const current = pickSigningKey(keys, now)
    const signing = current === revoked ? undefined : current
    const goes = (other: StoredKey) =>
      other === revoked || (other !== signing && (other.signsFrom > now || !isPublished(other, now)))
    const added = await store.add({
      key,
      after: keys.at(-1)?.kid ?? null,
      remove: keys.filter(goes).map((other) => other.kid),
      revoked: revoked?.kid ?? null,
      supersedes: signing
        ? { kid: signing.kid, publishedUntil: new Date(signsFrom.getTime() + publishedAfterMs) }
        : null,
    })
    return added ? key : null
  }

  const describe = (key: StoredKey, keys: readonly StoredKey[], now: Date): KeyDescription => {
    const { kid, createdAt, signsFrom, publishedUntil } = key
    return { kid, algorithm, state: stateOf(key, keys, now), createdAt, signsFrom, publishedUntil }
  }

  return {
    /** Oldest first. */
    async list(): Promise<KeyDescription[]> {
      const keys = await store.list()
      return keys.map((key) => describe(key, keys, clock.now()))
    },
    /**
     * Adds a key that signs after a day, or at once. A key that was waiting to sign is withdrawn, since it has signed
     * nothing. This needs no private part of an old key, so it also works after the server secret was changed.
     */
    async rotate({ atOnce = false }: { atOnce?: boolean } = {}): Promise<KeyDescription> {
      for (;;) {
        const keys = await store.list()
        const now = clock.now()
        const earliest = (pickSigningKey(keys, now)?.signsFrom.getTime() ?? 0) + 1
        const wanted = now.getTime() + (atOnce || keys.length === 0 ? 0 : PUBLISHED_BEFORE_MS)
        const key = await addKey(keys, new Date(Math.max(wanted, earliest)), now)
        if (key) return describe(key, [...keys, key], now)
      }
    },
    /**
     * Withdraws a leaked key: it is not published any more, and nothing that it signed is accepted. The key that signs is
     * replaced by one that signs at once, and the next key by another next key (`successor`). It returns null if there is
     * no key of this name.
     */
    async revoke(kid: string): Promise<{ successor: KeyDescription | null } | null> {
      for (;;) {
        const keys = await store.list()
        const now = clock.now()
        const revoked = keys.find((key) => key.kid === kid)
        if (!revoked) return null
        const state = stateOf(revoked, keys, now)
        if (state === 'superseded' || state === 'removed') {
          await store.revoke(kid, now)
          return { successor: null }
        }
        const key = await addKey(keys, startOfSuccessor(revoked, keys, now), now, revoked)
        if (key) return { successor: describe(key, [...keys.filter((one) => one !== revoked), key], now) }
      }
    },
    /** All keys, after adding what is due: the very first, or a successor. Any number of processes may call it. */
    async maintain(): Promise<StoredKey[]> {
      for (;;) {
        const keys = await store.list()
        const now = clock.now()
        const signsFrom = dueSuccessor(keys, now)
        if (signsFrom === null) return keys
        await addKey(keys, signsFrom, now)
      }
    },
  }
}

/**
 * The successor of a revoked key begins at this time. It lies some time ago for the key that was signing. Otherwise a
 * replica whose clock is behind would find no key that has begun, or only an older one that is not published any more.
 */
function startOfSuccessor(revoked: StoredKey, keys: readonly StoredKey[], now: Date): Date {
  const signing = pickSigningKey(keys, now)
  if (revoked !== signing) return new Date(now.getTime() + PUBLISHED_BEFORE_MS)
  return new Date(Math.max(now.getTime() - CLOCK_MARGIN_MS, revoked.signsFrom.getTime() + 1))
}

/** The missing key begins to sign at this time; null if no key is missing. */
function dueSuccessor(keys: readonly StoredKey[], now: Date): Date | null {
  const newest = keys.at(-1)
  if (!newest) return now
  const endsMs = newest.signsFrom.getTime() + SIGNS_FOR_MS
  if (now.getTime() < endsMs - PUBLISHED_BEFORE_MS) return null
  return new Date(Math.max(endsMs, now.getTime() + PUBLISHED_BEFORE_MS))
}

function stateOf(key: StoredKey, keys: readonly StoredKey[], now: Date): KeyState {
  if (key === pickSigningKey(keys, now)) return 'signing'
  if (key.signsFrom > now) return 'next'
  return isPublished(key, now) ? 'superseded' : 'removed'
}

async function makeKey(
  algorithm: SigningAlgorithm,
  secret: ServerSecret,
  signsFrom: Date,
  createdAt: Date,
): Promise<StoredKey> {
  const pair = await generateKeyPair(algorithm, { extractable: true, modulusLength: RSA_BITS })
  const [publicJwk, privateJwk] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
  const kid = await calculateJwkThumbprint(publicJwk)
  // `poterne keys revoke` would take it for an option.
  if (kid.startsWith('-')) return makeKey(algorithm, secret, signsFrom, createdAt)
  return {
    kid,
    publicJwk: pickPublic(publicJwk),
    sealedPrivateJwk: secret.seal(SEAL_LABEL, JSON.stringify(privateJwk)),
    createdAt,
    signsFrom,
    publishedUntil: null,
  }
}

/** Only these members, whatever else the JWK contains. */
const pickPublic = ({ kty, crv, x, y, n, e }: JWK): PublicJwk =>
  (kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y }) as PublicJwk
