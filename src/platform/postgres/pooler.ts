/**
 * Poolers, such as PgBouncer and the "pooled" addresses of managed databases. In session mode one is like the server
 * itself. In transaction mode each transaction may run in another session: prepared statements are unknown there, and
 * settings and locks reach other clients.
 */
import { databaseCode } from './failure.ts'
import { inTransaction } from './in-transaction.ts'
import type { Connection, Pool } from './pool.ts'

export const MIXED =
  'a pooler in transaction mode answers there, which mixes the sessions of its clients: name the direct address of the server, or the address of the pooler in session mode'

/** A pooler takes the session that was used last, so that one round shows it; others may be faster than that. */
const ROUNDS = 5

/** A prepared statement that is unknown, or there already. */
const OF_MIXED_SESSIONS = new Set(['26000', '42P05'])

/**
 * Tells whether two connections are given the same session while both are open. `pool` has at least two connections.
 * The server itself is known at once: on each connection it answers as the process that it presented on connecting,
 * where a pooler presents a number of its own.
 */
export async function mixesSessions(pool: Pool): Promise<boolean> {
  let asked = 0
  // Each text is another prepared statement, which no session knows.
  const sessionOf = async (connection: Connection) => {
    const rows = await connection.run(`select pg_backend_pid() as pid /* ${++asked} */`, [])
    const pid = rows[0]!.pid as number
    return { pid, isPresented: pid === rows.state?.pid }
  }
  /** The session of a transaction on another connection, and what is `first`'s meanwhile. */
  const besides = (first: Connection) =>
    pool.use((second) =>
      inTransaction(second.run, async () => ({
        its: await sessionOf(second),
        again: await sessionOf(first),
      })),
    )
  try {
    return await pool.use(
      async (first) => {
        for (let round = 0; round < ROUNDS; round++) {
          const own = await sessionOf(first)
          const { its, again } = await besides(first)
          if (its.pid === own.pid || again.pid !== own.pid) return true
          if (own.isPresented && its.isPresented && again.isPresented) return false
        }
        return false
      },
      { noDeadline: true, cutAfterError: true },
    )
  } catch (error) {
    if (isOfMixedSessions(error)) return true
    // Something else is wrong, such as too few connections: what is asked next says it better.
    return false
  }
}

function isOfMixedSessions(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return OF_MIXED_SESSIONS.has(databaseCode(error) ?? '') || isOfMixedSessions(error.cause)
}
