/**
 * The keys that sign access tokens, for all replicas: table signing_keys. The promise: a key is added only after the
 * newest one its maker knew of, so that of any number of replicas that find one due, exactly one adds it.
 */

/** An EC public key of RFC 7518, 6.2.1: only kty, crv, x, y. */
export type PublicJwk = Record<string, string>

export interface StoredKey {
  /** The thumbprint of the public key (RFC 7638). */
  kid: string
  publicJwk: PublicJwk
  /** ServerSecret.seal('signing key', …) of the private JWK. */
  sealedPrivateJwk: Uint8Array
  createdAt: Date
  /** Never equal to, and always after, that of every key added before. */
  signsFrom: Date
  /** Null: until a successor comes. */
  publishedUntil: Date | null
}

export interface KeyAddition {
  key: StoredKey
  /** The newest key its maker knew; null for the very first key. */
  after: string | null
  /** Keys to take out: those that never signed, those whose last token has expired, and those that were revoked. */
  remove: string[]
  /** The key it takes over from, and until when that one stays published; null where there is none, or it goes. */
  supersedes: { kid: string; publishedUntil: Date } | null
}

export interface KeyStore {
  /** Oldest first. */
  list(): Promise<StoredKey[]>
  /** All of it or nothing: false when `after` is no longer the newest key. */
  add(addition: KeyAddition): Promise<boolean>
  /** Takes out keys that need no successor. */
  remove(kids: string[]): Promise<void>
}
