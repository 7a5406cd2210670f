/** A transaction on one connection, whichever driver it has. */

/** Runs `work` between `begin` and `commit` of one connection. */
export async function inTransaction<T>(
  run: (text: string, values: unknown[]) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> {
  await run('begin', [])
  try {
    const result = await work()
    await run('commit', [])
    return result
  } catch (error) {
    // A connection that is gone refuses this, but its transaction was rolled back when it ended.
    await run('rollback', []).catch(() => {})
    throw error
  }
}
