/**
 * The only access to SQL, for both drivers (postgres.js and PGlite). A statement is built once from the drizzle schema,
 * when it is first used. It runs as a server-side prepared statement in one round trip, on the pool or in a
 * transaction. Rows have camelCase keys, times as Date, and bigints as numbers.
 */
import { fillPlaceholders, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { databaseCode } from './failure.ts'
import { type Statement, tablesInsertedInto } from './statement.ts'
import { noteFailedStatement } from './statement-name.ts'

const dialect = new PgDialect()

export type { Statement } from './statement.ts'

/**
 * A statement without a name, whose types are asserted: for migrations, whose tables may not be there yet, and for
 * tests. The stores define theirs by `defineStatement`, which derives the types.
 */
export function statement<Params extends object, Row = never>(query: SQLWrapper): Statement<Params, Row> {
  const built = dialect.sqlToQuery(query.getSQL())
  return { text: built.sql, params: built.params, insertsInto: tablesInsertedInto(built.sql) }
}

/** A named parameter of a statement; `type` (a PostgreSQL type) where PostgreSQL cannot infer it. */
export function param(name: string, type?: string): SQL {
  return type === undefined ? sql`${sql.placeholder(name)}` : sql`${sql.placeholder(name)}::${sql.raw(type)}`
}

export interface Executor {
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>
  /** The first row, or null. */
  first<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | null>
  /** Runs a statement whose rows nobody wants. */
  run<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<void>
}

/** The executor whose statements all go through this `all`. */
export const executorBy = (all: Executor['all']): Executor => ({
  all,
  first: async (query, params) => (await all(query, params))[0] ?? null,
  run: async (query, params) => {
    await all(query, params)
  },
})

/** Called with the parameters of a statement that inserts into a table, once they are committed. */
type InsertListener = (params: Record<string, unknown>) => void

export interface Database extends Executor {
  readonly kind: 'postgres' | 'embedded'
  /**
   * Commits everything in `work` or nothing. Do nothing slow inside, except in a migration and for `EndCodes`. Statements
   * that follow each other without waiting run in their order, in one trip; after one that failed the others do nothing.
   */
  transaction<T>(work: (transaction: Executor) => Promise<T>, options?: { noDeadline?: boolean }): Promise<T>
  /**
   * A connection for this caller alone, without a transaction and without a deadline: for what commits by itself. It is
   * closed if `work` throws, and what was set or locked in it ends.
   */
  session<T>(work: (session: Executor) => Promise<T>): Promise<T>
  /** Throws if the database does not answer. */
  ping(): Promise<void>
  /**
   * Calls `listener` after every commit of a statement that inserts into this table: by this process, and whether or
   * not the statement found anything to insert.
   */
  onInsert(table: string, listener: InsertListener): void
  /** Only the embedded database has them. */
  readonly files?: DatabaseFiles
  readonly upkeep?: DatabaseUpkeep
  close(): Promise<void>
}

/** The upkeep of an open database. */
export interface DatabaseUpkeep {
  /** Does the most urgent piece now instead of in a quiet moment; null where nothing is due. */
  step(): Promise<UpkeepWork | null>
  condition(): Promise<DatabaseCondition>
}

export interface UpkeepWork {
  what: 'vacuum' | 'analyze' | 'checkpoint' | 'drop'
  relation: string | null
  ms: number
}

/** The facts that the database knows of itself and that grow unless it is looked after. */
export interface DatabaseCondition {
  /** The age of the oldest number that is not frozen, in transactions; multixacts count as well. */
  transactionAge: number
  deadRows: number
  /** The size of the log since the last checkpoint, which a start after a crash reads. */
  logBytes: number
  /** The longest single piece of work since the start, during which nothing was answered. */
  longestWorkMs: number
}

export interface DatabaseFiles {
  /**
   * Copies the files while they are in use, and gives the directory of the copy, which the caller removes. The copy is
   * the database as it was at some moment before this returns. Throws SnapshotRefused where there is no space for it.
   */
  snapshot(): Promise<string>
}

/** The methods that a driver provides; `announceInserts` makes a Database of it. */
type DatabaseDriver = Omit<Database, 'onInsert'>

/** The task of a driver for `createExecutor`: it runs one prepared statement and returns rows keyed by column name. */
export type RunStatement = (
  text: string,
  values: unknown[],
  mayBeForgotten?: boolean,
) => Promise<Record<string, unknown>[]>

export function createExecutor(run: RunStatement): Executor {
  return executorBy(async <Params extends object, Row>(query: Statement<Params, Row>, values: Params) => {
    try {
      return (await run(
        query.text,
        fillPlaceholders(query.params, values as Record<string, unknown>),
        query.mayBeForgotten,
      )) as Row[]
    } catch (error) {
      noteFailedStatement(error, query)
      throw error
    }
  })
}

/** A statement of a transaction in which one has failed. Whoever waits for it has to learn what failed. */
const FAILED_BEFORE = '25P02'

/** Adds `onInsert` to a driver. A statement of its own announces its rows when it returns, a transaction when it commits. */
export function announceInserts(driver: DatabaseDriver): Database {
  const listeners = new Map<string, InsertListener[]>()
  const announce = <Params extends object, Row>(query: Statement<Params, Row>, params: Params) => {
    const { insertsInto = [], mayInsert } = query
    if (insertsInto.length === 0 || mayInsert?.(params) === false) return
    for (const table of insertsInto)
      for (const listener of listeners.get(table) ?? []) listener(params as Record<string, unknown>)
  }
  return {
    ...driver,
    ...executorBy(async (query, params) => {
      const rows = await driver.all(query, params)
      announce(query, params)
      return rows
    }),
    async transaction(work, options) {
      let announcements: (() => void)[] = []
      const result = await driver.transaction(async (transaction) => {
        announcements = []
        let isOver = false
        let failure: unknown = null
        const open = executorBy(async (query, params) => {
          // On that connection it would be a statement of its own, or one of somebody else's transaction.
          if (isOver) throw new Error('the transaction of this statement is over')
          announcements.push(() => announce(query, params))
          try {
            return await transaction.all(query, params)
          } catch (error) {
            failure ??= error
            throw databaseCode(error) === FAILED_BEFORE ? failure : error
          }
        })
        try {
          return await work(open)
        } finally {
          isOver = true
        }
      }, options)
      for (const call of announcements) call()
      return result
    },
    onInsert(table, listener) {
      listeners.set(table, [...(listeners.get(table) ?? []), listener])
    },
  }
}

/** `last_sign_in_at` → `lastSignInAt`. */
export function camelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
