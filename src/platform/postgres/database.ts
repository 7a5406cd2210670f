/**
 * The one door to SQL for both drivers (postgres.js and PGlite). A statement is built from the drizzle schema once,
 * when its module loads, and runs as a server-side prepared statement in one round trip, on the pool or in a
 * transaction. Rows come back with camelCase keys, times as Date, bigints as numbers.
 */
import { fillPlaceholders, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { PgDialect, QueryBuilder } from 'drizzle-orm/pg-core'

const dialect = new PgDialect()

export interface Statement<Params, Row> {
  readonly text: string
  readonly params: unknown[]
  /** Never set: carries the two types. */
  readonly types?: (params: Params) => Row
}

/** Compiles a query once. Parameters are named with `param('name')`. */
export function statement<Params extends object, Row = never>(query: SQLWrapper): Statement<Params, Row> {
  const built = dialect.sqlToQuery(query.getSQL())
  return { text: built.sql, params: built.params }
}

/** A named parameter of a statement; `type` (a PostgreSQL type) where PostgreSQL cannot infer it. */
export function param(name: string, type?: string): SQL {
  return type === undefined ? sql`${sql.placeholder(name)}` : sql`${sql.placeholder(name)}::${sql.raw(type)}`
}

/**
 * A CTE with which a statement of its own commits without waiting for the disk, where a crash may forget it. What uses
 * it joins it and asks for `unawaited.off is not null`, or it is never evaluated.
 */
export const unawaited = sql`unawaited as (select set_config('synchronous_commit', 'off', true) as off)`

/** Drizzle's select builder, for statements it writes better than a template. */
export const select = new QueryBuilder()

export interface Executor {
  all<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>
  /** The first row, or null. */
  first<Params extends object, Row>(statement: Statement<Params, Row>, params: Params): Promise<Row | null>
}

export interface Database extends Executor {
  readonly kind: 'postgres' | 'embedded'
  /** Everything in `work` or nothing. Keep it short: nothing slow inside. A migration may take its time. */
  transaction<T>(work: (transaction: Executor) => Promise<T>, options?: { noDeadline?: boolean }): Promise<T>
  /** Throws when the database does not answer. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** What a driver must do for `createExecutor`: run one prepared statement, give rows keyed by column name. */
export type RunStatement = (text: string, values: unknown[]) => Promise<Record<string, unknown>[]>

export function createExecutor(run: RunStatement): Executor {
  const all = async <Params extends object, Row>({ text, params }: Statement<Params, Row>, values: Params) =>
    (await run(text, fillPlaceholders(params, values as Record<string, unknown>))) as Row[]
  return { all, first: async (query, values) => (await all(query, values))[0] ?? null }
}

/** `last_sign_in_at` → `lastSignInAt`. */
export function camelCase(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
