/**
 * Connections to a PostgreSQL server (docs/decisions/connection-pool.md). Each is lent to one transaction at a time, or
 * to a few single statements that follow each other without waiting (a pipeline). It is never used again once it broke
 * or did not answer in time. Promises: a caller gets an answer or DatabaseUnavailable within waitMs + workMs, even if
 * the server accepts the connection and then stays silent. Nothing is sent on behalf of a caller that was refused. A
 * broken connection is replaced at the next call, so that a server is used again as soon as it is back.
 */
import type postgres from 'postgres'
import { DatabaseUnavailable, databaseCode, isUnavailable } from './failure.ts'

interface PoolOptions {
  /** Creates a client of one connection, which calls `onclose` when that connection closes. */
  connect: (onclose: () => void) => postgres.Sql
  size: number
  /** Statements without parameters that are run first on each connection. */
  settings: string
  /** The time that a caller waits for a connection. */
  waitMs: number
  /** The time that a caller may hold one, connecting included; beyond it the connection is cut. */
  workMs: number
}

interface UseOptions {
  /** The work may take as long as it likes. */
  noDeadline?: boolean
  /** The connection is not used again once the work failed. */
  cutAfterError?: boolean
}

interface LendOptions extends UseOptions {
  /** The connection is not shared with others meanwhile. */
  alone: boolean
}

type Rows = Record<string, unknown>[] & { state?: { pid: number } | null }

/** The life of one socket. */
type OwnConnection = ReturnType<typeof createConnection>
export type Connection = Pick<OwnConnection, 'run'>

interface Waiter {
  alone: boolean
  lend(connection: OwnConnection): void
  refuse(error: Error): void
}

/** The number of statements that share a connection; more than a few bring no further gain. */
const PIPELINE = 8
/** A connection that has not answered for longer is running a slow statement, and nobody should wait behind that. */
const FRESH_MS = 100

/** The statement was too slow, or the server lacks disk or memory. The connection itself is still good. */
const REFUSED = new Set(['57014', '53100', '53200', '53400'])
/**
 * The server was demoted: leave it for the one that took over. A young connection is kept, so that we do not reconnect
 * at every statement if there is no other server.
 */
const READ_ONLY = '25006'
const YOUNG_MS = 1000

/** A migration changed the result of a prepared statement, or the server does not know the statement any more. */
const STALE = new Set(['0A000', '26000'])
export const isStale = (error: unknown): boolean => STALE.has(databaseCode(error) ?? '')
/** Each try may meet another such statement, and a transaction has up to some twenty. */
const STALE_TRIES = 30

/** Repeats work of which nothing happened, on the same connection, which prepares the statement anew. */
export async function whilePlansAreStale<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isStale(error) || tries === STALE_TRIES) throw error
    }
  }
}

/** The server, the database or the role is given no more connections. */
const TOO_MANY = '53300'
/** For so long no other one is asked for, since each refusal is a line in the log of the server. */
const FULL_MS = 5000

/** The server refused a further connection. Nothing of the work has begun, so that another one can be waited for. */
class NoRoom extends Error {
  override name = 'NoRoom'
}

export type Pool = ReturnType<typeof createPool>

export function createPool({ connect, size, settings, waitMs, workMs }: PoolOptions) {
  const all = new Set<OwnConnection>()
  const idle: OwnConnection[] = []
  /** The connections that are lent to single statements. */
  const shared = new Set<OwnConnection>()
  const waiting = new Set<Waiter>()
  let closed = false
  const bound = createBound(size)

  function open(): OwnConnection {
    const connection = createConnection({ connect, settings }, () => {
      all.delete(connection)
      shared.delete(connection)
      const at = idle.indexOf(connection)
      if (at >= 0) idle.splice(at, 1)
      serveNext()
    })
    all.add(connection)
    return connection
  }

  /**
   * An idle connection, or a new one, or (for a single statement) the least busy one that serves single statements. It
   * returns null if there is none.
   */
  function available(alone: boolean): OwnConnection | null {
    const own = idle.pop() ?? (all.size < bound.most() ? open() : null)
    if (own || alone) return own
    const fresh = [...shared].filter(
      ({ callers, isProven, progressAt }) =>
        isProven && callers < PIPELINE && performance.now() - progressAt < FRESH_MS,
    )
    return fresh.reduce<OwnConnection | null>(
      (best, one) => (best && best.callers <= one.callers ? best : one),
      null,
    )
  }

  /** First come, first served, so that statements which share cannot overtake a waiting transaction for ever. */
  function serveNext(): void {
    for (const waiter of waiting) {
      const connection = closed ? null : available(waiter.alone)
      if (!connection) return
      waiter.lend(connection)
    }
  }

  function borrow(alone: boolean, forMs: number): OwnConnection | Promise<OwnConnection> {
    if (closed) throw new DatabaseUnavailable('closed')
    const connection = waiting.size === 0 ? available(alone) : null
    return connection ? take(connection, alone) : wait(alone, forMs)
  }

  function take(connection: OwnConnection, alone: boolean): OwnConnection {
    if (connection.callers === 0) connection.progressAt = performance.now()
    connection.callers += 1
    if (!alone) shared.add(connection)
    return connection
  }

  function giveBack(connection: OwnConnection): void {
    connection.callers -= 1
    connection.isProven = true
    connection.progressAt = performance.now()
    if (connection.callers === 0) {
      shared.delete(connection)
      if (!connection.isBroken) idle.push(connection)
    }
    serveNext()
  }

  function wait(alone: boolean, forMs: number): Promise<OwnConnection> {
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        waiting.delete(waiter)
      }
      const waiter: Waiter = {
        alone,
        lend: (connection) => {
          end()
          resolve(take(connection, alone))
        },
        refuse: (error) => {
          end()
          reject(error)
        },
      }
      const timer = setTimeout(() => waiter.refuse(new DatabaseUnavailable('no connection in time')), forMs)
      waiting.add(waiter)
    })
  }

  /** Trying to connect takes from the time for the work, so that waiting once more takes no longer altogether. */
  async function lend<T>(work: (connection: Connection) => Promise<T>, options: LendOptions): Promise<T> {
    let [waitLeftMs, workLeftMs] = [waitMs, workMs]
    for (;;) {
      const askedAt = performance.now()
      const connection = await borrow(options.alone, Math.max(0, waitLeftMs))
      const lentAt = performance.now()
      try {
        return await use(connection, work, options, Math.max(0, workLeftMs))
      } catch (error) {
        if (!(error instanceof NoRoom)) throw error
        waitLeftMs -= lentAt - askedAt
        workLeftMs -= performance.now() - lentAt
      }
    }
  }

  async function use<T>(
    connection: OwnConnection,
    work: (connection: Connection) => Promise<T>,
    { noDeadline = false, cutAfterError = false }: LendOptions,
    forMs: number,
  ): Promise<T> {
    const timer = noDeadline ? undefined : setTimeout(connection.cut, forMs)
    try {
      if (!connection.isSet) await connection.setting
      return await work(connection)
    } catch (error) {
      const hasNoRoom = !connection.isSet && bound.makesDo(error, all.size)
      const isGone = isUnavailable(error) && !connection.outlives(databaseCode(error))
      if (isGone || cutAfterError) connection.cut()
      if (hasNoRoom) throw new NoRoom()
      throw isUnavailable(error) ? new DatabaseUnavailable('connection', { cause: error }) : error
    } finally {
      clearTimeout(timer)
      giveBack(connection)
    }
  }

  return {
    keepTo: bound.keepTo,
    /** Runs one prepared statement. If every connection is lent, it joins others on one that has just answered. */
    run: (text: string, values: unknown[]) =>
      lend((connection) => whilePlansAreStale(() => connection.run(text, values)), { alone: false }),
    /** Lends a connection to this caller alone. */
    use: <T>(work: (connection: Connection) => Promise<T>, options?: UseOptions) =>
      lend(work, { ...options, alone: true }),
    async close() {
      closed = true
      for (const waiter of [...waiting]) waiter.refuse(new DatabaseUnavailable('closed'))
      await Promise.all([...all].map((connection) => connection.close()))
    },
  }
}

/** The most connections: by what `keepTo` was told, and by what the server last refused. */
function createBound(size: number) {
  let allowed = size
  let room = size
  let fullUntil = Number.NEGATIVE_INFINITY

  const most = () => (performance.now() < fullUntil ? Math.min(room, allowed) : allowed)

  /** Keeps to fewer connections than `size`, and to one at least. */
  function keepTo(connections: number): void {
    allowed = Math.min(size, Math.max(1, connections))
  }

  /** Tells whether there are others to wait for, now that the server refused this one. */
  function makesDo(error: unknown, open: number): boolean {
    if (databaseCode(error) !== TOO_MANY || open <= 1) return false
    room = open - 1
    fullUntil = performance.now() + FULL_MS
    return true
  }

  return { most, keepTo, makesDo }
}

/**
 * A client of postgres.js that lives only as long as its socket. Left alone, postgres.js would connect again, run the
 * following statements outside of their transaction, and mix unsent data into the new conversation.
 */
function createConnection(
  { connect, settings }: Pick<PoolOptions, 'connect' | 'settings'>,
  onBroken: () => void,
) {
  let isBroken = false
  const openedAt = performance.now()
  /** The number of times that each statement was stale on this connection. */
  const staleTexts = new Map<string, number>()
  const cut = () => {
    if (isBroken) return
    isBroken = true
    void client.end({ timeout: 0 }).catch(() => {})
    onBroken()
  }
  const client = connect(cut)
  let isSet = false
  const setting = client.unsafe(settings).then(() => {
    isSet = true
  })
  setting.catch(() => {})
  return {
    get isBroken() {
      return isBroken
    },
    /** Tells whether it is connected, and its settings hold; `setting` is until then. */
    get isSet() {
      return isSet
    },
    setting,
    /** The number of callers that are using it now. */
    callers: 0,
    /** True if the server ever answered on it. */
    isProven: false,
    /** The time of its last answer, or of the question after a pause. */
    progressAt: 0,
    /** Closes it at once, whatever is under way. */
    cut,
    /** Tells whether the connection can still be used after an error with this code. */
    outlives: (code = '') =>
      REFUSED.has(code) || (code === READ_ONLY && performance.now() - openedAt < YOUNG_MS),
    /**
     * Runs one prepared statement. Throws DatabaseUnavailable once the connection is gone; never uses another one. The
     * next call after a stale plan prepares the statement anew. `state` has the process as which the server presented itself
     * on connecting.
     */
    async run(text: string, values: unknown[]): Promise<Rows> {
      if (isBroken) throw new DatabaseUnavailable('connection cut')
      const count = staleTexts.get(text) ?? 0
      // Another text is another prepared statement.
      const own = count === 0 ? text : `${text} /* ${count} */`
      try {
        return await client.unsafe(own, values as never[], { prepare: true })
      } catch (error) {
        if (isStale(error)) staleTexts.set(text, Math.max(count + 1, staleTexts.get(text) ?? 0))
        throw error
      }
    },
    close: () => client.end({ timeout: 2 }),
  }
}
