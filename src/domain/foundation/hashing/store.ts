/** The parameters of the stored digests, without the digests, from the table of accounts. */

export interface DigestStore {
  /**
   * The parameters of the digests of up to `limit` accounts after this id, each once, as `workOf` names them. `last` is
   * the id to continue after; null if there are no more accounts.
   */
  listWork(after: number, limit: number): Promise<{ works: string[]; last: number | null }>
}
