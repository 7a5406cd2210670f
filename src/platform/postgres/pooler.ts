/**
 * Poolers, such as PgBouncer and the "pooled" addresses of managed databases. In session mode one is like the server
 * itself. In transaction mode each transaction may run in another session: prepared statements are unknown there, and
 * settings and locks reach other clients.
 */
import type { Database, Executor, Statement } from './database.ts'
import { databaseCode } from './failure.ts'

export const MIXED =
  'a pooler in transaction mode answers there, which mixes the sessions of its clients: name the direct address of the server, or the address of the pooler in session mode'

/** A pooler takes the session that was used last, so that one round shows it; others may be faster than that. */
const ROUNDS = 5

/** A prepared statement that is unknown, or there already. */
const OF_MIXED_SESSIONS = new Set(['26000', '42P05'])

/**
 * Tells whether two connections are given the same session while both are open. `database` has at least two
 * connections.
 */
export async function mixesSessions(database: Database): Promise<boolean> {
  let asked = 0
  // Each text is another prepared statement, which no session knows.
  const sessionOf = async (executor: Executor) => {
    const text = `select pg_backend_pid() as pid /* ${++asked} */`
    const found = await executor.first({ text, params: [] } as Statement<object, { pid: number }>, {})
    return found!.pid
  }
  try {
    return await database.session(async (first) => {
      for (let round = 0; round < ROUNDS; round++) {
        const own = await sessionOf(first)
        const others = await database.transaction(async (second) => {
          const its = await sessionOf(second)
          return its === own ? [its] : [its, await sessionOf(first)]
        })
        if (others.includes(own) && others.length === 1) return true
        if (others.length === 2 && others[1] !== own) return true
      }
      return false
    })
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
