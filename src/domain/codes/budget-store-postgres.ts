/**
 * The day's budget of wrong codes: table `code_budgets`, logged, one row for each subject, purpose and day (UTC), until
 * swept two days later. One statement a method.
 */
import { sql } from 'drizzle-orm'
import { type Database, param, statement, unawaited } from '../../platform/postgres/database.ts'
import { codeBudgets } from '../../platform/postgres/schema.ts'
import { createSweep } from '../../platform/postgres/sweep.ts'
import type { CodeBudgetStore } from './store.ts'

type DayParams = { subject: string; purpose: string; day: string }

const day = param('day', 'date')

/** A row comes back only where a try was counted. */
const reserve = statement<DayParams & { perDay: number }, { wrong: number }>(sql`
  insert into ${codeBudgets} as budget (subject, purpose, day, wrong)
  select ${param('subject', 'uuid')}, ${param('purpose', 'text')}, ${day}, 1
   where ${param('perDay', 'int')} > 0
  on conflict (subject, purpose, day) do update
     set wrong = budget.wrong + 1
   where budget.wrong < ${param('perDay', 'int')}
  returning wrong`)

type TwoParams = { subject: string; other: string; purpose: string; day: string }

/** In the order of the subjects, so that two callers never wait for each other in a circle. */
const reserveTwo = statement<TwoParams & { perDay: number }, { subject: string }>(sql`
  insert into ${codeBudgets} as budget (subject, purpose, day, wrong)
  select subject, ${param('purpose', 'text')}, ${day}, 1
    from (values (${param('subject', 'uuid')}), (${param('other', 'uuid')})) as tried(subject)
   where ${param('perDay', 'int')} > 0
   order by subject
  on conflict (subject, purpose, day) do update
     set wrong = budget.wrong + 1
   where budget.wrong < ${param('perDay', 'int')}
  returning subject`)

/** Giving back does not wait for the disk: a crash that forgets it leaves a try less, never one more. */
const releaseTwo = statement<TwoParams>(sql`
  with ${unawaited},
  locked as materialized (
    select subject, purpose, day from ${codeBudgets}
     where subject in (${param('subject', 'uuid')}, ${param('other', 'uuid')})
       and purpose = ${param('purpose', 'text')} and day = ${day}
     order by subject
       for update)
  update ${codeBudgets} as budget set wrong = wrong - 1 from locked, unawaited
   where budget.subject = locked.subject and budget.purpose = locked.purpose and budget.day = locked.day
     and wrong > 0 and unawaited.off is not null`)

const release = statement<DayParams>(sql`
  with ${unawaited}
  update ${codeBudgets} set wrong = wrong - 1 from unawaited
   where unawaited.off is not null and subject = ${param('subject', 'uuid')}
     and purpose = ${param('purpose', 'text')} and day = ${day} and wrong > 0`)

const sweep = createSweep<{ day: string }>({
  table: codeBudgets,
  key: sql`subject, purpose, day`,
  where: sql`day < ${day} - 1`,
  order: sql`day`,
})

export function createCodeBudgetStore(database: Database): CodeBudgetStore {
  return {
    reserve: async (key, perDay, now) =>
      (await database.first(reserve, { ...key, day: dayOf(now), perDay })) !== null,
    async reserveTwo([key, { subject: other }], perDay, now) {
      const rows = await database.all(reserveTwo, { ...key, other, day: dayOf(now), perDay })
      const counted = rows.map(({ subject }) => subject)
      return [counted.includes(key.subject), counted.includes(other)]
    },
    async releaseTwo([key, { subject: other }], now) {
      await database.all(releaseTwo, { ...key, other, day: dayOf(now) })
    },
    release: async (key, now) => {
      await database.all(release, { ...key, day: dayOf(now) })
    },
    sweep: (now, limit) => sweep(database, { day: dayOf(now), limit }),
  }
}

/** `2026-07-01`, in UTC. */
function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10)
}
