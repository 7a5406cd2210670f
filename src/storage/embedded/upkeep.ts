/**
 * Does the work of autovacuum and the checkpointer, which single-user PostgreSQL does not have. Deleted rows give their
 * space back, transaction numbers are frozen before they run out, statistics follow the rows, and the log stays short.
 * One piece of work at a time, since nothing else can run meanwhile and nothing can be interrupted.
 */
import type { DatabaseCondition, UpkeepWork } from '../../platform/postgres/database.ts'
import { inTransaction } from '../../platform/postgres/in-transaction.ts'
import type { UpkeepCounters } from './counters.ts'

export interface UpkeepOptions {
  /** Freeze what holds a number that is older, in transactions. Nothing may become older than two billion. */
  freezeAge?: number
  /** Make a checkpoint once the log since the last one is longer. */
  logBytes?: number
  /** Make a checkpoint at least that often, if anything was written. */
  checkpointMs?: number
}

const upkeepDefaults = {
  freezeAge: 20_000_000,
  logBytes: 64 * 1024 * 1024,
  checkpointMs: 5 * 60_000,
} as const satisfies Required<UpkeepOptions>

/** A table may grow by so many until the next look: freezing only what is new keeps each vacuum short. */
const INSERTED_ROWS = 10_000
/** A fixed number and a share, as autovacuum has them; a single session never waits for a small table's vacuum. */
const DEAD_ROWS = 200
const DEAD_SHARE = 0.05
const CHANGED_ROWS = 200
const CHANGED_SHARE = 0.1
/**
 * A twentieth of PostgreSQL's own sample, 1,500 rows: every condition has an index. 30,000 accounts take 10 ms so,
 * during which nothing is answered.
 */
const STATISTICS_TARGET = 5

/** A checkpoint itself writes less. */
const PAGE_BYTES = 8192

/** The time for which a relation is left alone that could not be worked on. */
const PAUSE_MS = 10 * 60_000

type Row = Record<string, unknown>
type UpkeepQuery = (text: string) => Promise<Row[]>

/** It failed; the next piece of work comes first, and this one again after a while. */
export class UpkeepFailed extends Error {
  override name = 'UpkeepFailed'
  constructor(
    readonly work: Omit<UpkeepWork, 'ms'>,
    cause: unknown,
  ) {
    super(`${work.what}${work.relation === null ? '' : ` of ${work.relation}`} failed`, { cause })
  }
}

/**
 * Catalogs and TOAST tables included: the age of a database is that of its oldest relation. PGlite loses its counters at
 * every close; those that the last clean one left are added, until the relation is looked at again.
 */
const RELATIONS = (left: UpkeepCounters[]) => `
  select c.oid, format('%I.%I', n.nspname, c.relname) as name, c.relkind,
         greatest(c.reltuples, 0) as live, pg_relation_size(c.oid) > 0 as filled,
         greatest(age(c.relfrozenxid), mxid_age(c.relminmxid)) as age,
         pg_stat_get_dead_tuples(c.oid) + case when vacuumed then 0 else coalesce(l.dead, 0) end as dead,
         pg_stat_get_ins_since_vacuum(c.oid) + case when vacuumed then 0 else coalesce(l.inserted, 0) end as inserted,
         pg_stat_get_mod_since_analyze(c.oid) + case when analyzed then 0 else coalesce(l.changed, 0) end as changed,
         not vacuumed and l.dead is null as unseen, not analyzed and l.changed is null as unknown
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    left join jsonb_to_recordset('${JSON.stringify(left)}')
           as l(oid oid, dead float8, inserted float8, changed float8) on l.oid = c.oid,
    lateral (select pg_stat_get_last_vacuum_time(c.oid) is not null as vacuumed,
                    pg_stat_get_last_analyze_time(c.oid) is not null as analyzed) looked
   where c.relkind in ('r', 'm', 't') and c.relpersistence <> 't'`

/** A relation that was not looked at since a crash is looked at once; that reads only rows that are not frozen. */
const DUE = (freezeAge: number, relations: string) => `
  with relation as (${relations}),
  due as (
    select name, 'vacuum' as what, age > ${freezeAge} as old,
           greatest(age / ${freezeAge}.0, dead / (${DEAD_ROWS} + ${DEAD_SHARE} * live),
                    inserted / ${INSERTED_ROWS}.0, (unseen and filled)::int * 1.01) as share
      from relation
    union all
    select name, 'analyze', false,
           greatest(changed / (${CHANGED_ROWS} + ${CHANGED_SHARE} * live), (unknown and filled)::int * 1.01)
      from relation where relkind <> 't' and name <> 'pg_catalog.pg_statistic')
  select name, what from due where share > 1 order by old desc, share desc`

/** The counts of this session are not there until then. */
const COUNT_NOW = 'select pg_stat_force_next_flush()'
const COUNTERS = (relations: string) => `
  select oid::int8::float8 as oid, case when not unseen then dead end::float8 as dead,
         case when not unseen then inserted end::float8 as inserted,
         case when not unknown then changed end::float8 as changed
    from (${relations}) relation where not unseen or not unknown`

const OTHER_DATABASES = `
  select datname as name from pg_database where datname <> current_database()`

const LOG = `
  select (pg_current_wal_insert_lsn() - redo_lsn)::float8 as bytes from pg_control_checkpoint()`

/** Of every database there is, the templates too: the oldest of them decides. */
const CONDITION = (relations: string) => `
  select (select max(greatest(age(datfrozenxid), mxid_age(datminmxid))) from pg_database)::float8 as age,
         (select coalesce(sum(dead), 0) from (${relations}) relation)::float8 as dead,
         (${LOG}) as log`

/** Far beyond what upkeep lets happen, and far from where PostgreSQL refuses to write. */
const WARNING = { transactionAge: 200_000_000, deadRows: 2_000_000, logBytes: 256 * 1024 * 1024 }
/** PostgreSQL refuses writes at 2.1 billion; a start after a crash would read this log for a minute. */
const FAILURE = { transactionAge: 1_600_000_000, logBytes: 1024 * 1024 * 1024 }

/** Returns the problem in one line; null where upkeep does its work. */
export function findNeglect(condition: DatabaseCondition): { isFailure: boolean; what: string } | null {
  const { transactionAge, deadRows, logBytes } = condition
  const isFailure = transactionAge > FAILURE.transactionAge || logBytes > FAILURE.logBytes
  const found = [
    ...(transactionAge > WARNING.transactionAge ? [`${transactionAge} transactions are not frozen`] : []),
    ...(deadRows > WARNING.deadRows ? [`${deadRows} dead rows keep their space`] : []),
    ...(logBytes > WARNING.logBytes
      ? [`the log since the last checkpoint has ${Math.round(logBytes / 2 ** 20)} MiB`]
      : []),
  ]
  return found.length === 0 ? null : { isFailure, what: found.join(', ') }
}

async function countersOf(query: UpkeepQuery, left: UpkeepCounters[]): Promise<UpkeepCounters[]> {
  await query(COUNT_NOW)
  return (await query(COUNTERS(RELATIONS(left)))) as unknown as UpkeepCounters[]
}

/**
 * At the end of a restore, move or upgrade: otherwise the first upkeep of the service would read and freeze every row in
 * one go, while nobody is answered. Its counters are for the first start.
 */
export async function vacuumAll(query: UpkeepQuery): Promise<UpkeepCounters[]> {
  try {
    // Rows that are counted after the vacuum would look new.
    await query(COUNT_NOW)
    await query('vacuum (freeze, analyze)')
    return await countersOf(query, [])
  } catch {
    // Work that fails here is done later by the service's upkeep; a copy that was given up is still in its transaction.
    return []
  }
}

export function createUpkeep(options: UpkeepOptions = {}) {
  const { freezeAge, logBytes, checkpointMs } = { ...upkeepDefaults, ...options }
  const pausedUntilMs = new Map<string, number>()
  let left: UpkeepCounters[] = []
  let checkpointAtMs = performance.now()
  let longestWorkMs = 0

  const isPaused = (key: string) => performance.now() < (pausedUntilMs.get(key) ?? 0)

  async function perform(what: UpkeepWork['what'], relation: string | null, work: () => Promise<unknown>) {
    const start = performance.now()
    try {
      await work()
    } catch (error) {
      pausedUntilMs.set(`${what} ${relation}`, start + (what === 'checkpoint' ? PAUSE_MS / 10 : PAUSE_MS))
      throw new UpkeepFailed({ what, relation }, error)
    }
    const ms = performance.now() - start
    longestWorkMs = Math.max(longestWorkMs, ms)
    return { what, relation, ms }
  }

  async function checkpoint(query: UpkeepQuery): Promise<UpkeepWork> {
    const done = await perform('checkpoint', null, () => query('checkpoint'))
    checkpointAtMs = performance.now()
    return done
  }

  /** It runs in a transaction, so that the setting ends with it even if the work fails. */
  const analyze = (query: UpkeepQuery, relation: string) =>
    inTransaction(query, async () => {
      await query(`set local default_statistics_target = ${STATISTICS_TARGET}`)
      await query(`analyze ${relation}`)
    })

  async function isCheckpointDue(query: UpkeepQuery): Promise<boolean> {
    if (isPaused('checkpoint null')) return false
    const [row] = await query(LOG)
    const bytes = Number(row?.bytes)
    return bytes > logBytes || (bytes > PAGE_BYTES && performance.now() - checkpointAtMs > checkpointMs)
  }

  return {
    /**
     * Does the most urgent piece of work there is, and says which; null where nothing is due. `onlyUrgent` allows a
     * checkpoint that the length of the log demands, and nothing else. To be called while no transaction is open. Throws
     * UpkeepFailed.
     */
    async step(query: UpkeepQuery, { onlyUrgent = false, mayCheckpoint = true } = {}) {
      if (mayCheckpoint && (await isCheckpointDue(query))) return checkpoint(query)
      if (onlyUrgent) return null
      for (const { name } of await query(OTHER_DATABASES)) {
        // A template is as old as the directory, and nobody could freeze it without connecting to it.
        if (isPaused(`drop ${name}`)) continue
        return perform('drop', String(name), async () => {
          await query(`update pg_database set datistemplate = false where datname = '${name}'`)
          await query(`drop database "${name}"`)
        })
      }
      for (const { name, what } of await query(DUE(freezeAge, RELATIONS(left)))) {
        const relation = String(name)
        if (isPaused(`${what} ${relation}`)) continue
        return what === 'analyze'
          ? perform('analyze', relation, () => analyze(query, relation))
          : perform('vacuum', relation, () =>
              query(`vacuum (freeze, process_toast false, buffer_usage_limit '8MB') ${relation}`),
            )
      }
      return null
    },
    async condition(query: UpkeepQuery): Promise<DatabaseCondition> {
      const [row] = await query(CONDITION(RELATIONS(left)))
      return {
        transactionAge: Number(row?.age),
        deadRows: Number(row?.dead),
        logBytes: Number(row?.log),
        longestWorkMs: Math.round(longestWorkMs),
      }
    },
    /** At each start: what the close before it left, nothing after a crash. */
    start: (found: UpkeepCounters[]) => {
      left = found
    },
    /** Returns the counters that the next start needs, right before a clean close. */
    counters: (query: UpkeepQuery) => countersOf(query, left),
  }
}
