/** What an account signed in with: keyed tags of devices and of client addresses. PostgreSQL, in every shape. */
export interface KnownDeviceStore {
  /** Which of these tags are known; a null tag is not. An account that does not exist knows none, in the same work. */
  find(
    accountId: number,
    tags: { device: Uint8Array | null; address: Uint8Array | null },
    now: Date,
  ): Promise<{ device: boolean; address: boolean }>
  /**
   * Whether the first sign-in with one of these tags was before that time, and the tag is still known. A null tag is
   * not.
   */
  knewBefore(
    accountId: number,
    tags: { device: Uint8Array | null; address: Uint8Array | null },
    before: Date,
    now: Date,
  ): Promise<boolean>
  /** Removes up to `limit` that are too old to count; how many it removed. */
  sweep(now: Date, limit: number): Promise<number>
}
