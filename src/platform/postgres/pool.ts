/**
 * Connections to a PostgreSQL server: each lent to one transaction at a time, or to a few single statements that
 * follow each other without waiting (a pipeline), and never used again once it broke or did not answer in time.
 * Promises: whoever asks has an answer or DatabaseUnavailable within waitMs + workMs, also from a server that accepts
 * and says nothing; nothing is sent for a caller that was refused; a broken connection is replaced at the next call,
 * so that a server is used again as soon as it is back.
 */
import type postgres from 'postgres'
import { DatabaseUnavailable, databaseCode, isUnavailable } from './failure.ts'

export interface PoolOptions {
  /** A client of one connection; `onclose` is to be told when that connection closes. */
  connect: (onclose: () => void) => postgres.Sql
  size: number
  /** How long a caller waits for a connection. */
  waitMs: number
  /** How long a caller may hold one, connecting included; beyond it the connection is cut. */
  workMs: number
}

export interface Pool {
  /** One prepared statement; where every connection is lent, behind others on one that has just answered. */
  run(text: string, values: unknown[]): Promise<Record<string, unknown>[]>
  /** A connection for nobody else. `noDeadline`: without a deadline for the work. */
  use<T>(work: (connection: Connection) => Promise<T>, options?: { noDeadline?: boolean }): Promise<T>
  close(): Promise<void>
}

/** The life of one socket. */
export interface Connection {
  /** One prepared statement. Throws DatabaseUnavailable once the connection is gone: never on another one. */
  run(text: string, values: unknown[]): Promise<Record<string, unknown>[]>
}

interface OwnConnection extends Connection {
  readonly isBroken: boolean
  /** Whether it is still of use after an error with this code. */
  outlives(code: string | undefined): boolean
  /** Callers that have it now. */
  callers: number
  /** Whether the server ever answered on it, and when it last did or, after a pause, when it was asked again. */
  isProven: boolean
  progressAt: number
  /** At once, whatever is under way. */
  cut(): void
  close(): Promise<void>
}

interface Waiter {
  alone: boolean
  lend(connection: OwnConnection): void
  refuse(error: Error): void
}

/** Statements on one connection at once: beyond a few, there is nothing more to gain. */
const PIPELINE = 8
/** A connection without an answer for longer is at a slow statement: nobody is to be held up behind that. */
const FRESH_MS = 100

/** A statement was too slow, or the server lacks disk or memory: the connection is as good as before. */
const REFUSED = new Set(['57014', '53100', '53200', '53400'])
/** A server that was demoted is left for the one that took over; not at every statement, should there be none. */
const READ_ONLY = '25006'
const YOUNG_MS = 1000

export function createPool({ connect, size, waitMs, workMs }: PoolOptions): Pool {
  const all = new Set<OwnConnection>()
  const idle: OwnConnection[] = []
  /** Lent to single statements. */
  const shared = new Set<OwnConnection>()
  const waiting = new Set<Waiter>()
  let closed = false

  function open(): OwnConnection {
    const connection = createConnection(connect, () => {
      all.delete(connection)
      shared.delete(connection)
      const at = idle.indexOf(connection)
      if (at >= 0) idle.splice(at, 1)
      serveNext()
    })
    all.add(connection)
    return connection
  }

  /** An idle connection, a new one, or for a single statement the least busy of those lent to such; null: none. */
  function available(alone: boolean): OwnConnection | null {
    const own = idle.pop() ?? (all.size < size ? open() : null)
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

  /** First come, first served: a transaction that waits is not overtaken for ever by statements that share. */
  function serveNext(): void {
    for (const waiter of waiting) {
      const connection = closed ? null : available(waiter.alone)
      if (!connection) return
      waiter.lend(connection)
    }
  }

  function borrow(alone: boolean): OwnConnection | Promise<OwnConnection> {
    if (closed) throw new DatabaseUnavailable('closed')
    const connection = waiting.size === 0 ? available(alone) : null
    return connection ? take(connection, alone) : wait(alone)
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

  function wait(alone: boolean): Promise<OwnConnection> {
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
      const timer = setTimeout(() => waiter.refuse(new DatabaseUnavailable('no connection in time')), waitMs)
      waiting.add(waiter)
    })
  }

  async function lend<T>(
    work: (connection: Connection) => Promise<T>,
    { alone, noDeadline }: { alone: boolean; noDeadline: boolean },
  ): Promise<T> {
    const connection = await borrow(alone)
    const timer = noDeadline ? undefined : setTimeout(connection.cut, workMs)
    try {
      return await work(connection)
    } catch (error) {
      if (isUnavailable(error) && !connection.outlives(databaseCode(error))) connection.cut()
      throw isUnavailable(error) ? new DatabaseUnavailable('connection', { cause: error }) : error
    } finally {
      clearTimeout(timer)
      giveBack(connection)
    }
  }

  return {
    run: (text, values) =>
      lend((connection) => connection.run(text, values), { alone: false, noDeadline: false }),
    use: (work, { noDeadline = false } = {}) => lend(work, { alone: true, noDeadline }),
    async close() {
      closed = true
      for (const waiter of [...waiting]) waiter.refuse(new DatabaseUnavailable('closed'))
      await Promise.all([...all].map((connection) => connection.close()))
    },
  }
}

/**
 * A client of postgres.js that lives as long as its socket: left alone it connects again, runs what follows outside of
 * the transaction it was meant for, and mixes what it was about to send into the new conversation.
 */
function createConnection(connect: PoolOptions['connect'], onBroken: () => void): OwnConnection {
  let isBroken = false
  const openedAt = performance.now()
  const cut = () => {
    if (isBroken) return
    isBroken = true
    void client.end({ timeout: 0 }).catch(() => {})
    onBroken()
  }
  const client = connect(cut)
  return {
    get isBroken() {
      return isBroken
    },
    callers: 0,
    isProven: false,
    progressAt: 0,
    cut,
    outlives: (code = '') =>
      REFUSED.has(code) || (code === READ_ONLY && performance.now() - openedAt < YOUNG_MS),
    async run(text, values) {
      if (isBroken) throw new DatabaseUnavailable('connection cut')
      return client.unsafe(text, values as never[], { prepare: true })
    },
    close: () => client.end({ timeout: 2 }),
  }
}
