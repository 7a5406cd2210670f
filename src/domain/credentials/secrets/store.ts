/**
 * The lasting keys, and which server secrets are in use, in PostgreSQL in every shape. Of any number of replicas that put
 * a key for one label, all read the same one afterwards.
 */
import type { LastingLabel } from '../../../platform/secret.ts'

export interface SealedLastingKey {
  label: LastingLabel
  sealedKey: Uint8Array
}

export interface SecretUse {
  id: string
  /** When a replica last sealed and signed with it, and since when; null: none did. */
  currentAt: Date | null
  currentSince: Date | null
  /** When a replica last ran that does not accept it; null: none did since it is known. */
  missingAt: Date | null
}

export interface SecretStore {
  listLastingKeys(): Promise<SealedLastingKey[]>
  /** Adds the key where there is none, or puts it in the place of `instead` if that still stands there. */
  putLastingKey(key: SealedLastingKey, instead: Uint8Array | null): Promise<void>
  /** Notes which secrets a replica has now; the others that are known are missing there. */
  noteUse(secrets: { current: string; accepted: string[] }, now: Date): Promise<void>
  listUses(): Promise<SecretUse[]>
  /** True for one replica until then. */
  takeTurn(current: string, until: Date, now: Date): Promise<boolean>
}
