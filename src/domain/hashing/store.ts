/** What stored passwords ask for, without the passwords: of table accounts. */

export interface DigestStore {
  /**
   * The parameters of the digests of up to `limit` accounts after the one with this number, each once, as `workOf`
   * names them. `last`: the number to go on after; null once there are no more accounts.
   */
  listWork(after: number, limit: number): Promise<{ works: string[]; last: number | null }>
}
