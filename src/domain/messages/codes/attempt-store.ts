/**
 * Counts wrong codes in logged tables of PostgreSQL in every shape, so that neither a flush of Redis nor a restart reopens what
 * they closed. The counts are by the day, in UTC, and in a row. The tables are `code_budgets` (one row for each
 * subject, purpose with group, and day) and `code_failures` (one for each subject, group and factor).
 */

import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../../platform/postgres/database.ts'
import { accounts, codeBudgets, codeFailures } from '../../../platform/postgres/schema.ts'
import {
  defineStatement,
  type Placeholders,
  type RowOf,
  type ValuesOf,
} from '../../../platform/postgres/statement.ts'
import { createSweep } from '../../../platform/postgres/sweep.ts'
import type { CallerGroup } from '../../foundation/limits/callers.ts'

/** So many wrong ones in a row are compared, then one a day. */
export const IN_A_ROW = 100

/** The number of tries that all addresses together have at one account in a day, in days of a single address. */
export const ADDRESSES = 3

/** So many closed ones are listed. */
const MOST_CLOSED = 1000

/** One counted thing: a budget of the day, and a count in a row that goes with it. */
export interface AttemptKey {
  /** The account's uuid, or what is counted like one. */
  subject: string
  /**
   * The purpose. Callers who pay apart have a slash and their group, their device or their address behind it. So
   * everything counted for a purpose of an account can be found and cleared.
   */
  budget: string
  group: CallerGroup
  /** The name under which tries in a row are counted; where each address counts apart, then a slash and the address. */
  factor: string
}

/** The keys are in the order of the subjects, so that two callers never wait for each other in a circle. */
const keysOf = (keys: ReturnType<typeof sql>) => sql`
  keys as materialized (
    select * from jsonb_to_recordset(${keys}::jsonb)
      as key (place int, subject uuid, budget text, "group" text, factor text)
     order by subject)`

/** A key that the day's budget refuses is not counted in a row: it is not compared with anything. */
const reserve = defineStatement({
  name: 'attempts.reserve',
  params: { keys: 'text', perDay: 'int', inARow: 'int', day: 'date' },
  /** The attempt is within the budget of the day, and within the bound in a row. */
  row: { isOpen: 'boolean' },
  mayBeForgotten: true,
  sql: (p, unawaited) => sql`
  with ${unawaited}, ${keysOf(p.keys)},
  counted as (
    insert into ${codeBudgets} as budget (subject, purpose, day, wrong)
    select subject, budget, ${p.day}, 1 from keys, unawaited
     where ${p.perDay} > 0 and unawaited.off is not null order by subject
    on conflict (subject, purpose, day) do update set wrong = budget.wrong + 1 where budget.wrong < ${p.perDay}
    returning subject, purpose),
  in_a_row as (
    insert into ${codeFailures} as failures (subject, caller_group, factor, in_a_row, last_day)
    select keys.subject, "group", factor, 1, ${p.day}
      from keys join counted on counted.subject = keys.subject and counted.purpose = budget
     order by keys.subject
    on conflict (subject, caller_group, factor) do update
       set in_a_row = failures.in_a_row + 1, last_day = ${p.day}
     where failures.in_a_row < ${p.inARow} or failures.last_day < ${p.day}
    returning subject, caller_group, factor)
  select in_a_row.subject is not null as is_open
    from keys
    left join in_a_row on in_a_row.subject = keys.subject and in_a_row.caller_group = "group"
                      and in_a_row.factor = keys.factor
   order by place`,
})

export type CountedKey = RowOf<typeof reserve>

/**
 * PostgreSQL takes a table of counters for empty if it has no statistics yet. It would read all of it, or all of a day,
 * to find the rows of a few keys, and the deleted rows with them. So the subjects are named as well, and the day (`day
 * + 0`) is no condition of an index.
 */
const subjects = sql`array(select subject from keys)`

/**
 * After too many in a row, the one try of a day that is given back is there again on that day. Sweeps may take a row a day
 * sooner by that.
 *
 * Locks the budgets first, as `reserve` does: PostgreSQL alone would begin with the last part of the statement. `select`
 * keeps `wasRight` from the planner, which would plan anew at each call: a constant makes half of the statement free.
 */
const release = defineStatement({
  name: 'attempts.release',
  params: { keys: 'text', wasRight: 'boolean', day: 'date' },
  mayBeForgotten: true,
  sql: (p, unawaited) => sql`
  with ${unawaited}, ${keysOf(p.keys)},
  locked as materialized (
    select spent.subject, spent.purpose from keys join ${codeBudgets} spent
        on spent.subject = keys.subject and spent.purpose = keys.budget and spent.day + 0 = ${p.day}
     where spent.subject = any (${subjects})
     order by keys.subject
       for update of spent),
  budgets_first as materialized (select count(*) as locks from locked),
  given_back as (
    update ${codeBudgets} as budget set wrong = wrong - 1 from locked, unawaited
     where budget.subject = any (${subjects})
       and budget.subject = locked.subject and budget.purpose = locked.purpose and budget.day + 0 = ${p.day}
       and wrong > 0 and unawaited.off is not null),
  lowered as (
    update ${codeFailures} as failures
       set in_a_row = in_a_row - 1, last_day = case when last_day = ${p.day} then last_day - 1 else last_day end
      from keys, budgets_first
     where failures.subject = any (${subjects})
       and locks >= 0 and failures.subject = keys.subject and caller_group = "group" and failures.factor = keys.factor
       and not (select ${p.wasRight}) and in_a_row > 0)
  delete from ${codeFailures} as failures using keys, budgets_first
   where failures.subject = any (${subjects})
     and locks >= 0 and failures.subject = keys.subject and caller_group = "group" and failures.factor = keys.factor
     and (select ${p.wasRight})`,
})

/** The message says nothing; only a transaction that wrote something waits for the disk. */
const makeLast = defineStatement({
  name: 'attempts.make_last',
  sql: () => sql`select pg_logical_emit_message(true, 'poterne', '')`,
})

const clearDay = defineStatement({
  name: 'attempts.clear_day',
  params: { subject: 'uuid', purposes: 'text', day: 'date' },
  sql: (p) => sql`
  delete from ${codeBudgets}
   where subject = ${p.subject} and day = ${p.day}
     and split_part(purpose, '/', 1) in (select jsonb_array_elements_text(${p.purposes}::jsonb))
     and split_part(purpose, '/', 2) <> 'device'`,
})

const rowKey = { subject: 'uuid', group: 'text', factor: 'text' } as const

const addInARow = defineStatement({
  name: 'attempts.add_in_a_row',
  params: { ...rowKey, day: 'date' },
  row: { inARow: 'int' },
  sql: (p) => sql`
  insert into ${codeFailures} as failures (subject, caller_group, factor, in_a_row, last_day)
  values (${p.subject}, ${p.group}, ${p.factor}, 1, ${p.day})
  on conflict (subject, caller_group, factor) do update
     set in_a_row = failures.in_a_row + 1, last_day = excluded.last_day
  returning in_a_row`,
})

const clearInARow = defineStatement({
  name: 'attempts.clear_in_a_row',
  params: rowKey,
  sql: (p) => sql`
  delete from ${codeFailures}
   where subject = ${p.subject} and caller_group = ${p.group} and factor = ${p.factor}`,
})

const forget = defineStatement({
  name: 'attempts.forget',
  params: { subjects: 'text' },
  sql: (p) => sql`
  with subjects as (select value::uuid as subject from jsonb_array_elements_text(${p.subjects}::jsonb)),
  budgets as (delete from ${codeBudgets} where subject in (select subject from subjects))
  delete from ${codeFailures} where subject in (select subject from subjects)`,
})

/** What refuses the rest of the day. All addresses together have a greater budget. */
const closedWhere = (p: Placeholders<'day' | 'perDay' | 'inARow'>, of: SQL) => sql`
  select distinct subject from (
    select subject from ${codeBudgets}
     where day = ${p.day} and ${of}
       and wrong >= ${p.perDay} * case when purpose like '%/addresses' then ${sql.raw(String(ADDRESSES))} else 1 end
    union all
    select subject from ${codeFailures} where last_day = ${p.day} and in_a_row >= ${p.inARow} and ${of}) closed
   limit ${sql.raw(String(MOST_CLOSED))}`

const closedParams = { day: 'date', perDay: 'int', inARow: 'int' } as const

const closed = defineStatement({
  name: 'attempts.closed',
  params: closedParams,
  row: { subject: 'uuid' },
  sql: (p) => closedWhere(p, sql`true`),
})

const closedOf = defineStatement({
  name: 'attempts.closed_of',
  params: { subjects: 'text', ...closedParams },
  row: { subject: 'uuid' },
  sql: (p) =>
    closedWhere(p, sql`subject = any (array(select jsonb_array_elements_text(${p.subjects}::jsonb)::uuid))`),
})

const sweepBudgets = createSweep({
  name: 'attempts.sweep_budgets',
  table: codeBudgets,
  key: sql`subject, purpose, day`,
  params: { day: 'date' },
  where: (p) => sql`day < ${p.day} - 1`,
  order: sql`day`,
})

/** A decoy has a uuid of version 8; so may an account that was imported. */
const sweepStrangers = createSweep({
  name: 'attempts.sweep_strangers',
  table: codeFailures,
  key: sql`subject, caller_group, factor`,
  params: { day: 'date' },
  where: (p) => sql`
    last_day < ${p.day} - 1 and caller_group = 'stranger' and in_a_row < ${sql.raw(String(IN_A_ROW))}
     and (split_part(factor, '/', 2) = 'address'
          or (substr(subject::text, 15, 1) = '8'
              and not exists (select 1 from ${accounts} where uuid = subject)))`,
  order: sql`last_day`,
})

const sweepFailures = createSweep({
  name: 'attempts.sweep_failures',
  table: codeFailures,
  key: sql`subject, caller_group, factor`,
  params: { day: 'date' },
  where: (p) => sql`last_day < ${p.day} - 90`,
  order: sql`last_day`,
})

export type AttemptStore = ReturnType<typeof createAttemptStore>

export function createAttemptStore(database: Database) {
  const textOf = (keys: AttemptKey[]) => JSON.stringify(keys.map((key, place) => ({ ...key, place })))
  return {
    /**
     * Counts one attempt on each key, in one step, each on its own; a key that is not open is not counted further.
     * `inARow`: so many wrong ones, then one a day. A crash may forget it, until `makeLast`.
     */
    reserve: (keys: AttemptKey[], bounds: { perDay: number; inARow: number }, now: Date) =>
      database.all(reserve, { ...bounds, keys: textOf(keys), day: dayOf(now) }),
    /** Waits until what was counted before is on the disk: before somebody hears that a code was wrong. */
    makeLast: (): Promise<void> => database.run(makeLast, {}),
    /**
     * Takes the counting back; `now` as `reserve` had it, which names the day. `wasRight` also ends the count in a row.
     * It does not wait for the disk: a crash that forgets it alone leaves an attempt less, never one more.
     */
    release: (keys: AttemptKey[], wasRight: boolean, now: Date): Promise<void> =>
      database.run(release, { keys: textOf(keys), wasRight, day: dayOf(now) }),
    /** Forgets the day's budgets of these purposes of an account, those of its devices aside; the counts in a row stay. */
    clearDay: (subject: string, purposes: string[], now: Date): Promise<void> =>
      database.run(clearDay, { subject, purposes: JSON.stringify(purposes), day: dayOf(now) }),
    /** Returns those of these subjects, or with null of everybody, at which no more codes are compared today. */
    async listClosed(
      subjects: string[] | null,
      { perDay }: { perDay: number },
      now: Date,
    ): Promise<string[]> {
      const params = { day: dayOf(now), perDay, inARow: IN_A_ROW }
      const rows = await (subjects === null
        ? database.all(closed, params)
        : database.all(closedOf, { subjects: JSON.stringify(subjects), ...params }))
      return rows.map(({ subject }) => subject)
    },
    /** Forgets everything that was counted on these subjects. */
    forget: (subjects: string[]) => database.run(forget, { subjects: JSON.stringify(subjects) }),
    /** Counts another wrong one in a row, where no budget of a day bounds them, and returns how many there are. */
    addInARow: async (key: ValuesOf<typeof rowKey>, now: Date): Promise<number> =>
      (await database.first(addInARow, { ...key, day: dayOf(now) }))!.inARow,
    clearInARow: (key: ValuesOf<typeof rowKey>): Promise<void> => database.run(clearInARow, key),
    /**
     * Removes up to `limit` budgets older than yesterday's (the clock may be set back), and counts in a row that nobody
     * added to in 90 days; how many it removed. Rows that strangers began without an account, or from one address, go as
     * soon as the budgets, unless they hold enough to refuse. Anybody can begin any number of such rows.
     */
    async sweep(now: Date, limit: number): Promise<number> {
      const day = dayOf(now)
      let removed = 0
      for (const sweep of [sweepBudgets, sweepStrangers, sweepFailures])
        if (removed < limit) removed += await sweep(database, { day, limit: limit - removed })
      return removed
    },
  }
}

/** `2026-07-01`, in UTC. */
function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}
