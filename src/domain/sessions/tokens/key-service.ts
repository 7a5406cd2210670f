/**
 * The signing keys in the memory of a process. They are read every two seconds, and whenever a token names an unknown
 * key. So all replicas follow a rotation without a restart and refuse a revoked key within five seconds. Rotation
 * itself is in key-rotation.ts.
 */
import { type CryptoKey, importJWK } from 'jose'
import { LastingFailure } from '../../../platform/failure.ts'
import { together } from '../../../platform/waiting.ts'
import { AppError } from '../../../texts/errors.ts'
import {
  createKeyRotation,
  isPublished,
  type KeyDescription,
  type KeyRotationOptions,
  pickSigningKey,
  SEAL_LABEL,
} from './key-rotation.ts'
import type { SigningAlgorithm, StoredKey } from './key-store.ts'

export interface SigningKey {
  kid: string
  privateKey: CryptoKey
  signsFrom: Date
}

interface KeyServiceOptions extends KeyRotationOptions {
  refreshMs?: number
  /**
   * Called when refreshes fail: for the first failure, then once a minute. The keys in memory stay, and the next refresh
   * tries again.
   */
  onRefreshFailure?: (error: unknown) => void
  /** Called once for each key that does not open. */
  onUnreadable?: (kid: string) => void
}

interface HeldKey extends Omit<StoredKey, 'sealedPrivateJwk' | 'createdAt'> {
  publicKey: CryptoKey
  /** It is null if it was sealed under another server secret. */
  privateKey: CryptoKey | null
}

/** Reading a few rows is cheap. A revoked key is accepted for this long at most, plus the time of the read itself. */
const REFRESH_MS = 2_000
const FAILURE_INTERVAL_MS = 60_000
/** However many unknown names clients invent, the database is asked at most once in this time. */
const UNKNOWN_KEY_INTERVAL_MS = 1_000

export type KeyService = ReturnType<typeof createKeyService>

export function createKeyService(options: KeyServiceOptions) {
  const {
    secret,
    clock,
    refreshMs = REFRESH_MS,
    onRefreshFailure = () => {},
    onUnreadable = () => {},
  } = options
  const { algorithm } = options.store
  const rotation = createKeyRotation(options)
  let held: HeldKey[] = []
  let askedAtMs = Number.NEGATIVE_INFINITY

  const refresh = together(async () => {
    const stored = await rotation.maintain()
    const known = new Map(held.map((key) => [key.kid, key]))
    held = await Promise.all(
      stored.map(async (key) => {
        const before = known.get(key.kid)
        const { publicKey, privateKey } = before ?? (await importKey(key, algorithm, secret))
        if (before === undefined && privateKey === null) onUnreadable(key.kid)
        const { kid, publicJwk, signsFrom, publishedUntil } = key
        return { kid, publicJwk, publicKey, privateKey, signsFrom, publishedUntil }
      }),
    )
  })
  const findHeld = (kid: string) => held.find((key) => key.kid === kid && isPublished(key, clock.now()))

  let timer: Timer | undefined
  let failureSaidAtMs = Number.NEGATIVE_INFINITY
  const refreshByItself = async () => {
    try {
      await refresh()
      failureSaidAtMs = Number.NEGATIVE_INFINITY
    } catch (error) {
      const nowMs = performance.now()
      if (nowMs - failureSaidAtMs < FAILURE_INTERVAL_MS) return
      failureSaidAtMs = nowMs
      onRefreshFailure(error)
    }
  }
  /** A refresh that is under way may have read the store before the change. */
  async function refreshAfterChange(): Promise<void> {
    await refresh.underWay()?.catch(() => {})
    await refreshByItself()
  }
  function begin(): void {
    timer = setInterval(refreshByItself, refreshMs)
    timer.unref()
  }

  return {
    /** The key that signs now. Throws if no key can be decrypted with this server secret. */
    signingKey(): SigningKey {
      const readable = held.filter((key): key is HeldKey & SigningKey => key.privateKey !== null)
      const key = pickSigningKey(readable, clock.now())
      if (!key) throw new AppError('unavailable', { cause: 'no_signing_key' })
      return key
    },
    /** Resolves once the keys were read: who needs one that is made in the background waits here. */
    haveBeenRead: async (): Promise<void> => {
      if (held.length === 0) await refresh()
    },
    /** The public key of that name; null if none is published. Asks the store about unknown names. */
    async findPublicKey(kid: string): Promise<CryptoKey | null> {
      const nowMs = clock.now().getTime()
      // Math.abs: if the clock was set back, the time of the last read is in the future and must not block this.
      if (!findHeld(kid) && Math.abs(nowMs - askedAtMs) >= UNKNOWN_KEY_INTERVAL_MS) {
        askedAtMs = nowMs
        await refresh()
      } else if (!findHeld(kid)) await refresh.underWay()
      return findHeld(kid)?.publicKey ?? null
    },
    /** Every key that may have signed a living token, and the next one: what other services read (RFC 7517). */
    published: () => ({
      keys: held
        .filter((key) => isPublished(key, clock.now()))
        .map(({ kid, publicJwk }) => ({ ...publicJwk, kid, use: 'sig' as const, alg: algorithm })),
    }),
    list: rotation.list,
    /** Nothing is signed with it or accepted here from now on, and at other replicas after their next refresh. */
    async revoke(kid: string) {
      const revoked = await rotation.revoke(kid)
      if (revoked) await refreshAfterChange()
      return revoked
    },
    async rotate(how?: { atOnce?: boolean }): Promise<KeyDescription> {
      const key = await rotation.rotate(how)
      await refreshAfterChange()
      return key
    },
    /** Reads the store again and rotates if it is time. Runs by itself every `refreshMs` after `start`. */
    refresh,
    /**
     * Reads the keys for the first time, and then regularly. Creates the first key if there is none. Rejects if the key
     * that signs now cannot be decrypted. `opensOthers`: other stored values open, so that the server secret is right.
     */
    async start(opensOthers = false): Promise<void> {
      await refresh()
      if (!pickSigningKey(held, clock.now())?.privateKey)
        throw new LastingFailure(opensOthers ? DAMAGED_KEY : OTHER_SECRET)
      begin()
    },
    /** The same without waiting for the first key, and whether or not it can be decrypted. */
    startInBackground(): void {
      void refreshByItself()
      begin()
    },
    close: (): void => clearInterval(timer),
  }
}

/** Nobody is told to revoke a secret that is right. */
export const DAMAGED_KEY =
  'the signing key does not open, while other stored values do: server.secret is right, and the row in signing_keys is damaged; restore a backup, or run `poterne keys rotate --now`, which replaces the signing keys alone'

const OTHER_SECRET =
  'the signing keys were sealed under another server.secret: put that secret back (one that poterne made is the file `secret` in storage.data_dir), or add it to server.previous_secrets; where it leaked or is lost, run `poterne secret revoke`, or `poterne keys rotate --now` to replace the signing keys alone'

async function importKey(key: StoredKey, algorithm: SigningAlgorithm, secret: KeyServiceOptions['secret']) {
  const publicKey = (await importJWK(key.publicJwk, algorithm)) as CryptoKey
  let opened: string
  try {
    opened = secret.open(SEAL_LABEL, key.sealedPrivateJwk)
  } catch {
    return { publicKey, privateKey: null }
  }
  const privateKey = await importJWK(JSON.parse(opened), algorithm, { extractable: false })
  return { publicKey, privateKey: privateKey as CryptoKey }
}
