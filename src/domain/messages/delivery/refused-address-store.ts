/** The tags of e-mail addresses that a mail server refused: PostgreSQL, in every storage shape. */
import type { Sweep } from '../../../platform/postgres/sweep.ts'

export interface RefusedAddressStore {
  put(tag: Uint8Array, now: Date): Promise<void>
  /** When it was refused last; null: not since that time. */
  find(tag: Uint8Array, since: Date): Promise<Date | null>
  sweep: Sweep
}
