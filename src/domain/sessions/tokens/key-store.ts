/**
 * The keys that sign access tokens, shared by all replicas. The promise: a key is added only if its maker knew the newest
 * one, so that of any number of replicas that find a key due, exactly one adds it.
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
  /** Always later than that of every key that was added before. */
  signsFrom: Date
  /** Null until there is a successor. */
  publishedUntil: Date | null
}

export interface KeyAddition {
  key: StoredKey
  /** The newest key that its maker knew; null for the very first key. */
  after: string | null
  /** Keys to remove: those that never signed, those whose last token has expired, and revoked ones. */
  remove: string[]
  /** Which of them is removed because it was revoked; null if none is. */
  revoked: string | null
  /** The key that it replaces and until when that one stays published; null if there is none or it is removed. */
  supersedes: { kid: string; publishedUntil: Date } | null
}

export interface KeyStore {
  /** Oldest first. */
  list(): Promise<StoredKey[]>
  /** All of it or nothing: false if `after` is no longer the newest key. */
  add(addition: KeyAddition): Promise<boolean>
  /** Removes a revoked key that needs no successor. */
  revoke(kid: string, now: Date): Promise<void>
  /** Replaces the sealed private part by the same one sealed anew, unless it is not the same any more. */
  putSealed(kid: string, sealed: { was: Uint8Array; is: Uint8Array }): Promise<void>
}
