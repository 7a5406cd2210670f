/**
 * Statements as values. A statement declares its name, its parameters and its row once, by the names of PostgreSQL's
 * types. The TypeScript types of both are derived from that, so that a missing or misspelt parameter does not compile.
 * The SQL is built when it is first asked for, since a start needs few of them. test/contract/statements.test.ts has a
 * migrated database describe every registered statement, and compares its answer with the declaration.
 */
import { getTableColumns, type InferSelectModel, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { PgDialect, type PgTable } from 'drizzle-orm/pg-core'

/** The TypeScript type of each column type. Bigints of ours stay below 2^53. */
interface TypeScriptOf {
  text: string
  uuid: string
  smallint: number
  int: number
  bigint: number
  'bigint[]': number[]
  float8: number
  boolean: boolean
  timestamptz: Date
  bytea: Uint8Array
  /** `2026-07-01` */
  date: string
  /** It occurs in rows only; a parameter is text that the statement casts. */
  jsonb: unknown
  json: unknown
}

export type TypeName = keyof TypeScriptOf

/** A column of a table, with the type that its schema gives it. */
interface TableColumn<Value> {
  readonly type: TypeName
  /** Never set: carries the type. */
  readonly value?: Value
}

/** `text?` may be null. */
type FieldSpec = TypeName | `${TypeName}?` | TableColumn<unknown>

export type Spec = Readonly<Record<string, FieldSpec>>

type ValueOf<Field> =
  Field extends TableColumn<infer Value>
    ? Value
    : Field extends `${infer Name extends TypeName}?`
      ? TypeScriptOf[Name] | null
      : Field extends TypeName
        ? TypeScriptOf[Field]
        : never

/** The values of a specification: what a caller passes, or what a row holds. */
export type ValuesOf<Fields extends Spec> = { -readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }

/** The parameters as the SQL of a statement refers to them. A fragment is a function of those that it needs. */
export type Placeholders<Names extends string> = Readonly<Record<Names, SQL>>

export interface Statement<Params, Row> {
  /** `accounts.find_by_uuid`, where it was defined by `defineStatement`: seen in logs, and in pg_stat_statements as a comment. */
  readonly name?: string
  readonly text: string
  readonly params: unknown[]
  /** The tables into which it inserts, one of its CTEs included. */
  readonly insertsInto?: readonly string[]
  /** It is false if the statement inserts nothing there with these parameters. */
  readonly mayInsert?: (params: Params) => boolean
  /**
   * A crash may forget what it writes (docs/decisions/commits-that-do-not-wait.md). For a statement in a transaction,
   * it lasts as long as the transaction.
   */
  readonly mayBeForgotten?: boolean
  /** Never set: carries the two types. */
  readonly types?: (params: Params) => Row
}

/** The parameters of a statement. */
export type ParamsOf<Of> = Of extends Statement<infer Params, unknown> ? Params : never

/** The rows that a statement gives. */
export type RowOf<Of extends Statement<never, unknown>> = ReturnType<NonNullable<Of['types']>>

export interface RegisteredStatement extends Statement<never, unknown> {
  readonly name: string
  readonly paramSpec: Spec
  readonly rowSpec: Spec | null
}

const registered = new Map<string, RegisteredStatement>()

/** Every statement of the modules that were imported until now. */
export const registeredStatements = (): readonly RegisteredStatement[] => [...registered.values()]

const dialect = new PgDialect()

/**
 * Throws when two statements have the same name. Without `row` the statement gives no rows. `mayInsert` spares the
 * listeners of `onInsert` a call where the parameters alone show that nothing is inserted.
 */
export function defineStatement<const Params extends Spec, const Row extends Spec = Record<string, never>>({
  name,
  params: paramSpec,
  row: rowSpec,
  sql: build,
  mayInsert,
  mayBeForgotten,
}: {
  name: string
  params: Params
  row?: Row
  sql: (parameters: Placeholders<keyof Params & string>, unawaited: SQL) => SQLWrapper
  mayInsert?: (params: ValuesOf<Params>) => boolean
  /**
   * A crash may forget its write, so that a server does not wait for its disk. The SQL begins with the CTE `unawaited`
   * that it is given. PostgreSQL skips CTEs that nobody reads, so it joins that one and tests `unawaited.off is not null`.
   */
  mayBeForgotten?: true
}): Statement<ValuesOf<Params>, ValuesOf<Row>> {
  if (registered.has(name)) throw new Error(`two statements are named ${name}`)
  let known: Built | null = null
  const built = () => {
    known ??= buildSql({ name, params: paramSpec, mayBeForgotten }, build)
    return known
  }
  const statement = {
    name,
    paramSpec,
    rowSpec: rowSpec ?? null,
    ...(mayInsert && { mayInsert }),
    ...(mayBeForgotten && { mayBeForgotten }),
    get text() {
      return built().text
    },
    get params() {
      return built().params
    },
    get insertsInto() {
      return built().insertsInto
    },
  }
  registered.set(name, statement)
  return statement
}

type Built = Required<Pick<RegisteredStatement, 'text' | 'params' | 'insertsInto'>>

const unawaited = sql`unawaited as (select set_config('synchronous_commit', 'off', true) as off)`

function buildSql<Params extends Spec>(
  { name, params, mayBeForgotten }: { name: string; params: Params; mayBeForgotten?: true | undefined },
  build: (parameters: Placeholders<keyof Params & string>, unawaited: SQL) => SQLWrapper,
): Built {
  const references = Object.fromEntries(
    Object.entries(params).map(([field, type]) => [
      field,
      sql`${sql.placeholder(field)}::${sql.raw(typeNameOf(type))}`,
    ]),
  ) as Placeholders<keyof Params & string>
  const built = dialect.sqlToQuery(build(references, unawaited).getSQL())
  if (built.sql.includes('unawaited.off is not null') !== (mayBeForgotten ?? false))
    throw new Error(`${name}: mayBeForgotten and the CTE unawaited belong together`)
  return {
    text: `/* ${name} */ ${built.sql}`,
    params: built.params,
    insertsInto: tablesInsertedInto(built.sql),
  }
}

/** The tables of the `insert into` clauses of a text that drizzle built. */
export const tablesInsertedInto = (text: string): string[] =>
  [...text.matchAll(/insert into "(\w+)"/g)].map(([, table]) => table as string)

/** The rows of a table, for `select *` and for what is added to it: `{ ...rowOf(accounts), deviceName: 'text?' }`. */
export function rowOf<Table extends PgTable>(table: Table) {
  const columns = Object.entries(getTableColumns(table)).map(([name, column]) => [
    name,
    { type: typeOfColumn(column.getSQLType()) },
  ])
  return Object.fromEntries(columns) as {
    [Name in keyof InferSelectModel<Table>]: TableColumn<InferSelectModel<Table>[Name]>
  }
}

/** A column whose values TypeScript knows better than PostgreSQL: `column<Language>('text')`. */
export const column = <Value>(type: TypeName): TableColumn<Value> => ({ type })

/** A jsonb column whose content has this type. */
export const json = <Value>(): TableColumn<Value> => column('jsonb')

/** Some columns of a table: `pick(rowOf(accounts), 'id', 'uuid')`. */
export function pick<Fields extends Spec, Name extends keyof Fields>(fields: Fields, ...names: Name[]) {
  return Object.fromEntries(names.map((name) => [name, fields[name]])) as Pick<Fields, Name>
}

/** The name of a field's type, without the mark of those that may be null. */
export function typeNameOf(field: FieldSpec): TypeName {
  return typeof field === 'string' ? (field.replace('?', '') as TypeName) : field.type
}

function typeOfColumn(sqlType: string): TypeName {
  const short: Record<string, TypeName> = { integer: 'int', 'timestamp (3) with time zone': 'timestamptz' }
  return short[sqlType] ?? (sqlType as TypeName)
}
