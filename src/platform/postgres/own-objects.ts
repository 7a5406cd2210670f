/**
 * Tells what poterne made in a database from what others made there. Their objects may have our names, or hang on our
 * tables, and nothing of theirs is ever dropped: a refusal names it.
 */
import { sql } from 'drizzle-orm'
import { type Executor, param, statement } from './database.ts'
import type { Migration } from './read-migrations.ts'
import { describeUnfit } from './server-fitness.ts'

/** The table of applied migrations, and the columns by which it is told from another application's. */
export const MIGRATIONS = 'poterne_migrations'
const MIGRATIONS_COLUMNS = ['number', 'name', 'hash', 'applied_at']

interface Made {
  /** Every name of a relation, a type or a function. */
  names: Set<string>
  /** The columns of each table. */
  tables: Map<string, Set<string>>
  /** The bodies that each function had. */
  functions: Map<string, string[]>
  triggers: Set<string>
}

const OBJECT =
  /\b(create|drop)\s+(?:or\s+replace\s+)?(?:unlogged\s+|unique\s+)?(table|index|function|trigger)\s+(?:concurrently\s+)?(?:if\s+(?:not\s+)?exists\s+)?"(\w+)"/gi
const NAMED_WITHIN = /\b(?:sequence\s+name|constraint)\s+"(\w+)"/gi
const COLUMN = /^[ \t]+"(\w+)"\s/gm
const CHANGED_TABLE = /\balter\s+table\s+"(\w+)"([^;]*)/gi
const LOST_COLUMN = /\b(?:drop\s+column\s+(?:if\s+exists\s+)?|rename\s+column\s+)"(\w+)"/gi
const BODY = /\$\$([\s\S]*?)\$\$/

/** Reads from their SQL what the migrations leave behind when they were applied in order. */
export function madeBy(migrations: readonly Migration[]): Made {
  const made: Made = {
    names: new Set([MIGRATIONS, `${MIGRATIONS}_pkey`]),
    tables: new Map([[MIGRATIONS, new Set(MIGRATIONS_COLUMNS)]]),
    functions: new Map(),
    triggers: new Set(),
  }
  for (const text of migrations.flatMap(({ statements }) => statements)) {
    for (const found of text.matchAll(OBJECT)) note(made, found, text.slice(found.index))
    for (const [, name] of text.matchAll(NAMED_WITHIN)) made.names.add(name!)
    for (const [, table, change] of text.matchAll(CHANGED_TABLE))
      for (const [, column] of change!.matchAll(LOST_COLUMN)) made.tables.get(table!)?.delete(column!)
  }
  return made
}

function note({ names, tables, functions, triggers }: Made, found: RegExpMatchArray, text: string): void {
  const [isDropped, kind, name] = [/^drop$/i.test(found[1]!), found[2]!.toLowerCase(), found[3]!]
  ;(kind === 'trigger' ? triggers : names).add(name)
  if (kind === 'table') {
    const [body] = text.split(/^\)/m, 1)
    tables.set(name, new Set([...body!.matchAll(COLUMN)].map(([, column]) => column!)))
    if (isDropped) tables.delete(name)
    names.add(`${name}_pkey`)
  }
  // The bodies of before stay in the list: one that was never replaced has its first one.
  if (kind === 'function' && !isDropped)
    functions.set(name, [...(functions.get(name) ?? []), BODY.exec(text)?.[1] ?? ''])
}

/** The names are those of every migration, the tables and functions those that the applied ones made. */
function paramsOf(migrations: readonly Migration[], applied: number) {
  const all = madeBy(migrations)
  const { tables, functions } = madeBy(migrations.slice(0, applied))
  return {
    names: JSON.stringify([...all.names]),
    triggers: JSON.stringify([...all.triggers]),
    tables: JSON.stringify([...tables].map(([name, columns]) => ({ name, columns: [...columns] }))),
    functions: JSON.stringify(
      [...functions].flatMap(([name, bodies]) => bodies.map((body) => ({ name, body }))),
    ),
  }
}

type Params = ReturnType<typeof paramsOf>

const here = sql`(select oid from pg_namespace where nspname = current_schema())`
const list = (name: 'names' | 'triggers') =>
  sql`(select jsonb_array_elements_text(${param(name, 'text')}::jsonb))`

/** A table of ours has every column that its migration gave it, a function of ours has the body. */
const own = sql`
  own_tables as (
    select pg_class.oid from pg_class
      join jsonb_to_recordset(${param('tables', 'text')}::jsonb) as made (name text, columns jsonb) on relname = made.name
     where relnamespace = ${here} and relkind = 'r'
       and made.columns <@ (select jsonb_agg(attname::text) from pg_attribute where attrelid = pg_class.oid and not attisdropped)
  ), own_functions as (
    select pg_proc.oid from pg_proc
      join jsonb_to_recordset(${param('functions', 'text')}::jsonb) as made (name text, body text)
        on proname = made.name and prosrc = made.body
     where pronamespace = ${here}
  ), own_relations as (
    select oid from own_tables
    union select indexrelid from pg_index where indrelid in (select oid from own_tables)
    union select objid from pg_depend join pg_class on pg_class.oid = objid and relkind = 'S'
           where classid = 'pg_class'::regclass and refclassid = 'pg_class'::regclass
             and refobjid in (select oid from own_tables) and deptype in ('a', 'i')
  )`

const listStrangers = statement<Params, { what: string }>(sql`
  with ${own}
  select pg_describe_object('pg_class'::regclass, oid, 0) as what from pg_class
   where relnamespace = ${here} and relname in ${list('names')} and oid not in (select oid from own_relations)
  union
  select pg_describe_object('pg_type'::regclass, oid, 0) from pg_type
   where typnamespace = ${here} and typname in ${list('names')} and typrelid = 0
  union
  select pg_describe_object('pg_proc'::regclass, oid, 0) from pg_proc
   where pronamespace = ${here} and proname in ${list('names')} and oid not in (select oid from own_functions)
  order by what`)

/** Dropping our tables and functions would fail for them, or take them along: the latter goes for triggers and policies. */
const listHangers = statement<Params, { what: string }>(sql`
  with ${own}, mine as (
    select 'pg_class'::regclass::oid as class, oid as id from own_tables
    union select 'pg_class'::regclass, pg_class.oid from own_relations join pg_class using (oid)
           where relkind <> 'i' or relname in ${list('names')}
              or exists (select 1 from pg_constraint where conindid = pg_class.oid and conrelid in (select oid from own_tables))
    union select 'pg_type'::regclass, kind.oid from pg_type as kind left join pg_type as element on element.oid = kind.typelem
           where coalesce(nullif(kind.typrelid, 0), element.typrelid) in (select oid from own_tables)
    union select 'pg_constraint'::regclass, oid from pg_constraint where conrelid in (select oid from own_tables)
    union select 'pg_attrdef'::regclass, oid from pg_attrdef where adrelid in (select oid from own_tables)
    union select 'pg_trigger'::regclass, oid from pg_trigger
           where tgrelid in (select oid from own_tables) and (tgisinternal or tgname in ${list('triggers')})
    union select 'pg_proc'::regclass, oid from own_functions
  )
  select distinct coalesce(pg_describe_object('pg_class'::regclass, viewed.oid, 0),
                           pg_describe_object(classid, objid, objsubid)) as what
    from pg_depend
    left join pg_rewrite on classid = 'pg_rewrite'::regclass and objid = pg_rewrite.oid
    left join pg_class as viewed on viewed.oid = ev_class and viewed.relkind <> 'r'
    left join pg_class as depending on classid = 'pg_class'::regclass and depending.oid = objid
   where (refclassid, refobjid) in (select class, id from mine) and (classid, objid) not in (select class, id from mine)
     and depending.relkind is distinct from 't'
   order by what`)

interface Right {
  kind: 'table' | 'sequence' | 'function' | 'other'
  name: string
  isOwned: boolean
  /** True where the user may do with it all that the service does. */
  isUsable: boolean
  /** Policies hide rows of it from this user. */
  isFiltered: boolean
}

/** `other`: the tables and views of other applications in the same schema, whose rights do not matter here. */
const listRights = statement<Params, Right>(sql`
  with ${own}
  select 'table' as kind, relname::text as name, pg_has_role(relowner, 'usage') as "isOwned",
         has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert')
           and has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete') as "isUsable",
         row_security_active(oid) as "isFiltered"
    from pg_class where oid in (select oid from own_tables)
  union all
  select 'sequence', relname, pg_has_role(relowner, 'usage'), has_sequence_privilege(oid, 'usage'), false
    from pg_class where relkind = 'S' and oid in (select oid from own_relations)
  union all
  select 'function', proname, pg_has_role(proowner, 'usage'), has_function_privilege(oid, 'execute'), false
    from pg_proc where oid in (select oid from own_functions)
  union all
  select 'other', relname, true, true, false
    from pg_class where relnamespace = ${here} and relkind in ('r', 'p', 'v', 'm', 'f') and oid not in (select oid from own_tables)
  order by kind, name`)

const listOwn = statement<Params, { kind: 'table' | 'function'; name: string }>(sql`
  with ${own}
  select 'table' as kind, oid::regclass::text as name from own_tables
  union all select 'function', oid::regprocedure::text from own_functions`)

const findMigrations = statement<
  { columns: string },
  { schema: string | null; found: boolean; elsewhere: string | null; version: number; encoding: string }
>(sql`
  with found as (
    select nspname, nspname is not distinct from current_schema() as is_here
      from pg_class join pg_namespace on pg_namespace.oid = relnamespace
     where relname = ${sql.raw(`'${MIGRATIONS}'`)} and relkind = 'r' and nspname = any(current_schemas(false))
       and ${param('columns', 'text')}::jsonb
           <@ (select jsonb_agg(attname::text) from pg_attribute where attrelid = pg_class.oid and not attisdropped)
  )
  select current_schema()::text as schema, exists (select 1 from found where is_here) as found,
         (select min(nspname::text) from found where not is_here) as elsewhere,
         current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`)

/** `schema`: the one that holds our tables, which search_path names first. `elsewhere`: another one with such a table. */
export const findOwnTable = async (executor: Executor) =>
  (await executor.first(findMigrations, { columns: JSON.stringify(MIGRATIONS_COLUMNS) }))!

/** Lists the rights of this user on what poterne made, and what else is in the schema. */
export const findRights = (executor: Executor, migrations: readonly Migration[], applied: number) =>
  executor.all(listRights, paramsOf(migrations, applied))

/** The objects that have one of our names and that poterne did not make. */
export async function findStrangers(executor: Executor, migrations: readonly Migration[], applied: number) {
  return (await executor.all(listStrangers, paramsOf(migrations, applied))).map(({ what }) => what)
}

const MOST_NAMED = 12

const inShort = (found: string[]): string =>
  found.slice(0, MOST_NAMED).join(', ') +
  (found.length > MOST_NAMED ? ` and ${found.length - MOST_NAMED} more` : '')

/**
 * Says, as the rest of a sentence about the database, why poterne must not make its tables there; null where it may.
 * `applied`: so many of the migrations were applied.
 */
export async function findObstacle(
  executor: Executor,
  migrations: readonly Migration[],
  applied: number,
): Promise<string | null> {
  const { schema, found, elsewhere, ...server } = await findOwnTable(executor)
  const unfit = describeUnfit(server)
  if (unfit !== null) return `cannot be used: ${unfit}`
  if (schema === null)
    return 'has no schema of those that search_path names: make one, or correct search_path'
  if (!found && elsewhere !== null)
    return `has tables of poterne in the schema ${elsewhere}, and search_path names ${schema} first: set search_path to the one that poterne shall use`
  const strangers = await findStrangers(executor, migrations, applied)
  return strangers.length === 0
    ? null
    : `holds what another application made under names of poterne (${inShort(strangers)}): give poterne a database of its own`
}

/**
 * Says, as the rest of a sentence about the database, what others hung on our tables, which would go with them; null
 * where nothing does.
 */
export async function findHanging(
  executor: Executor,
  migrations: readonly Migration[],
  applied: number,
): Promise<string | null> {
  const hanging = await executor.all(listHangers, paramsOf(migrations, applied))
  return hanging.length === 0
    ? null
    : `holds what others hung on the tables of poterne (${inShort(hanging.map(({ what }) => what))}): drop it and make it again afterwards, or give poterne a database of its own`
}

/** Drops what poterne made, and nothing else: what hangs on it makes this fail. */
export async function dropOwn(
  executor: Executor,
  migrations: readonly Migration[],
  applied: number,
): Promise<void> {
  const found = await executor.all(listOwn, paramsOf(migrations, applied))
  for (const kind of ['table', 'function'] as const) {
    const names = found.filter((each) => each.kind === kind).map(({ name }) => name)
    if (names.length > 0) await executor.all({ text: `drop ${kind} ${names.join(', ')}`, params: [] }, {})
  }
}
